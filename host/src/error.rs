//! What a call that does not succeed answers: a stable code, a message, and a hint.
//!
//! A refusal is a value with one author. Every constructor here writes for the agent that
//! will read it: lower case, no full stop, literals in backticks, never a host path.

use std::borrow::Cow;
use std::fmt;

use rustix::io::Errno;
use serde_json::{Map, Value, json};

use crate::audit::Damage;
use crate::errno;

/// Bytes of a path that an answer repeats: the longest that Linux takes.
const MOST_SHOWN: usize = 4096;

/// The stable codes of every answer that is not success.
///
/// Scripts compare against these; they are never renamed.
pub mod code {
    /// No grant covers the operation.
    pub const NOT_GRANTED: &str = "not-granted";
    /// The path is not one that a tool may use; `reason` says why.
    pub const INVALID_PATH: &str = "invalid-path";
    /// A link or `..` on the way leaves the root.
    pub const ESCAPE: &str = "escape";
    /// Nothing has this name.
    pub const NOT_FOUND: &str = "not-found";
    /// Something that is not a regular file stands where a file is meant.
    pub const NOT_A_FILE: &str = "not-a-file";
    /// Something that is not a directory stands where a directory is meant.
    pub const NOT_A_DIRECTORY: &str = "not-a-directory";
    /// The directory has entries.
    pub const NOT_EMPTY: &str = "not-empty";
    /// The name is taken.
    pub const EXISTS: &str = "exists";
    /// The policy does not allow an existing file to be changed.
    pub const OVERWRITE_DENIED: &str = "overwrite-denied";
    /// The policy does not allow deletions.
    pub const DELETE_DENIED: &str = "delete-denied";
    /// The file has more than one name; changing it would change the others.
    pub const HARD_LINK: &str = "hard-link";
    /// The operating system refused.
    pub const PERMISSION_DENIED: &str = "permission-denied";
    /// The object's path is excluded by the operator's patterns.
    pub const PATTERN_DENIED: &str = "pattern-denied";
    /// A person has to approve first, and nobody was there to ask.
    pub const APPROVAL_REQUIRED: &str = "approval-required";
    /// The approver said no, or failed.
    pub const APPROVAL_DENIED: &str = "approval-denied";
    /// The object is no longer what the call was about.
    pub const CONFLICT: &str = "conflict";
    /// A limit would be exceeded; `limit`, `value` and `actual` say which.
    pub const LIMIT_EXCEEDED: &str = "limit-exceeded";
    /// The call took too long.
    pub const TIMEOUT: &str = "timeout";
    /// The caller cancelled the call, which changed nothing.
    pub const CANCELLED: &str = "cancelled";
    /// The bytes are not text.
    pub const NOT_TEXT: &str = "not-text";
    /// The text encoding is not known.
    pub const UNSUPPORTED_ENCODING: &str = "unsupported-encoding";
    /// The document is broken.
    pub const MALFORMED_DOCUMENT: &str = "malformed-document";
    /// The document is of a kind that the tool does not read.
    pub const UNSUPPORTED_DOCUMENT: &str = "unsupported-document";
    /// The arguments are not what the tool takes.
    pub const INVALID_ARGUMENTS: &str = "invalid-arguments";
    /// No tool has this name.
    pub const UNKNOWN_TOOL: &str = "unknown-tool";
    /// The text to be replaced does not occur.
    pub const NO_MATCH: &str = "no-match";
    /// The text to be replaced occurs more than once.
    pub const AMBIGUOUS_MATCH: &str = "ambiguous-match";
    /// The component stopped abnormally.
    pub const TRAPPED: &str = "trapped";
    /// The audit log cannot be written, so nothing runs.
    pub const AUDIT_UNAVAILABLE: &str = "audit-unavailable";
    /// The disk is full or a quota is used up.
    pub const NO_SPACE: &str = "no-space";
    /// The file system is mounted read-only.
    pub const READ_ONLY: &str = "read-only";
    /// The session was closed.
    pub const CLOSED: &str = "closed";
    /// Any other failure of the operating system or the component.
    pub const IO: &str = "io";
}

