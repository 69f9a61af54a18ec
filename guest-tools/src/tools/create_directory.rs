//! `create_directory`: a new directory.

use crate::files::{ErrorCode, Roots, create_directory};
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool.
pub(crate) struct CreateDirectory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    dir_path: String,
}

/// What was made.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    created: bool,
}

impl Tool for CreateDirectory {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "create_directory";
    const TITLE: &'static str = "Create a directory";
    const DESCRIPTION: &'static str = "Creates a directory and those above it. A path that exists \
        is refused (`exists`). Writing a file makes its directories itself.";
    const RISK: Risk = Risk::Draft;
    const PATHS: &'static [PathArgument] = &[PathArgument::create("dir_path")];
    const EXAMPLE: &'static str = r#"{"dir_path":"reports/2024"}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let path = arguments.dir_path;
        create(&path)?;
        let created = true;
        Ok(Output::new(Fields { path, created }))
    }
}

/// Makes a directory below the write root.
///
/// # Errors
/// `exists`; else the host's.
pub(crate) fn create(path: &str) -> Result<(), Error> {
    let roots = Roots::preopened();
    match create_directory(roots.writable()?, path) {
        Err(ErrorCode::Exist) => Err(exists(path).into()),
        answer => Ok(answer?),
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
