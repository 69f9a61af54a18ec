//! `move_file`: a file or a directory under another name.

use super::create_file::exists;
use super::schema;
use crate::files::{ErrorCode, Roots, rename};
use crate::tool::{Error, Output, PathArgument, Risk, Role, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

/// The tool.
pub(crate) struct MoveFile;

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

impl Tool for MoveFile {
    type Arguments = Arguments;

    const NAME: &'static str = "move_file";
    const TITLE: &'static str = "Move or rename";
    const DESCRIPTION: &'static str = "Moves or renames a file or directory, making the \
        directories of `to` as needed. A taken name is refused (`exists`); a file there is \
        replaced with `overwrite: true` if the user's policy allows it. The policy may refuse \
        or ask first, as for deletions.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[
        PathArgument {
            pointer: "from",
            role: Role::MoveFrom,
            guarded: true,
        },
        PathArgument {
            pointer: "to",
            role: Role::MoveTo,
            guarded: false,
        },
    ];

    fn input_schema() -> Value {
        schema::arguments(
            schema::guarded(json!({
                "from": schema::path("File or directory to move"),
                "to": schema::path("Its new path, name included"),
                "overwrite": schema::overwrite(),
            })),
            &["from", "to"],
            json!({ "from": "draft.md", "to": "archive/draft.md" }),
        )
    }

    fn output_schema() -> Value {
        schema::fields(json!({
            "from": schema::of("string"),
            "to": schema::of("string"),
            "moved": schema::of("boolean"),
        }))
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let Arguments {
            from,
            to,
            overwrite,
            ..
        } = arguments;
        let roots = Roots::preopened();
        match rename(roots.writable()?, &from, &to, overwrite) {
            Err(ErrorCode::Exist) if !overwrite => Err(exists(&to).into()),
            answer => {
                answer?;
                Ok(Output::fields(
                    &json!({ "from": from, "to": to, "moved": true }),
                ))
            }
        }
    }
}
