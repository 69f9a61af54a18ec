//! What each tool does on real files, and how it refuses.

mod arguments;
mod creating;
mod editing;
mod encodings;
mod examples;
mod finding;
mod hints;
mod info;
mod limits;
mod listing;
mod lookup;
mod many;
mod media;
mod moving;
mod nearby;
mod patching;
mod reading;
mod searching;
mod single;
mod template;
mod windows;
