//! `append_file`: text at the end of a file.

use super::shared::Written;
use crate::editing::{Encoded, choice};
use crate::files::{Roots, append};
use crate::tool::{Error, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

/// The tool.
pub(crate) struct AppendFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    content: String,
    encoding: Option<String>,
    default_encoding: Option<String>,
}

impl Tool for AppendFile {
    type Arguments = Arguments;
    type Fields = Written;

    const NAME: &'static str = "append_file";
    const TITLE: &'static str = "Append to a file";
    const DESCRIPTION: &'static str = "Adds text at the end of a file, exactly as given: no line \
        break is added. A file that does not exist is made, with its directories.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[PathArgument::write("path").guarded()];
    const EXAMPLE: &'static str = r#"{"path":"logs/decisions.md","content":"- Keep it.\n"}"#;

    fn run(arguments: Arguments) -> Result<Output<Written>, Error> {
        let Arguments {
            path,
            content,
            encoding,
            default_encoding,
        } = arguments;
        let choice = choice(encoding.as_deref(), default_encoding.as_deref())?;
        let roots = Roots::preopened();
        let (created, bytes) = append(roots.writable()?, &path, |ends| {
            Encoded::added_to(&path, &ends(), content, choice)
        })?;
        Ok(Output::new(Written {
            path,
            bytes_written: bytes as u64,
            created,
        }))
    }
}
