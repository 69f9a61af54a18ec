//! Why a call did not succeed.

use serde_json::{Value, json};

/// Why a call did not succeed.
#[derive(Debug, PartialEq, Eq)]
pub enum Error {
    /// The tool found something wrong.
    Tool(Failure),
    /// A WASI call was refused or failed; the host knows why and answers with its own record.
    Host,
}

/// A failure that the tool itself found.
///
/// It is written for an agent: what is wrong, and what to do about it. Lower case, no full
/// stop, literals in backticks.
///
/// # Examples
/// ```
/// use rootbound_tool::Failure;
///
/// let failure = Failure::new("malformed-document", "line 3 has 4 columns, and the header 5")
///     .hint("give `strict: false` to read what can be read");
/// assert_eq!(failure.code, "malformed-document");
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// A stable code, such as `invalid-arguments`. Agents know these: `not-found`,
    /// `not-a-file`, `not-a-directory`, `exists`, `not-text`, `unsupported-encoding`,
    /// `malformed-document`, `unsupported-document`, `invalid-arguments`, `no-match`,
    /// `ambiguous-match`, `limit-exceeded`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do next; empty when there is nothing to say.
    pub hint: String,
    /// A JSON object, as text, with what the code needs besides; empty for none.
    pub details: String,
}

/// As many letters as anybody reads.
const MAX_MESSAGE: usize = 2000;

impl Failure {
    /// A failure that says what is wrong and nothing more. A message may repeat what the
    /// caller gave; after 2,000 letters it ends.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
            message.truncate(end);
            message.push('…');
        }
        Self {
            code,
            message,
            hint: String::new(),
            details: String::new(),
        }
    }

    /// Arguments that the input schema does not allow, or that make no sense together.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::new("invalid-arguments", message)
    }

    /// More of something than a call may use.
    #[must_use]
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

    /// Adds what the code needs besides: a JSON object.
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
    fn a_message_ends_however_much_it_repeats() {
        let failure = Failure::invalid_arguments("ä".repeat(1_000_000));
        assert_eq!(failure.message.chars().count(), MAX_MESSAGE + 1);
        assert!(failure.message.ends_with("ä…"));
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
