//! `create_file`: a new text file; replacing one takes an explicit word.

use super::shared::{Written, exists};
use crate::files::{ErrorCode, Roots, put};
use crate::tool::{Error, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

/// The tool.
pub(crate) struct CreateFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    file_path: String,
    content: String,
    overwrite: Option<bool>,
}

impl Tool for CreateFile {
    type Arguments = Arguments;
    type Fields = Written;

    const NAME: &'static str = "create_file";
    const TITLE: &'static str = "Create a file";
    const DESCRIPTION: &'static str = "Creates a new text file, making its directories as \
        needed. An existing file is refused (`exists`) unless `overwrite: true` is given and \
        the user's policy allows it.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[PathArgument::create("file_path").guarded()];
    const EXAMPLE: &'static str = r##"{"file_path":"notes/new.md","content":"# Notes\n"}"##;

    fn run(arguments: Arguments) -> Result<Output<Written>, Error> {
        let Arguments {
            file_path: path,
            content,
            overwrite,
        } = arguments;
        let created = write(&path, content.as_bytes(), overwrite.unwrap_or(false))?;
        Ok(Output::new(Written {
            created,
            bytes_written: content.len() as u64,
            path,
        }))
    }
}

/// Writes a file below the write root. True when it is new.
///
/// # Errors
/// `exists` unless it may be replaced; else the host's.
pub(crate) fn write(path: &str, content: &[u8], overwrite: bool) -> Result<bool, Error> {
    let roots = Roots::preopened();
    match put(roots.writable()?, path, content, overwrite) {
        Err(ErrorCode::Exist) if !overwrite => Err(exists(path).into()),
        created => Ok(created?),
    }
}