/// The member of an answer that lists what was done before something failed.
const COMMITTED: &str = "committed";
/// Members of an error that are the host's word. What is not among them is a tool's to give, such
/// as `known`, or `limit`, `value` and `actual` of a limit of its own.
const OF_THE_HOST: [&str; 11] = [
    "approval", "code", COMMITTED, "data", "dry_run", "error", "hint", "message", "reason",
    "receipt", "success",
];
/// Letters of a tool's name that an answer repeats; real ones have 64 or fewer.
const MAX_NAME: usize = 64;
/// Names that an answer lists of the tools that there are.
const MAX_KNOWN: usize = 100;

/// The five ways in which a call can end without success. They are never merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The policy, the grants or the path rules said no.
    Denied,
    /// A person or service was to approve, and did not.
    NotApproved,
    /// A limit was reached.
    OverLimit,
    /// The operation was allowed and failed.
    Failed,
    /// The component stopped abnormally.
    Trapped,
}

/// Why a call did not succeed.
///
/// The text fields are written for the agent: they name roots by label and paths as the
/// caller gave them, never a host path.
///
/// # Examples
///
/// ```
/// use rootbound::{AuditLog, Ending, Session, code};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let session = Session::builder().audit(AuditLog::none()).build()?;
/// let error = session.call("read_file", r#"{"path": "notes.md"}"#).unwrap_err();
/// assert_eq!(error.code(), code::NOT_GRANTED);
/// assert_eq!(error.ending(), Ending::Denied);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    code: Cow<'static, str>,
    reason: Option<&'static str>,
    message: String,
    hint: String,
    details: Map<String, Value>,
}

