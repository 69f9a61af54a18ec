//! `write_file`: a text file with the given content, new or replaced.

use super::shared::{Text, Written};
use crate::files::{Roots, put};
use crate::tool::{Error, Output, PathArgument, Risk, Tool};

/// The tool.
pub(crate) struct WriteFile;

impl Tool for WriteFile {
    type Arguments = Text;
    type Fields = Written;

    const NAME: &'static str = "write_file";
    const TITLE: &'static str = "Write a file";
    const DESCRIPTION: &'static str = "Writes a text file, making its directories as needed. An \
        existing file is replaced if the user's policy allows it, else refused \
        (`overwrite-denied`); use `create_file` when the file must be new.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[PathArgument::write("path").guarded()];
    const EXAMPLE: &'static str = r#"{"path":"out/summary.txt","content":"Done.\n"}"#;

    fn run(text: Text) -> Result<Output<Written>, Error> {
        let Text { path, content } = text;
        let roots = Roots::preopened();
        let created = put(roots.writable()?, &path, content.as_bytes(), true)?;
        Ok(Output::new(Written {
            path,
            bytes_written: content.len() as u64,
            created,
        }))
    }
}
