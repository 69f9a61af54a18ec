//! The file tools of Rootbound, as a WebAssembly component.
//!
//! The component exports `rootbound:tools/provider`, and `rootbound:tools/files` for other hosts,
//! and imports nothing but WASI's files and streams. It is not trusted: paths go to WASI exactly
//! as the caller gave them, and the host judges every call. Each tool is one file below `tools/`; what a tool is, and how it reaches
//! files, is the crate `rootbound-tool`.
//!
//! The crate also builds natively, where every WASI call is unreachable, so that all that
//! does not touch files is tested by a plain `cargo test`.

mod editing;
#[cfg(target_family = "wasm")]
mod heap;
mod magic;
mod ooxml;
mod reading;
mod rows;
mod search;
mod template;
mod text;
mod tools;
mod typed;
mod walk;

use rootbound_tool as tool;
use rootbound_tool::files;
