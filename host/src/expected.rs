//! What the caller says it has seen: the guard against writing over someone else's work.
//!
//! The host reads this from the arguments itself, so a component cannot forget it.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::arguments;
use crate::component::{Definition, PathRole};
use crate::error::{CallError, code};

/// What the caller's arguments bind the commit to, and what they consent to.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallerWord {
    pub(crate) expected: Option<Expected>,
    /// Whether the caller asked for a directory to be deleted with what it holds, and where
    /// the tool has a word for that, insisted.
    pub(crate) recursive: bool,
}

/// The state that the caller expects of one target.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// The path argument that is guarded, as given.
    pub(crate) path: String,
    version: Option<String>,
    sha256: Option<String>,
}

impl CallerWord {
    /// Reads the arguments, a JSON object.
    pub(crate) fn read(arguments: &str, definition: &Definition) -> Result<Self, CallError> {
        // A name can also be spelled with escapes.
        let may_say = ["expected_", "recursive", "\\u"];
        if !may_say.iter().any(|word| arguments.contains(word)) {
            return Ok(Self::default());
        }
        // What the host cannot read, the tool might, and not hear that it is bound.
        let arguments = arguments::members(arguments)?;
        let version = text_of(&arguments, "expected_version", 32)?;
        let sha256 = text_of(&arguments, "expected_sha256", 64)?;
        let guarded = definition
            .paths
            .iter()
            .find(|argument| argument.guarded)
            .and_then(|argument| arguments.get(&argument.pointer))
            .and_then(Value::as_str);
        let expected = match (guarded, version.is_some() || sha256.is_some()) {
            (Some(path), true) => Some(Expected {
                path: path.to_owned(),
                version,
                sha256,
            }),
            _ => None,
        };
        Ok(Self {
            expected,
            // Another tool may mean a recursive search by it.
            recursive: says(&arguments, "recursive")
                && (says(&arguments, "force") || !definition.takes("force"))
                && definition
                    .paths
                    .iter()
                    .any(|argument| argument.role == PathRole::Delete),
        })
    }
}

fn says(arguments: &serde_json::Map<String, Value>, name: &str) -> bool {
    arguments.get(name) == Some(&Value::Bool(true))
}

fn text_of(
    arguments: &serde_json::Map<String, Value>,
    name: &str,
    digits: usize,
) -> Result<Option<String>, CallError> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text))
            if text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit()) =>
        {
            Ok(Some(text.to_ascii_lowercase()))
        }
        Some(_) => Err(CallError::new(
            code::INVALID_ARGUMENTS,
            format!("`{name}` is not {digits} hexadecimal digits"),
        )
        .hint_of("give the value that reading the file answered")),
    }
}

impl Expected {
    /// Whether an effect on `path` is the one that is guarded. Both are spellings of one
    /// caller, so they are compared as text, apart from `.` and doubled slashes.
    pub(crate) fn is_about(&self, path: &str) -> bool {
        let names = |path: &str| -> Vec<String> {
            let ordinary = |name: &&str| !name.is_empty() && *name != ".";
            path.split('/')
                .filter(ordinary)
                .map(str::to_owned)
                .collect()
        };
        names(&self.path) == names(path)
    }

    pub(crate) fn wants_content(&self) -> bool {
        self.sha256.is_some()
    }

    /// Compares with what stands there now.
    pub(crate) fn agrees(&self, version: &str, content: impl FnOnce() -> Option<Vec<u8>>) -> bool {
        let version_agrees = self
            .version
            .as_deref()
            .is_none_or(|expected| expected == version);
        let content_agrees = || match &self.sha256 {
            None => true,
            Some(expected) => content()
                .is_some_and(|bytes| crate::random::hex_of(&Sha256::digest(&bytes)) == *expected),
        };
        version_agrees && content_agrees()
    }
}

/// The answer when the caller has not seen what is there.
pub(crate) fn stale(reason: &'static str) -> CallError {
    let message = match reason {
        "absent" => "the file that the call expects does not exist",
        "other-target" => "the call would change another existing file than the one it expects",
        _ => "the file is not what the call expects",
    };
    CallError::new(code::CONFLICT, message)
        .reason_of(reason)
        .hint_of("read the file again and decide anew")
}
