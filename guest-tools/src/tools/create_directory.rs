//! `create_directory`: a new directory.

use super::schema;
use crate::files::{ErrorCode, Roots, create_directory};
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Role, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

/// The tool.
pub(crate) struct CreateDirectory;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    dir_path: String,
}

impl Tool for CreateDirectory {
    type Arguments = Arguments;

    const NAME: &'static str = "create_directory";
    const TITLE: &'static str = "Create a directory";
    const DESCRIPTION: &'static str = "Creates a directory and the directories above it as \
        needed. A path that exists is refused (`exists`). Not needed before writing a file, \
        which makes its directories itself.";
    const RISK: Risk = Risk::Draft;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "dir_path",
        role: Role::Create,
        guarded: false,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            json!({ "dir_path": schema::path("Directory to create") }),
            &["dir_path"],
            json!({ "dir_path": "reports/2024" }),
        )
    }

    fn output_schema() -> Value {
        schema::fields(json!({
            "path": schema::of("string"),
            "created": schema::of("boolean"),
        }))
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let path = &arguments.dir_path;
        let roots = Roots::preopened();
        match create_directory(roots.writable()?, path) {
            Err(ErrorCode::Exist) => Err(exists(path).into()),
            answer => {
                answer?;
                Ok(Output::fields(&json!({ "path": path, "created": true })))
            }
        }
    }
}

fn exists(path: &str) -> Failure {
    Failure::new("exists", format!("`{path}` exists already"))
        .hint("if it is a directory, go on and use it; else choose another name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_target_is_refused() {
        assert_eq!(exists("a").code, "exists");
        assert_eq!(exists("a").message, "`a` exists already");
    }
}
