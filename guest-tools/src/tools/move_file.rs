//! `move_file`: a file or a directory under another name.

use super::shared::{FromTo, taken};
use crate::files::{self, Roots};
use crate::tool::{Error, Output, PathArgument, Risk, Role, Tool};
use schemars::JsonSchema;
use serde::Serialize;

/// The tool.
pub(crate) struct MoveFile;

/// What was moved.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    from: String,
    to: String,
    moved: bool,
}

impl Tool for MoveFile {
    type Arguments = FromTo;
    type Fields = Fields;

    const NAME: &'static str = "move_file";
    const TITLE: &'static str = "Move or rename";
    const DESCRIPTION: &'static str = "Moves or renames a file or directory, making directories \
        as needed. A taken name is refused (`exists`), but for a file with `overwrite: true`.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[
        PathArgument::new("from", Role::MoveFrom).guarded(),
        PathArgument::new("to", Role::MoveTo),
    ];
    const EXAMPLE: &'static str = r#"{"from":"draft.md","to":"archive/draft.md"}"#;

    fn run(arguments: FromTo) -> Result<Output<Fields>, Error> {
        let FromTo {
            from,
            to,
            overwrite,
        } = arguments;
        rename(&from, &to, overwrite.unwrap_or(false))?;
        let moved = true;
        Ok(Output::new(Fields { from, to, moved }))
    }
}

/// Gives an object below the write root another name.
///
/// # Errors
/// `exists` unless the name may be taken over; else the host's.
pub(crate) fn rename(from: &str, to: &str, overwrite: bool) -> Result<(), Error> {
    let roots = Roots::preopened();
    files::rename(roots.writable()?, from, to, overwrite, |to| taken(from, to))
}
