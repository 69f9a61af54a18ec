//! Why parts of an answer were refused.
//!
//! WASI error codes carry no reasons. A tool that goes on after a refusal, such as one that
//! reads many files, names the path it could not open, and the host, which keeps a record,
//! says why in its place.

use std::collections::HashMap;

use serde_json::Value;

use crate::error::CallError;

/// What stands in an answer where the host is to say why. In compact JSON this sequence of
/// bytes cannot occur inside a string, where quotes are escaped.
const REFUSED: &str = "\"error\":{\"refused\":";
/// Paths that are remembered: more than a tool takes in one call, and few enough that a
/// guest cannot fill the host's memory with them, or with an answer.
const MAX_PATHS: usize = 1000;
/// Bytes of paths that are remembered, for the same reason.
const MAX_PATH_BYTES: usize = 1 << 20;

/// The last failure after each opening of a path.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    opening: String,
    of_paths: HashMap<String, CallError>,
    path_bytes: usize,
}

impl Failures {
    /// What fails from here on is about this path.
    pub(crate) fn opening(&mut self, path: &str) {
        self.opening.clear();
        if path.len() <= MAX_PATH_BYTES - self.path_bytes {
            self.opening.push_str(path);
        }
    }

    /// The path that the last failure is about.
    pub(crate) fn at_hand(&self) -> &str {
        &self.opening
    }

    pub(crate) fn note(&mut self, error: &CallError) {
        if let Some(earlier) = self.of_paths.get_mut(&self.opening) {
            *earlier = error.clone();
        } else if self.of_paths.len() < MAX_PATHS {
            self.path_bytes += self.opening.len();
            self.of_paths.insert(self.opening.clone(), error.clone());
        }
    }

    /// Looks at every failure that the answer asks for, with its path, to say more of it.
    pub(crate) fn revise(&mut self, fields: &str, mut revise: impl FnMut(&str, &mut CallError)) {
        if !fields.contains(REFUSED) {
            return;
        }
        for (path, error) in &mut self.of_paths {
            let asked = format!("{REFUSED}{}}}", Value::from(path.as_str()));
            if fields.contains(&asked) {
                revise(path, error);
            }
        }
    }

    /// Says why wherever the answer names a path of which there is a record.
    pub(crate) fn fill_in(&self, fields: String) -> String {
        if self.of_paths.is_empty() {
            return fields;
        }
        let mut text = String::new();
        let mut rest = fields.as_str();
        for _ in 0..MAX_PATHS {
            let Some(at) = rest.find(REFUSED) else { break };
            let (before, place) = rest.split_at(at);
            text.push_str(before);
            rest = match self.known(&place[REFUSED.len()..]) {
                Some((error, behind)) => {
                    text.push_str("\"error\":");
                    text.push_str(&error.to_json().to_string());
                    behind
                }
                None => {
                    text.push_str(REFUSED);
                    &place[REFUSED.len()..]
                }
            };
        }
        text.push_str(rest);
        text
    }

    /// The failure of the path that the text starts with, and what follows the place.
    fn known<'a>(&self, text: &'a str) -> Option<(&CallError, &'a str)> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let path = values.next()?.ok()?;
        let behind = text[values.byte_offset()..].strip_prefix('}')?;
        Some((self.of_paths.get(&path)?, behind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::code;

    fn failures() -> Failures {
        let mut failures = Failures::default();
        failures.opening("a \"b\"");
        failures.note(&CallError::new(code::NOT_FOUND, "nothing has this name"));
        failures
    }

    #[test]
    fn the_reason_stands_where_the_path_was() {
        let fields = r#"{"files":[{"path":"x","error":{"refused":"a \"b\""}},{"path":"y"}]}"#;
        let filled: Value = serde_json::from_str(&failures().fill_in(fields.into())).unwrap();
        assert_eq!(filled["files"][0]["error"]["code"], "not-found");
        assert_eq!(filled["files"][1]["path"], "y");
    }

    #[test]
    fn what_is_not_known_and_what_is_text_stays() {
        for fields in [
            r#"{"error":{"refused":"other"}}"#,
            r#"{"error":{"refused":7}}"#,
            r#"{"error":{"refused":"a \"b\"","code":"x"}}"#,
            r#"{"content":"\"error\":{\"refused\":\"a\"}"}"#,
            r#"{"error":{"refused":"#,
        ] {
            assert_eq!(failures().fill_in(fields.into()), fields);
        }
    }

    #[test]
    fn the_record_has_an_end() {
        let mut failures = Failures::default();
        for number in 0..2 * MAX_PATHS {
            failures.opening(&number.to_string());
            failures.note(&CallError::closed());
        }
        assert_eq!(failures.of_paths.len(), MAX_PATHS);
        let many = r#""error":{"refused":"1"},"#.repeat(2 * MAX_PATHS);
        let filled = failures.fill_in(many);
        assert_eq!(filled.matches("refused").count(), MAX_PATHS);
    }

    #[test]
    fn long_paths_are_remembered_within_a_limit() {
        let mut failures = Failures::default();
        for number in 0..100 {
            failures.opening(&format!("{number}{}", "/".repeat(MAX_PATH_BYTES / 9)));
            failures.note(&CallError::closed());
        }
        let bytes: usize = failures.of_paths.keys().map(String::len).sum();
        assert!(
            (MAX_PATH_BYTES / 2..=MAX_PATH_BYTES).contains(&bytes),
            "{bytes}"
        );
    }
}
