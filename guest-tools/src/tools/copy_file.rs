//! `copy_file`: the bytes of a file under another name.

use super::shared::{FromTo, taken};
use crate::files::{Roots, copy};
use crate::tool::{Error, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::Serialize;

/// The tool.
pub(crate) struct CopyFile;

/// A copy.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    from: String,
    root: String,
    to: String,
    bytes_written: u64,
    /// False when an existing file was replaced.
    created: bool,
}

impl Tool for CopyFile {
    type Arguments = FromTo;
    type Fields = Fields;

    const NAME: &'static str = "copy_file";
    const TITLE: &'static str = "Copy a file";
    const DESCRIPTION: &'static str = "Copies one file, making directories as needed. \
        An existing file at `to` is refused (`exists`) unless `overwrite: true` is given and the \
        user's policy allows it.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[
        PathArgument::read("from"),
        PathArgument::create("to").guarded(),
    ];
    const EXAMPLE: &'static str = r#"{"from":"templates/letter.md","to":"letters/ada.md"}"#;

    fn run(arguments: FromTo) -> Result<Output<Fields>, Error> {
        let FromTo {
            from,
            to,
            overwrite,
        } = arguments;
        let overwrite = overwrite.unwrap_or(false);
        let copied = copy(&Roots::preopened(), &from, &to, overwrite, |to| {
            taken(&from, to)
        })?;
        Ok(Output::new(Fields {
            from,
            root: copied.root,
            to,
            bytes_written: copied.bytes,
            created: copied.created,
        }))
    }
}
