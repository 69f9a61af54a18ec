//! `create_file`: a new text file; replacing one takes an explicit word.

use super::schema;
use super::write_file::{Written, written_schema};
use crate::files::{Descriptor, ErrorCode, Roots, create_new, replace_existing, write_all};
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Role, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

/// The tool.
pub(crate) struct CreateFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    file_path: String,
    content: String,
    overwrite: Option<bool>,
    #[expect(dead_code, reason = "the host reads and judges it")]
    expected_version: Option<String>,
    #[expect(dead_code, reason = "the host reads and judges it")]
    expected_sha256: Option<String>,
}

impl Tool for CreateFile {
    type Arguments = Arguments;

    const NAME: &'static str = "create_file";
    const TITLE: &'static str = "Create a file";
    const DESCRIPTION: &'static str = "Creates a new text file, making its directories as \
        needed. An existing file is refused (`exists`) unless `overwrite: true` is given and \
        the user's policy allows it.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "file_path",
        role: Role::Create,
        guarded: true,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            schema::guarded(json!({
                "file_path": schema::path("File to create"),
                "content": { "type": "string", "description": "The whole content" },
                "overwrite": schema::overwrite(),
            })),
            &["file_path", "content"],
            json!({ "file_path": "notes/new.md", "content": "# Notes\n", "overwrite": false }),
        )
    }

    fn output_schema() -> Value {
        written_schema()
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let Arguments {
            file_path: path,
            content,
            overwrite,
            ..
        } = arguments;
        let roots = Roots::preopened();
        let root = roots.writable()?;
        let (file, created) = open(root, &path, overwrite.unwrap_or(false))?;
        write_all(&file, content.as_bytes())?;
        Ok(Output::fields(&Written {
            path: &path,
            bytes_written: content.len() as u64,
            created,
        }))
    }
}

fn open(root: &Descriptor, path: &str, overwrite: bool) -> Result<(Descriptor, bool), Error> {
    match create_new(root, path) {
        Err(ErrorCode::Exist) if overwrite => Ok((replace_existing(root, path)?, false)),
        Err(ErrorCode::Exist) => Err(exists(path).into()),
        answer => Ok((answer?, true)),
    }
}

pub(super) fn exists(path: &str) -> Failure {
    Failure::new("exists", format!("`{path}` exists already"))
        .hint("choose another name, or give `overwrite: true` to replace it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_file_is_refused_with_the_way_to_replace_it() {
        let failure = exists("a.txt");
        assert_eq!(failure.code, "exists");
        assert_eq!(failure.message, "`a.txt` exists already");
        assert!(failure.hint.contains("`overwrite: true`"));
    }
}
