//! The file tools of Rootbound, as a WebAssembly component.
//!
//! The component exports `rootbound:tools/provider` and imports nothing but WASI's files and
//! streams. It is not trusted: paths go to WASI exactly as the caller gave them, and the host
//! judges every call. Each tool is one file below `tools/`.
//!
//! The crate also builds natively, where every WASI call is unreachable, so that all that
//! does not touch files is tested by a plain `cargo test`.

mod arguments;
mod bindings;
mod editing;
mod files;
mod magic;
mod ooxml;
pub mod provider;
mod reading;
mod rows;
mod search;
mod template;
mod text;
pub mod tool;
mod tools;
mod walk;
