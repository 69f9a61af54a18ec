//! Which tools of the built-in component a session offers: many for one thing each, or one for
//! all.

use serde_json::{Value, json};

use crate::component::ToolComponent;
use crate::error::{CallError, code};

/// The tool that stands for all others. The contract between host and component has no word
/// for it, so that this is the one tool which the host knows by name.
const SINGLE: &str = "sandbox_filesystem";

/// Which tools of the built-in component a session offers, and how their failures look. Other
/// components' tools are all offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Toolset {
    /// All tools but the one that stands for them.
    #[default]
    Files,
    /// `sandbox_filesystem` alone, for agents that take few tools. It goes with strict paths.
    Single,
}

impl Toolset {
    /// Whether a tool of this name is one of the set.
    #[must_use]
    pub fn has(self, tool: &str) -> bool {
        (tool == SINGLE) == (self == Self::Single)
    }

    /// Whether a tool of this component is offered: a stranger's may have any name.
    #[must_use]
    pub fn offers(self, component: &ToolComponent, tool: &str) -> bool {
        !component.is_built_in() || self.has(tool)
    }

    /// What a front-end shows of a call that did not succeed: `{"error": …}`, or for the
    /// single tool `{success, data, error: {code, message, hint}}`, with `committed` and
    /// `approval` where the error has them: what was done before, and what is to be answered
    /// before the call is made again. Further facts stay in the audit log there.
    #[must_use]
    pub fn failure(self, error: &CallError) -> Value {
        match self {
            Self::Files => json!({ "error": error.to_json() }),
            Self::Single => json!({ "success": false, "data": null, "error": of_single(error) }),
        }
    }

    /// The answer to a call of a tool that is not one of the set.
    pub(crate) fn refuse(self, tool: &str) -> Result<(), CallError> {
        if self.has(tool) {
            return Ok(());
        }
        let tool: String = tool.chars().take(MAX_NAME).collect();
        let error = CallError::new(code::UNKNOWN_TOOL, format!("there is no tool `{tool}`"));
        Err(match self {
            Self::Files => error.hint_of(
                "use the tools that are listed; this one is offered instead of them, with \
                 `--toolset single`",
            ),
            Self::Single => error
                .hint_of(format!("the only tool is `{SINGLE}`"))
                .detail("known", vec![SINGLE]),
        })
    }
}

fn of_single(error: &CallError) -> Value {
    let mut said = json!({
        "code": error.code(),
        "message": error.message(),
        "hint": single_hint(error),
    });
    for name in ["approval", "committed"] {
        if let Some(value) = error.details().get(name) {
            said[name] = value.clone();
        }
    }
    said
}

/// The hint, without the tools and arguments that the single tool has not.
fn single_hint(error: &CallError) -> &str {
    match error.code() {
        // What the tool itself found missing, it has a word for.
        code::NOT_FOUND if error.details().contains_key("parent") => error.hint(),
        code::NOT_FOUND | code::NOT_A_DIRECTORY => {
            "check the spelling; the operation `list` shows what is there"
        }
        code::NOT_A_FILE => "it is a directory or a link; the operation `list` shows what is there",
        code::NOT_EMPTY => {
            "give `recursive: true` and `force: true` to delete it with what it holds"
        }
        code::LIMIT_EXCEEDED if error.details()["limit"] == "max_read_bytes" => {
            "files are read whole; the operator can raise the limit"
        }
        code::LIMIT_EXCEEDED if error.details()["limit"] == "max_write_bytes" => {
            "files are written whole: write several, or have the operator raise the limit"
        }
        _ => error.hint(),
    }
}

/// Letters of a tool's name that an answer repeats; real ones have 64 or fewer.
const MAX_NAME: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_in_one_set() {
        for tool in [SINGLE, "read_file", "a_tool_of_someone_else"] {
            assert_ne!(
                Toolset::Files.has(tool),
                Toolset::Single.has(tool),
                "{tool}"
            );
        }
        assert!(Toolset::Files.refuse("read_file").is_ok());
        let error = Toolset::Single.refuse("read_file").unwrap_err();
        assert_eq!(error.code(), code::UNKNOWN_TOOL);
        assert_eq!(error.details()["known"], json!([SINGLE]));
    }

    #[test]
    fn failures_of_the_single_tool_say_code_message_and_hint() {
        let error = CallError::limit("max_read_bytes", 10, 11);
        let failure = Toolset::Single.failure(&error);
        assert_eq!(
            (&failure["success"], &failure["data"]),
            (&json!(false), &Value::Null)
        );
        let members: Vec<&str> = failure["error"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(members, ["code", "message", "hint"]);
        let effects = json!([{ "operation": "create", "root": "workspace", "path": "a" }]);
        let further = error
            .detail("committed", effects.clone())
            .detail("approval", "id");
        let failure = &Toolset::Single.failure(&further)["error"];
        assert_eq!(
            (&failure["committed"], &failure["approval"]),
            (&effects, &json!("id"))
        );
        assert_eq!(failure.get("limit"), None);
        let error = CallError::limit("max_read_bytes", 10, 11);
        assert_eq!(
            Toolset::Files.failure(&error)["error"]["limit"],
            "max_read_bytes"
        );
    }
}
