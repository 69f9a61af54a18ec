//! What a tool is: its facts, its arguments, and what it answers.
//!
//! A tool states each fact once, here; `tools/list`, command-line help and annotations are
//! rendered from it by the host.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// One tool: what it says about itself, and what it does.
///
/// The declared [`RISK`](Tool::RISK) and [`PATHS`](Tool::PATHS) can only narrow what the host
/// allows; they grant nothing.
pub trait Tool {
    /// The arguments, as the input schema describes them.
    ///
    /// They must refuse unknown fields (`#[serde(deny_unknown_fields)]`).
    type Arguments: DeserializeOwned;

    /// A stable name of 64 characters or fewer: ASCII letters, digits, `_`, `-`.
    const NAME: &'static str;
    /// Other names that are taken for the tool and not shown.
    const ALIASES: &'static [&'static str] = &[];
    /// A short name for people.
    const TITLE: &'static str;
    /// What the tool does, when to use it and how it refuses, for a model.
    const DESCRIPTION: &'static str;
    /// The most harm the tool can do.
    const RISK: Risk;
    /// Which arguments are paths.
    const PATHS: &'static [PathArgument];

    /// JSON Schema of the arguments: inline, `"type": "object"` at the top, no references, no
    /// unions, and at least one valid example under `examples`.
    fn input_schema() -> Value;

    /// JSON Schema of the result's fields, under the same restrictions.
    fn output_schema() -> Value;

    /// Runs the tool.
    ///
    /// # Errors
    /// What the tool itself finds wrong, or [`Error::Host`] when a WASI call was refused and
    /// the tool has nothing to add.
    fn run(arguments: Self::Arguments) -> Result<Output, Error>;
}

/// How much harm a tool can do at its worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Risk {
    /// Reads, lists, or looks up metadata.
    Read,
    /// Creates what did not exist before.
    Draft,
    /// Changes, replaces, renames, or deletes what existed before.
    Destructive,
}

/// What a path argument is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The object is read, listed, or looked up.
    Read,
    /// The file is written: created, or replaced where the policy allows it.
    Write,
    /// The file or directory is created.
    Create,
    /// The file or directory is deleted.
    Delete,
    /// The object is renamed away from this path.
    MoveFrom,
    /// The object is renamed to this path.
    MoveTo,
}

/// An argument that carries a path.
#[derive(Clone, Copy, Debug)]
pub struct PathArgument {
    /// Where the path stands: a property name, with `[]` behind the name of an array and `.`
    /// before a property of an inner object.
    pub pointer: &'static str,
    /// What the tool does there.
    pub role: Role,
    /// Whether the host's `expected_version` and `expected_sha256` guard this argument.
    pub guarded: bool,
}

/// What a successful call answers.
#[derive(Debug, PartialEq, Eq)]
pub struct Output {
    /// A JSON object as compact text, without the payload.
    pub fields: String,
    /// The payload.
    pub content: Content,
}

/// The payload of a result.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    /// The result has fields only.
    None,
    /// Text.
    Text(String),
    /// Anything else.
    Bytes {
        /// The bytes themselves.
        data: Vec<u8>,
        /// Their media type, such as `image/png`.
        mime_type: String,
    },
}

impl Output {
    /// A result of fields only.
    pub fn fields(fields: &impl Serialize) -> Self {
        Self::with(fields, Content::None)
    }

    /// A result with a text payload.
    pub fn text(fields: &impl Serialize, text: String) -> Self {
        Self::with(fields, Content::Text(text))
    }

    /// A result with a payload of either kind.
    pub fn with(fields: &impl Serialize, content: Content) -> Self {
        let fields = serde_json::to_string(fields).expect("fields have string keys only");
        Self { fields, content }
    }
}

/// Why a call did not succeed.
#[derive(Debug, PartialEq, Eq)]
pub enum Error {
    /// The tool found something wrong.
    Tool(Failure),
    /// A WASI call was refused or failed; the host knows why and answers with its own record.
    Host,
}

/// A failure that the tool itself found.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// A stable code, such as `invalid-arguments`.
    pub code: &'static str,
    /// What is wrong: lower case, no full stop, literals in backticks.
    pub message: String,
    /// What to do next; empty when there is nothing to say.
    pub hint: String,
    /// A JSON object, as text, with what the code needs besides; empty for none.
    pub details: String,
}

impl Failure {
    /// A failure that says what is wrong and nothing more.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: String::new(),
            details: String::new(),
        }
    }

    /// Arguments that the input schema does not allow, or that make no sense together.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::new("invalid-arguments", message)
    }

    /// More of something than a call may use.
    pub fn limit_exceeded(limit: &str, value: u64, actual: u64) -> Self {
        Self::new(
            "limit-exceeded",
            format!("the limit of {value} for {limit} is exceeded: {actual}"),
        )
        .details(&json!({ "limit": limit, "value": value, "actual": actual }))
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Adds what the code needs besides.
    #[must_use]
    pub fn details(mut self, details: &Value) -> Self {
        self.details = details.to_string();
        self
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Tool(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_compact_json() {
        let output = Output::text(&json!({ "path": "a", "size": 2 }), "hi".to_owned());
        assert_eq!(output.fields, r#"{"path":"a","size":2}"#);
        assert_eq!(output.content, Content::Text("hi".to_owned()));
    }

    #[test]
    fn an_exceeded_limit_names_limit_value_and_actual() {
        let failure = Failure::limit_exceeded("zip entries", 10, 11);
        assert_eq!(failure.code, "limit-exceeded");
        assert_eq!(
            failure.details,
            r#"{"limit":"zip entries","value":10,"actual":11}"#
        );
    }
}
