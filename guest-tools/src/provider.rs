//! The export `rootbound:tools/provider`: the tools as the host sees them.

use crate::arguments::{nearest, quoted};
use crate::bindings::exports::rootbound::tools::provider as wit;
use crate::tool::{Content, Error, Failure, Output, PathArgument, Risk, Role, Tool};
use crate::tools::TOOLS;
use crate::tools::sandbox_filesystem::SandboxFilesystem;
use serde_json::json;

/// The component.
pub struct Component;

impl wit::Guest for Component {
    fn list_tools() -> Vec<wit::Definition> {
        TOOLS.iter().map(|tool| (tool.definition)()).collect()
    }

    fn call_tool(name: String, arguments: String) -> Result<wit::Output, wit::ToolError> {
        call(&name, &arguments).map(Into::into).map_err(Into::into)
    }
}

fn call(name: &str, arguments: &str) -> Result<Output, Error> {
    match TOOLS.iter().find(|tool| tool.name == name) {
        Some(tool) => (tool.run)(arguments),
        None => Err(unknown_tool(name).into()),
    }
}

fn unknown_tool(name: &str) -> Failure {
    // The tool that stands for all others is offered without them, and they without it.
    let with_others = |name: &&str| *name != SandboxFilesystem::NAME;
    let known = || TOOLS.iter().map(|tool| tool.name).filter(with_others);
    let hint = match nearest(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known tools: {}", quoted(known())),
    };
    Failure::new("unknown-tool", format!("there is no tool `{name}`"))
        .hint(hint)
        .details(&json!({ "known": known().collect::<Vec<_>>() }))
}

impl From<Output> for wit::Output {
    fn from(output: Output) -> Self {
        let content = match output.content {
            Content::None => wit::Content::None,
            Content::Text(text) => wit::Content::Text(text),
            Content::Bytes { data, mime_type } => {
                wit::Content::Bytes(wit::Blob { data, mime_type })
            }
        };
        Self {
            fields: output.fields,
            content,
        }
    }
}

impl From<Error> for wit::ToolError {
    fn from(error: Error) -> Self {
        match error {
            Error::Tool(failure) => Self::Tool(failure.into()),
            Error::Host => Self::Host,
        }
    }
}

impl From<Failure> for wit::Failure {
    fn from(failure: Failure) -> Self {
        Self {
            code: failure.code.to_owned(),
            message: failure.message,
            hint: failure.hint,
            details: failure.details,
        }
    }
}

impl From<Risk> for wit::RiskClass {
    fn from(risk: Risk) -> Self {
        match risk {
            Risk::Read => Self::Read,
            Risk::Draft => Self::Draft,
            Risk::Destructive => Self::Destructive,
        }
    }
}

impl From<Role> for wit::PathRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Read => Self::Read,
            Role::Write => Self::Write,
            Role::Create => Self::Create,
            Role::Delete => Self::Delete,
            Role::MoveFrom => Self::MoveFrom,
            Role::MoveTo => Self::MoveTo,
        }
    }
}

impl From<PathArgument> for wit::PathArgument {
    fn from(argument: PathArgument) -> Self {
        Self {
            pointer: argument.pointer.to_owned(),
            role: argument.role.into(),
            guarded: argument.guarded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_of_a_tool_name_is_suggested() {
        let failure = unknown_tool("readFile");
        assert_eq!(failure.code, "unknown-tool");
        assert_eq!(failure.message, "there is no tool `readFile`");
        assert_eq!(failure.hint, "did you mean `read_file`?");
        assert!(failure.details.starts_with(r#"{"known":["read_file","#));
    }

    #[test]
    fn a_name_that_is_near_to_none_gets_the_list() {
        assert!(unknown_tool("send_mail").hint.starts_with("known tools: `"));
    }

    #[test]
    fn a_failure_crosses_whole() {
        let failure: wit::Failure = Failure::new("io", "broken").hint("mend it").into();
        assert_eq!((&*failure.code, &*failure.message), ("io", "broken"));
        assert_eq!((&*failure.hint, &*failure.details), ("mend it", ""));
    }
}
