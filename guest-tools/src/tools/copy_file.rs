//! `copy_file`: the bytes of a file under another name.

use super::create_file::exists;
use super::schema;
use crate::files::{Roots, copy};
use crate::tool::{Error, Output, PathArgument, Risk, Role, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

/// The tool.
pub(crate) struct CopyFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    from: String,
    to: String,
    #[serde(default)]
    overwrite: bool,
    #[expect(dead_code, reason = "the host reads and judges it")]
    expected_version: Option<String>,
    #[expect(dead_code, reason = "the host reads and judges it")]
    expected_sha256: Option<String>,
}

impl Tool for CopyFile {
    type Arguments = Arguments;

    const NAME: &'static str = "copy_file";
    const TITLE: &'static str = "Copy a file";
    const DESCRIPTION: &'static str = "Copies one file of any kind, making directories as \
        needed. An existing file at `to` is refused (`exists`) unless `overwrite: true` is \
        given and the user's policy allows it.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[
        PathArgument {
            pointer: "from",
            role: Role::Read,
            guarded: false,
        },
        PathArgument {
            pointer: "to",
            role: Role::Create,
            guarded: true,
        },
    ];

    fn input_schema() -> Value {
        schema::arguments(
            schema::guarded(json!({
                "from": schema::path("File to copy"),
                "to": schema::path("Name of the copy"),
                "overwrite": schema::overwrite(),
            })),
            &["from", "to"],
            json!({ "from": "templates/letter.md", "to": "letters/ada.md" }),
        )
    }

    fn output_schema() -> Value {
        schema::fields(json!({
            "from": schema::of("string"),
            "root": schema::of("string"),
            "to": schema::of("string"),
            "bytes_written": schema::of("integer"),
            "created": schema::of("boolean"),
        }))
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let Arguments {
            from,
            to,
            overwrite,
            ..
        } = arguments;
        let copied = copy(&Roots::preopened(), &from, &to, overwrite, exists)?;
        Ok(Output::fields(&json!({
            "from": from,
            "root": copied.root,
            "to": to,
            "bytes_written": copied.bytes,
            "created": copied.created,
        })))
    }
}
