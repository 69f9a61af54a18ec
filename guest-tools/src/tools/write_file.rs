//! `write_file`: a text file with the given content, new or replaced.

use super::schema;
use crate::files::{ErrorCode, Roots, create_new, replace_existing, write_all};
use crate::tool::{Error, Output, PathArgument, Risk, Role, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The tool.
pub(crate) struct WriteFile;

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

/// What `write_file` and `create_file` answer.
#[derive(Serialize)]
pub(super) struct Written<'a> {
    pub(super) path: &'a str,
    pub(super) bytes_written: u64,
    /// False when an existing file was replaced.
    pub(super) created: bool,
}

impl Tool for WriteFile {
    type Arguments = Arguments;

    const NAME: &'static str = "write_file";
    const TITLE: &'static str = "Write a file";
    const DESCRIPTION: &'static str = "Writes a text file, making its directories as needed. An \
        existing file is replaced if the user's policy allows it, else refused \
        (`overwrite-denied`); use `create_file` when the file must be new.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "path",
        role: Role::Write,
        guarded: true,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            schema::guarded(json!({
                "path": schema::path("File to write"),
                "content": { "type": "string", "description": "The whole new content" },
            })),
            &["path", "content"],
            json!({ "path": "out/summary.txt", "content": "Done.\n" }),
        )
    }

    fn output_schema() -> Value {
        written_schema()
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let Arguments { path, content, .. } = arguments;
        let roots = Roots::preopened();
        let root = roots.writable()?;
        let (file, created) = match create_new(root, &path) {
            Err(ErrorCode::Exist) => (replace_existing(root, &path)?, false),
            answer => (answer?, true),
        };
        write_all(&file, content.as_bytes())?;
        Ok(Output::fields(&Written {
            path: &path,
            bytes_written: content.len() as u64,
            created,
        }))
    }
}

pub(super) fn written_schema() -> Value {
    schema::fields(json!({
        "path": schema::of("string"),
        "bytes_written": schema::of("integer"),
        "created": { "type": "boolean", "description": "false when an existing file was replaced" },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_says_what_was_written() {
        let written = Written {
            path: "a",
            bytes_written: 2,
            created: true,
        };
        assert_eq!(
            Output::fields(&written).fields,
            r#"{"path":"a","bytes_written":2,"created":true}"#
        );
    }
}
