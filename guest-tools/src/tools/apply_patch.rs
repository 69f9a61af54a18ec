//! `apply_patch`: a unified diff upon files, all of it or nothing.
//!
//! The paths stand inside the patch and go to WASI as they are. They are no path arguments,
//! so nothing respells them; the host judges them like any other.

use super::edit_file::write_back;
use super::shared;
use crate::editing::patch::{FilePatch, apply, new_content, parse};
use crate::editing::{Encoded, choice, is_empty};
use crate::files::{
    Changing, ErrorCode, Roots, create_new, open, rename, version as version_of, write_all,
};
use crate::text::Choice;
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The tool.
pub(crate) struct ApplyPatch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    patch: String,
    encoding: Option<String>,
    default_encoding: Option<String>,
}

/// What was done.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    files: Vec<Done>,
}

/// What was done to one file.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
struct Done {
    path: String,
    operation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// For each hunk, how many lines below its number it was applied; left out where all
    /// were applied where they said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    offsets: Vec<isize>,
}

impl Tool for ApplyPatch {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "apply_patch";
    const TITLE: &'static str = "Apply a patch";
    const DESCRIPTION: &'static str = "Applies a unified diff of one or more files, all or \
        nothing: changes, new files (`--- /dev/null`), deletions, renames. Context must fit \
        exactly, at its line or at one other place, else `no-match` names file and hunk.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[];
    const EXAMPLE: &'static str =
        r#"{"patch":"--- a/todo.txt\n+++ b/todo.txt\n@@ -1 +1 @@\n-old\n+new\n"}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let Arguments {
            patch,
            encoding,
            default_encoding,
        } = arguments;
        let choice = choice(encoding.as_deref(), default_encoding.as_deref())?;
        let files = parse(&patch)?;
        let roots = Roots::preopened();
        let files = files.iter().map(|file| carry_out(&roots, file, choice));
        let files = files.collect::<Result<_, Error>>()?;
        Ok(Output::new(Fields { files }))
    }
}

fn carry_out(roots: &Roots, patch: &FilePatch<'_>, choice: Choice) -> Result<Done, Error> {
    match (&patch.old, &patch.new) {
        (None, Some(path)) => create(roots, path, patch),
        (Some(path), None) => delete(roots, path, patch, choice),
        (Some(from), Some(to)) if from != to => move_to(roots, from, to, patch),
        (Some(path), _) => change(roots, path, patch, choice),
        (None, None) => Ok(Done::default()),
    }
}

fn create(roots: &Roots, path: &str, patch: &FilePatch<'_>) -> Result<Done, Error> {
    let content = new_content(patch)?;
    match create_new(roots.writable()?, path) {
        Err(ErrorCode::Exist) => return Err(exists(path).into()),
        file => write_all(&file?, content.as_bytes())?,
    }
    Ok(done("create", path))
}

fn change(roots: &Roots, path: &str, patch: &FilePatch<'_>, choice: Choice) -> Result<Done, Error> {
    let file = Changing::open(roots, path)?;
    let old = Encoded::decode(path, file.read(path)?, choice)?;
    let patched = apply(path, &old.text, &patch.hunks)?;
    write_back(path, &file, &old, patched.text, &patched.changes)?;
    let is_moved = patched.offsets.iter().any(|offset| *offset != 0);
    Ok(Done {
        offsets: if is_moved {
            patched.offsets
        } else {
            Vec::new()
        },
        ..done("change", path)
    })
}

/// Not opened to be changed: whether a file may be deleted is another question. What is deleted
/// is what the patch was held against, since it is looked at again when it is gone.
fn delete(roots: &Roots, path: &str, patch: &FilePatch<'_>, choice: Choice) -> Result<Done, Error> {
    let root = roots.writable()?;
    let file = open(path)?;
    let version = file.descriptor.metadata_hash()?;
    let old = Encoded::decode(path, file.read_all()?, choice)?;
    if !is_empty(&apply(path, &old.text, &patch.hunks)?.text) {
        return Err(has_more(path).into());
    }
    root.unlink_file_at(path)?;
    if version_of(file.descriptor.metadata_hash()?) != version_of(version) {
        return Err(changed(path).into());
    }
    Ok(done("delete", path))
}

fn move_to(roots: &Roots, from: &str, to: &str, patch: &FilePatch<'_>) -> Result<Done, Error> {
    if !patch.hunks.is_empty() {
        return Err(renames_and_changes(from).into());
    }
    rename(roots.writable()?, from, to, false, shared::exists)?;
    Ok(Done {
        to: Some(to.to_owned()),
        ..done("rename", from)
    })
}

fn done(operation: &'static str, path: &str) -> Done {
    Done {
        path: path.to_owned(),
        operation,
        ..Done::default()
    }
}

fn exists(path: &str) -> Failure {
    Failure::new(
        "exists",
        format!("the patch creates `{path}`, which exists already"),
    )
    .hint("read it, and make a patch that changes it")
}

fn changed(path: &str) -> Failure {
    Failure::new(
        "conflict",
        format!("`{path}` was changed by someone else while the call ran"),
    )
    .hint("read it again and decide anew; nothing was changed")
}

fn has_more(path: &str) -> Failure {
    let message = format!("the patch deletes `{path}`, which holds more than the patch removes");
    Failure::new("no-match", message)
        .hint(
            "delete it with `delete_file`, or read it and make the patch anew; nothing was changed",
        )
        .details(&json!({ "path": path }))
}

/// The host has one pending change for one file.
fn renames_and_changes(path: &str) -> Failure {
    Failure::invalid_arguments(format!("the patch renames `{path}` and changes it as well"))
        .hint("rename it first, with `move_file`; then apply the hunks under its new name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_where_they_said_need_no_word() {
        let answer = json!({ "files": [done("change", "a")] });
        assert_eq!(
            answer.to_string(),
            r#"{"files":[{"path":"a","operation":"change"}]}"#
        );
    }

    #[test]
    fn refusals_name_the_file_and_the_next_step() {
        for failure in [exists("a"), has_more("a"), renames_and_changes("a")] {
            assert!(failure.message.contains("`a`"), "{}", failure.message);
            assert!(!failure.hint.is_empty());
        }
    }
}
