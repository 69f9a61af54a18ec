//! `read_files`: several text files at once, each with its own answer.

use super::read_file::most;
use super::schema;
use crate::reading::{Facts, From, Part, Wish, read};
use crate::text::{Choice, LEAST_TEXT, Style};
use crate::tool::{Content, Error, Failure, Output, PathArgument, Risk, Role, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Files in one call: enough for a set of sources that belong together, few enough for the
/// one answer that carries them all.
const MOST_PATHS: usize = 50;

/// The tool.
pub(crate) struct ReadFiles;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    paths: Vec<String>,
    max_bytes: Option<i64>,
}

#[derive(Serialize)]
struct Fields<'a> {
    files: Vec<Entry<'a>>,
    read: usize,
    failed: usize,
}

#[derive(Serialize)]
struct Entry<'a> {
    path: &'a str,
    #[serde(flatten)]
    answer: Answer,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Read {
        #[serde(flatten)]
        facts: Facts,
        content: String,
    },
    Failed {
        error: Value,
    },
}

impl Tool for ReadFiles {
    type Arguments = Arguments;

    const NAME: &'static str = "read_files";
    const TITLE: &'static str = "Read several files";
    const DESCRIPTION: &'static str = "Returns the text of up to 50 files, each as `read_file` \
        does. A file that cannot be read has an `error` in its place. `max_bytes` is for each; \
        go on with `read_file` and `next_cursor`.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "paths[]",
        role: Role::Read,
        guarded: false,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            json!({
                "paths": {
                    "type": "array",
                    "items": schema::path("File to read"),
                    "minItems": 1,
                    "maxItems": MOST_PATHS,
                },
                "max_bytes": { "type": "integer", "minimum": LEAST_TEXT },
            }),
            &["paths"],
            json!({ "paths": ["src/main.rs", "src/lib.rs"] }),
        )
    }

    fn output_schema() -> Value {
        schema::fields(json!({
            "files": { "type": "array", "items": {
                "type": "object",
                "description": "as `read_file` answers, or `path` and `error`",
            }},
            "read": schema::of("integer"),
            "failed": schema::of("integer"),
        }))
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        check(&arguments.paths)?;
        let wish = wish(most(arguments.max_bytes)?);
        let files: Vec<Entry> = arguments
            .paths
            .iter()
            .map(|path| Entry {
                path,
                answer: answer(path, &wish),
            })
            .collect();
        let is_read = |entry: &&Entry| matches!(entry.answer, Answer::Read { .. });
        let read = files.iter().filter(is_read).count();
        let failed = files.len() - read;
        Ok(Output::fields(&Fields {
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

fn wish(most: Option<usize>) -> Wish {
    let part = most.map(|most| Part {
        from: From::Line(1),
        lines: None,
        most: Some(most),
        style: Style::default(),
    });
    Wish {
        choice: Choice::Detected,
        replace: false,
        part,
        hash: false,
    }
}

fn answer(path: &str, wish: &Wish) -> Answer {
    match read(path, wish) {
        Ok(reading) => match reading.content {
            Content::Text(content) => Answer::Read {
                facts: reading.facts,
                content,
            },
            Content::Bytes { mime_type, .. } => failed(&media(path, &mime_type)),
            Content::None => failed(&media(path, "application/octet-stream")),
        },
        Err(Error::Tool(failure)) => failed(&failure),
        // The host knows why, and says it there.
        Err(Error::Host) => Answer::Failed {
            error: json!({ "refused": path }),
        },
    }
}

fn media(path: &str, media_type: &str) -> Failure {
    Failure::new("not-text", format!("`{path}` is `{media_type}`"))
        .hint("give `read_file` this `path` alone to see or hear it")
        .details(&json!({ "mime_type": media_type }))
}

/// A failure in the form in which the host tells those of whole calls.
fn failed(failure: &Failure) -> Answer {
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
    Answer::Failed { error }
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
        let entry = Entry {
            path: "a",
            answer: failed(&failure),
        };
        assert_eq!(
            serde_json::to_string(&entry).unwrap(),
            r#"{"path":"a","error":{"code":"not-text","reason":null,"message":"broken","hint":"mend it","offset":3}}"#
        );
    }
}
