//! `append_file`: text at the end of a file.

use super::schema;
use super::write_file::{Written, written_schema};
use crate::editing::Encoded;
use crate::files::{Roots, append};
use crate::tool::{Error, Output, PathArgument, Risk, Role, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

/// The tool.
pub(crate) struct AppendFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    content: String,
    #[expect(dead_code, reason = "the host reads and judges it")]
    expected_version: Option<String>,
    #[expect(dead_code, reason = "the host reads and judges it")]
    expected_sha256: Option<String>,
}

impl Tool for AppendFile {
    type Arguments = Arguments;

    const NAME: &'static str = "append_file";
    const TITLE: &'static str = "Append to a file";
    const DESCRIPTION: &'static str = "Adds text at the end of a file, exactly as given: no line \
        break is added. A file that does not exist is made, with its directories.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "path",
        role: Role::Write,
        guarded: true,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            schema::guarded(json!({
                "path": schema::path("File to append to"),
                "content": { "type": "string", "description": "What to add" },
            })),
            &["path", "content"],
            json!({ "path": "logs/decisions.md", "content": "- Keep it.\n" }),
        )
    }

    fn output_schema() -> Value {
        written_schema()
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let Arguments { path, content, .. } = arguments;
        let roots = Roots::preopened();
        let (created, bytes) = append(roots.writable()?, &path, |beginning| {
            Encoded::in_encoding_of(beginning, content)
        })?;
        Ok(Output::fields(&Written {
            path: &path,
            bytes_written: bytes as u64,
            created,
        }))
    }
}
