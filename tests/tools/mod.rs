//! What each tool does on real files, and how it refuses.

mod arguments;
mod creating;
mod encodings;
mod examples;
mod finding;
mod info;
mod listing;
mod lookup;
mod many;
mod media;
mod presentation;
mod reading;
mod searching;
mod template;
mod windows;
