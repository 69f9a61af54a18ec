//! `delete_file`: a file, a link or a directory, gone.

use crate::files::{ErrorCode, Roots};
use crate::tool::{Error, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool.
pub(crate) struct DeleteFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    #[expect(
        dead_code,
        reason = "the host reads it: a component alone could not ask for this"
    )]
    recursive: Option<bool>,
}

/// What is gone.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    deleted: bool,
}

impl Tool for DeleteFile {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "delete_file";
    const TITLE: &'static str = "Delete a file";
    const DESCRIPTION: &'static str = "Deletes a file or an empty directory; with `recursive` \
        also a directory with entries, else refused (`not-empty`). A link is removed, not what \
        it leads to. The user's policy may refuse (`delete-denied`) or ask first.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[PathArgument::delete("path").guarded()];
    const EXAMPLE: &'static str = r#"{"path":"old/draft.txt"}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let path = arguments.path;
        remove(&path)?;
        let deleted = true;
        Ok(Output::new(Fields { path, deleted }))
    }
}

/// Deletes a file, a link or an empty directory below the write root.
///
/// # Errors
/// The host's.
pub(crate) fn remove(path: &str) -> Result<(), Error> {
    let roots = Roots::preopened();
    let root = roots.writable()?;
    let unlink = || root.unlink_file_at(path);
    Ok(delete(path, unlink, || root.remove_directory_at(path))?)
}

pub(super) fn delete(
    path: &str,
    unlink: impl FnOnce() -> Result<(), ErrorCode>,
    remove: impl FnOnce() -> Result<(), ErrorCode>,
) -> Result<(), ErrorCode> {
    if path.ends_with('/') {
        return remove();
    }
    match unlink() {
        Err(ErrorCode::IsDirectory) => remove(),
        answer => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never() -> Result<(), ErrorCode> {
        panic!("this call was not meant to happen")
    }

    #[test]
    fn files_are_unlinked() {
        assert_eq!(delete("a", || Ok(()), never), Ok(()));
        let denied = Err(ErrorCode::NotPermitted);
        assert_eq!(delete("a", || denied, never), denied);
    }

    #[test]
    fn directories_are_removed_as_such() {
        assert_eq!(delete("a/", never, || Ok(())), Ok(()));
        let unlink = || Err(ErrorCode::IsDirectory);
        let not_empty = Err(ErrorCode::NotEmpty);
        assert_eq!(delete("a", unlink, || not_empty), not_empty);
    }
}
