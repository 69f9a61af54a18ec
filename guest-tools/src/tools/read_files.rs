//! `read_files`: several text files at once, each with its own answer.

use super::read_file::{MaxBytes, assumed};
use crate::reading::{Facts, From, Part, Wish, read};
use crate::text::{Choice, Style};
use crate::tool::{Content, Error, Failure, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Files in one call: enough for a set of sources that belong together, few enough for the
/// one answer that carries them all.
const MOST_PATHS: usize = 50;

/// The tool.
pub(crate) struct ReadFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    #[schemars(length(min = 1, max = MOST_PATHS))]
    paths: Vec<String>,
    max_bytes: Option<MaxBytes>,
    default_encoding: Option<String>,
}

/// What was read.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    files: Vec<Entry>,
    read: usize,
    failed: usize,
}

/// A file, or why it is none.
#[derive(Default, Serialize, JsonSchema)]
struct Entry {
    path: String,
    #[serde(flatten)]
    facts: Option<Facts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// As the call would have ended, had it named this file alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

impl Tool for ReadFiles {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "read_files";
    const TITLE: &'static str = "Read several files";
    const DESCRIPTION: &'static str = "Returns the text of up to 50 files as `read_file` does; \
        one that cannot be read has an `error`. `max_bytes` is for each; go on with `read_file` \
        and `next_cursor`.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("paths[]")];
    const EXAMPLE: &'static str = r#"{"paths":["src/main.rs","src/lib.rs"]}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        check(&arguments.paths)?;
        let choice = assumed(arguments.default_encoding.as_deref())?;
        let wish = wish(choice, arguments.max_bytes.map(Into::into));
        let paths = arguments.paths.into_iter();
        let files: Vec<Entry> = paths.map(|path| entry(path, &wish)).collect();
        let read = files.iter().filter(|entry| entry.error.is_none()).count();
        let failed = files.len() - read;
        Ok(Output::new(Fields {
            files,
            read,
            failed,
        }))
    }
}

fn check(paths: &[String]) -> Result<(), Failure> {
    match paths.len() {
        0 => Err(Failure::invalid_arguments("`paths` is empty").hint("name at least one file")),
        1..=MOST_PATHS => Ok(()),
        count => Err(
            Failure::invalid_arguments(format!("`paths` names {count} files")).hint(format!(
                "name at most {MOST_PATHS}, and the others in further calls"
            )),
        ),
    }
}

fn wish(choice: Choice, most: Option<usize>) -> Wish {
    let part = most.map(|most| Part {
        from: From::Line(1),
        lines: None,
        most: Some(most),
        style: Style::default(),
    });
    Wish {
        choice,
        replace: false,
        part,
        hash: false,
    }
}

fn entry(path: String, wish: &Wish) -> Entry {
    match read(&path, wish) {
        Ok(reading) => match reading.content {
            Content::Text(content) => Entry {
                path,
                facts: Some(reading.facts),
                content: Some(content),
                error: None,
            },
            Content::Bytes { mime_type, .. } => failed(path, |path| media(path, &mime_type)),
            Content::None => failed(path, |path| media(path, "application/octet-stream")),
        },
        Err(Error::Tool(failure)) => failed(path, |_| failure),
        // The host knows why, and says it there.
        Err(Error::Host) => Entry {
            error: Some(json!({ "refused": path })),
            path,
            ..Entry::default()
        },
    }
}

fn media(path: &str, media_type: &str) -> Failure {
    Failure::new("not-text", format!("`{path}` is `{media_type}`"))
        .hint("give `read_file` this `path` alone to see or hear it")
        .details(&json!({ "mime_type": media_type }))
}

fn failed(path: String, failure: impl FnOnce(&str) -> Failure) -> Entry {
    Entry {
        error: Some(told(&failure(&path))),
        path,
        ..Entry::default()
    }
}

/// A failure in the form in which the host tells those of whole calls.
fn told(failure: &Failure) -> Value {
    let mut error = json!({
        "code": failure.code,
        "reason": null,
        "message": failure.message,
        "hint": failure.hint,
    });
    if let Ok(Value::Object(details)) = serde_json::from_str(&failure.details)
        && let Value::Object(error) = &mut error
    {
        error.extend(details);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_fit_one_answer_are_taken() {
        let paths = |count| vec!["a".to_owned(); count];
        assert!(check(&paths(MOST_PATHS)).is_ok());
        assert_eq!(check(&[]).unwrap_err().message, "`paths` is empty");
        let failure = check(&paths(MOST_PATHS + 1)).unwrap_err();
        assert_eq!(failure.message, "`paths` names 51 files");
        assert!(failure.hint.contains("50"), "{}", failure.hint);
    }

    #[test]
    fn a_failure_among_files_reads_like_one_of_a_call() {
        let failure = Failure::new("not-text", "broken")
            .hint("mend it")
            .details(&json!({ "offset": 3 }));
        let entry = failed("a".to_owned(), |_| failure);
        assert_eq!(
            serde_json::to_string(&entry).unwrap(),
            r#"{"path":"a","error":{"code":"not-text","reason":null,"message":"broken","hint":"mend it","offset":3}}"#
        );
    }
}
