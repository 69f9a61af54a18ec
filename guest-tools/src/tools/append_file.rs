//! `append_file`: text at the end of a file.

use super::shared::{Text, Written};
use crate::editing::Encoded;
use crate::files::{Roots, append};
use crate::tool::{Error, Output, PathArgument, Risk, Tool};

/// The tool.
pub(crate) struct AppendFile;

impl Tool for AppendFile {
    type Arguments = Text;
    type Fields = Written;

    const NAME: &'static str = "append_file";
    const TITLE: &'static str = "Append to a file";
    const DESCRIPTION: &'static str = "Adds text at the end of a file, exactly as given: no line \
        break is added. A file that does not exist is made, with its directories.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[PathArgument::write("path").guarded()];
    const EXAMPLE: &'static str = r#"{"path":"logs/decisions.md","content":"- Keep it.\n"}"#;

    fn run(text: Text) -> Result<Output<Written>, Error> {
        let Text { path, content } = text;
        let roots = Roots::preopened();
        let (created, bytes) = append(roots.writable()?, &path, |ends| {
            Encoded::added_to(&path, &ends(), content)
        })?;
        Ok(Output::new(Written {
            path,
            bytes_written: bytes as u64,
            created,
        }))
    }
}
