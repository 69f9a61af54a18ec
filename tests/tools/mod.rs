//! What each tool does on real files, and how it refuses.

mod arguments;
mod creating;
mod examples;
mod listing;
mod lookup;
mod presentation;
mod reading;
mod template;