impl CallError {
    /// An error with a code from [`code`] and a message.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            code: Cow::Borrowed(code),
            reason: None,
            message: message.into(),
            hint: String::new(),
            details: Map::new(),
        }))
    }

    /// An error that the tool reported. A code that only the host may give is not taken
    /// from a tool: it becomes `io`.
    pub(crate) fn from_tool(code: &str, message: String, hint: String, details: &str) -> Self {
        let trusted = is_tool_code(code);
        Self(Box::new(Parts {
            code: if trusted {
                Cow::Owned(code.to_owned())
            } else {
                Cow::Borrowed(code::IO)
            },
            reason: None,
            message,
            hint,
            details: details_of_tool(details),
        }))
    }

    pub(crate) fn reason_of(mut self, reason: &'static str) -> Self {
        self.0.reason = Some(reason);
        self
    }

    pub(crate) fn hint_of(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = hint.into();
        self
    }

    pub(crate) fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.details.insert(key.to_owned(), value.into());
        self
    }

    /// The same answer in other words.
    pub(crate) fn saying(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Lists what was done before the call failed, and says that it stays.
    pub(crate) fn having_committed(self, effects: Vec<Value>) -> Self {
        let hint = format!("what `committed` lists was done and stays; {}", self.0.hint);
        self.hint_of(hint).detail(COMMITTED, effects)
    }

    /// Whether something that the call did stays.
    pub(crate) fn has_committed(&self) -> bool {
        self.0.details.contains_key(COMMITTED)
    }

    /// Lists what another answer, which this one takes the place of, says was done.
    pub(crate) fn instead_of(self, other: &Self) -> Self {
        match other.0.details.get(COMMITTED) {
            Some(Value::Array(effects)) => self.having_committed(effects.clone()),
            _ => self,
        }
    }

    /// Says which of the paths that a tool took from a text this is about, as it stood there.
    pub(crate) fn about(self, path: &str) -> Self {
        if path.is_empty() || path.len() > MOST_SHOWN {
            return self;
        }
        let message = format!("`{}`: {}", path.escape_debug(), self.message());
        self.saying(message).detail("path", path)
    }

    /// A limit by its configuration name, its value, and what was asked for.
    pub(crate) fn limit(name: &'static str, value: u64, actual: u64) -> Self {
        let hint = match name {
            _ if value == 0 => "the operator allows none of this; do without it",
            "max_read_bytes" => {
                "read a part with `read_file`, without `hash`: lines with `offset` and `limit`, \
                 where a negative `offset` counts from the end, or bytes with `max_bytes`; what is \
                 searched, changed, copied or parsed is taken whole and needs a higher limit of \
                 the operator"
            }
            "max_output_bytes" => {
                "ask for less at a time, with `limit` or `max_bytes`; of a line that is too long \
                 `max_bytes` gives a part and `clip` the beginning, and other bytes come in parts \
                 with `encoding: \"base64\"` and `max_bytes`"
            }
            "max_write_bytes" => {
                "write less at a time: several files or, where the policy lets files be changed, \
                 the rest with `append_file`, up to `max_read_bytes` in one file; what is copied, \
                 edited or larger needs a higher limit of the operator"
            }
            "deleted_objects" | "deleted_depth" => {
                "delete the directories inside it first, each in a call of its own"
            }
            "listed_entries" => {
                "list its directories one by one; of one with so many entries name the files"
            }
            "max_session_write_bytes" | "max_session_files" => {
                "this session has used up its share; the operator can start another, or raise the limit"
            }
            // These have no option.
            "directories" | "refusals" | "accesses" | "max_random_bytes" | "max_table_elements" => {
                "ask for less at a time"
            }
            _ => "ask for less at a time, or have the operator raise the limit",
        };
        Self::new(
            code::LIMIT_EXCEEDED,
            format!("the limit `{name}` of {value} would be exceeded: {actual}"),
        )
        .hint_of(hint)
        .detail("limit", name)
        .detail("value", value)
        .detail("actual", actual)
    }

    /// A limit whose size would tell how large something is that may not be read.
    pub(crate) fn without_actual(mut self) -> Self {
        if let Some((said, _)) = self.0.message.rsplit_once(": ")
            && self.0.details.remove("actual").is_some()
        {
            self.0.message = said.to_owned();
        }
        self
    }

    /// What the system says stays in our words: its own name numbers and sometimes paths.
    pub(crate) fn audit_unavailable(error: std::io::Error) -> Self {
        if let Some(damage) = Damage::of(&error) {
            return Self::damaged_audit(damage);
        }
        let why = match Errno::from_io_error(&error) {
            Some(errno) => errno::explain(errno).message().to_owned(),
            None => error.to_string(),
        };
        Self::new(
            code::AUDIT_UNAVAILABLE,
            format!("the audit log cannot be written: {why}"),
        )
        .hint_of("the operator has to make the audit log writable")
    }

    fn damaged_audit(damage: &Damage) -> Self {
        Self::new(
            code::AUDIT_UNAVAILABLE,
            format!("the audit log is not continued, since it was altered: {damage}"),
        )
        .hint_of(
            "the operator has to look at it with `rootbound audit verify`, keep it as it is, and \
             name a new file with `--audit`",
        )
    }

    /// No tool has the name; these are there.
    pub(crate) fn unknown_tool(tool: &str, known: impl IntoIterator<Item = String>) -> Self {
        let tool: String = tool.chars().take(MAX_NAME).collect();
        let known: Vec<String> = known.into_iter().take(MAX_KNOWN).collect();
        Self::new(code::UNKNOWN_TOOL, format!("there is no tool `{tool}`"))
            .hint_of("use one of the tools in `known`")
            .detail("known", known)
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(code::CANCELLED, "the call was cancelled").hint_of("nothing was changed")
    }

    pub(crate) fn closed() -> Self {
        Self::new(code::CLOSED, "the session is closed").hint_of("open a new session")
    }

    /// The stable code, one of [`code`] or a tool's own.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// What distinguishes answers with the same code, such as `traversal`.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.0.reason
    }

    pub(crate) fn static_reason(&self) -> Option<&'static str> {
        self.0.reason
    }

    /// What is wrong, in one sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What the caller can do next; may be empty.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.0.hint
    }

    /// Further facts that belong to the code: `limit`, `value`, `actual`, `approval`,
    /// `committed`, `known`.
    #[must_use]
    pub fn details(&self) -> &Map<String, Value> {
        &self.0.details
    }

    /// Which of the five endings this is.
    #[must_use]
    pub fn ending(&self) -> Ending {
        match self.code() {
            code::APPROVAL_REQUIRED | code::APPROVAL_DENIED => Ending::NotApproved,
            code::LIMIT_EXCEEDED | code::TIMEOUT => Ending::OverLimit,
            code::TRAPPED => Ending::Trapped,
            code::NOT_GRANTED
            | code::INVALID_PATH
            | code::ESCAPE
            | code::OVERWRITE_DENIED
            | code::DELETE_DENIED
            | code::HARD_LINK
            | code::PATTERN_DENIED
            | code::AUDIT_UNAVAILABLE
            | code::CLOSED => Ending::Denied,
            _ => Ending::Failed,
        }
    }

    /// The error object as front-ends show it: `code`, `reason`, `message`, `hint`, and
    /// the details.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut object = json!({
            "code": self.0.code,
            "reason": self.0.reason,
            "message": self.0.message,
            "hint": self.0.hint,
        });
        if let Value::Object(map) = &mut object {
            for (key, value) in &self.0.details {
                // A tool's details must not be able to rewrite the code.
                map.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        object
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)
    }
}

