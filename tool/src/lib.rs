#![doc = include_str!("../README.md")]

mod arguments;
#[doc(hidden)]
pub mod bindings;
mod check;
mod failure;
pub mod files;
#[cfg(target_arch = "wasm32")]
mod memory;
mod output;
mod provider;
mod schema;
mod tool;
mod within;
mod words;

pub use arguments::NoArguments;
pub use check::check;
pub use failure::{Error, Failure};
pub use output::{Content, Output};
pub use provider::{Definition, Registered};
#[doc(hidden)]
pub use provider::{call_tool, list_tools};
pub use tool::{PathArgument, Risk, Role, Tool};
pub use within::Within;
pub use words::{nearest, quoted};

/// WASI's files and streams as they are imported, for tools that need more than [`files`].
#[doc(inline)]
pub use bindings::wasi;

/// The crates whose traits the structs of a tool derive.
pub use {schemars, serde, serde_json};
