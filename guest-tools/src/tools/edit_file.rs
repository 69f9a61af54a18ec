//! `edit_file`: old text for new text, and every other byte as it was.

use crate::editing::{Changes, Edit, Encoded, choice, edit, unified};
use crate::files::{Changing, Roots};
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool.
pub(crate) struct EditFile;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    edits: Vec<Edit>,
    encoding: Option<String>,
    default_encoding: Option<String>,
}

/// What was edited.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    replacements: usize,
    diff: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    diff_truncated: bool,
}

impl Tool for EditFile {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "edit_file";
    const TITLE: &'static str = "Edit a text file";
    const DESCRIPTION: &'static str = "Replaces exact text in a file; all other bytes stay. Edits \
        apply in order, each to the result of those before it, all or none. `old_text` must occur \
        once (else `no-match` with the nearest place, or `ambiguous-match` with the lines) unless \
        `replace_all`. New text takes the file's line endings if of one kind. Returns a diff.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[PathArgument::write("path").guarded()];
    const EXAMPLE: &'static str =
        r#"{"path":"src/main.rs","edits":[{"old_text":"x = 1;","new_text":"x = 2;"}]}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let Arguments {
            path,
            edits,
            encoding,
            default_encoding,
        } = arguments;
        let choice = choice(encoding.as_deref(), default_encoding.as_deref())?;
        if edits.is_empty() {
            return Err(no_edits().into());
        }
        let file = Changing::open(&Roots::preopened(), &path)?;
        let old = Encoded::decode(&path, file.read(&path)?, choice)?;
        let edited = edit(&path, &old.text, &edits)?;
        let diff = unified(&path, &old.text, &edited.text, &edited.changes);
        write_back(&path, &file, &old, edited.text, &edited.changes)?;
        Ok(Output::new(Fields {
            path,
            replacements: edited.replacements,
            diff: diff.text,
            diff_truncated: diff.truncated,
        }))
    }
}

/// Writes only what differs, as far as a file can take it.
pub(super) fn write_back(
    path: &str,
    file: &Changing,
    old: &Encoded,
    text: String,
    changes: &Changes,
) -> Result<(), Error> {
    let (kept, same_end) = match (changes.first(), changes.last()) {
        (Some(first), Some(last)) if old.is_utf8() => {
            (first.old.start, old.text.len() - last.old.end)
        }
        _ => (0, 0),
    };
    let old_length = old.byte_length();
    let content = old.encode(path, text)?;
    Ok(file.write(&content, kept, same_end, old_length)?)
}

fn no_edits() -> Failure {
    Failure::invalid_arguments("`edits` is empty")
        .hint("give at least one `{\"old_text\": …, \"new_text\": …}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_edits_is_refused() {
        assert_eq!(no_edits().code, "invalid-arguments");
    }

    #[test]
    fn the_result_is_compact() {
        let fields = Fields {
            path: "f".to_owned(),
            replacements: 1,
            diff: "--- f\n".to_owned(),
            diff_truncated: false,
        };
        assert_eq!(
            Output::new(fields).into_parts().0,
            r#"{"path":"f","replacements":1,"diff":"--- f\n"}"#
        );
    }
}