impl std::error::Error for CallError {}

/// What a tool says besides, without what only the host can know.
fn details_of_tool(text: &str) -> Map<String, Value> {
    let mut details: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    details.retain(|name, _| !OF_THE_HOST.contains(&name.as_str()));
    details
}

/// Whether a tool may end a call with this code: any well-formed code but those that speak
/// for the host.
fn is_tool_code(code: &str) -> bool {
    let reserved = [
        code::ESCAPE,
        code::HARD_LINK,
        code::CONFLICT,
        code::OVERWRITE_DENIED,
        code::DELETE_DENIED,
        code::PATTERN_DENIED,
        code::APPROVAL_REQUIRED,
        code::APPROVAL_DENIED,
        code::TIMEOUT,
        code::CANCELLED,
        code::TRAPPED,
        code::AUDIT_UNAVAILABLE,
        code::CLOSED,
    ];
    !code.is_empty()
        && code.len() <= 64
        && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        && !reserved.contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_cannot_speak_for_the_host() {
        for forged in ["trapped", "approval-denied", "Not Found", "", "a\nb"] {
            let error = CallError::from_tool(forged, "m".into(), String::new(), "");
            assert_eq!(error.code(), code::IO, "{forged:?}");
        }
    }

    #[test]
    fn details_cannot_replace_the_code() {
        let error = CallError::from_tool("no-match", "m".into(), String::new(), r#"{"code":"x"}"#);
        assert_eq!(error.to_json()["code"], "no-match");
    }

    #[test]
    fn details_hold_no_word_of_the_host() {
        let forged: Map<String, Value> = (OF_THE_HOST.iter())
            .map(|name| ((*name).to_owned(), json!("forged")))
            .collect();
        let text = Value::from(forged).to_string();
        let error = CallError::from_tool("no-match", "m".into(), "h".into(), &text);
        assert_eq!(
            error.to_json(),
            json!({"code": "no-match", "reason": null, "message": "m", "hint": "h"})
        );
    }

    #[test]
    fn a_limit_names_itself_its_value_and_the_actual_amount() {
        let json = CallError::limit("max_read_bytes", 10, 11).to_json();
        assert_eq!(json["limit"], "max_read_bytes");
        assert_eq!(json["value"], 10);
        assert_eq!(json["actual"], 11);
    }
}
