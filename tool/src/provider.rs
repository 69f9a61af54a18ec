//! The export `rootbound:tools/provider`: the tools as the host sees them.

use crate::bindings::exports::rootbound::tools::provider as wit;
use crate::{
    Content, Error, Failure, PathArgument, Risk, Role, Tool, arguments, nearest, quoted, schema,
};
use serde_json::{Value, json};

/// A tool without its types, so that all tools of a component fit one table.
#[derive(Clone, Copy)]
pub struct Registered {
    name: &'static str,
    suggested: bool,
    definition: fn() -> Definition,
    run: fn(&str) -> Answer,
    parse: fn(&str) -> Result<(), Failure>,
}

/// Fields as JSON text, and the payload.
type Answer = Result<(String, Content), Error>;

impl Registered {
    /// The tool of a type.
    #[must_use]
    pub const fn new<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            suggested: T::SUGGESTED,
            definition: define::<T>,
            run: run::<T>,
            parse: |arguments| arguments::parse::<T>(arguments).map(drop),
        }
    }

    /// The tool's [`NAME`](Tool::NAME).
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What front-ends show of the tool. The schemas are derived anew each time.
    #[must_use]
    pub fn definition(&self) -> Definition {
        (self.definition)()
    }

    /// Reads arguments, a JSON object as text, and does nothing with them.
    ///
    /// # Errors
    /// `invalid-arguments`, as in a call.
    pub fn parse(&self, arguments: &str) -> Result<(), Failure> {
        (self.parse)(arguments)
    }

    /// Calls the tool: the fields of its answer as JSON text, and the payload.
    ///
    /// # Errors
    /// `invalid-arguments`, and whatever the tool answers.
    pub fn call(&self, arguments: &str) -> Result<(String, Content), Error> {
        (self.run)(arguments)
    }
}

/// A tool as front-ends show it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The tool's [`NAME`](Tool::NAME).
    pub name: &'static str,
    /// The tool's [`TITLE`](Tool::TITLE).
    pub title: &'static str,
    /// The tool's [`DESCRIPTION`](Tool::DESCRIPTION).
    pub description: &'static str,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of the result's fields.
    pub output_schema: Value,
    /// The tool's [`RISK`](Tool::RISK).
    pub risk: Risk,
    /// The tool's [`PATHS`](Tool::PATHS).
    pub paths: &'static [PathArgument],
}

fn define<T: Tool>() -> Definition {
    Definition {
        name: T::NAME,
        title: T::TITLE,
        description: T::DESCRIPTION,
        input_schema: schema::input::<T>(),
        output_schema: schema::output::<T>(),
        risk: T::RISK,
        paths: T::PATHS,
    }
}

fn run<T: Tool>(arguments: &str) -> Answer {
    Ok(T::run(arguments::parse::<T>(arguments)?)?.into_parts())
}

/// What [`export!`](crate::export) exports.
#[doc(hidden)]
pub fn list_tools(tools: &[Registered]) -> Vec<wit::Definition> {
    tools.iter().map(|tool| tool.definition().into()).collect()
}

/// What [`export!`](crate::export) exports.
#[doc(hidden)]
pub fn call_tool(
    tools: &[Registered],
    name: &str,
    arguments: &str,
) -> Result<wit::Output, wit::ToolError> {
    #[cfg(target_arch = "wasm32")]
    crate::memory::ask_for_what_cannot_be_had();
    match tools.iter().find(|tool| tool.name == name) {
        Some(tool) => Ok(output(tool.call(arguments)?)),
        None => Err(Error::from(unknown_tool(tools, name)).into()),
    }
}

fn unknown_tool(tools: &[Registered], name: &str) -> Failure {
    let suggested = tools.iter().filter(|tool| tool.suggested);
    let known: Vec<&str> = suggested.map(Registered::name).collect();
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known tools: {}", quoted(known.iter().copied())),
    };
    Failure::new("unknown-tool", format!("there is no tool `{name}`"))
        .hint(hint)
        .details(&json!({ "known": known }))
}

fn output((fields, content): (String, Content)) -> wit::Output {
    let content = match content {
        Content::None => wit::Content::None,
        Content::Text(text) => wit::Content::Text(text),
        Content::Bytes { data, mime_type } => wit::Content::Bytes(wit::Blob { data, mime_type }),
    };
    wit::Output { fields, content }
}

impl From<Definition> for wit::Definition {
    fn from(definition: Definition) -> Self {
        Self {
            name: definition.name.to_owned(),
            title: definition.title.to_owned(),
            description: definition.description.to_owned(),
            input_schema: definition.input_schema.to_string(),
            output_schema: definition.output_schema.to_string(),
            risk: definition.risk.into(),
            paths: definition.paths.iter().copied().map(Into::into).collect(),
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

/// Makes a component of tools.
///
/// `export!(ToolA, ToolB)` exports `rootbound:tools/provider` with these tools, in the order
/// in which front-ends show them. It also defines the table `TOOLS` where it stands, and a
/// test that [`check`](crate::check)s them.
///
/// A crate exports once.
#[macro_export]
macro_rules! export {
    ($($tool:ty),+ $(,)?) => {
        /// The tools of this component, in the order in which front-ends show them.
        #[allow(dead_code, reason = "it is there for tests, too")]
        pub(crate) const TOOLS: &[$crate::Registered] =
            &[$($crate::Registered::new::<$tool>()),+];

        #[cfg(test)]
        #[test]
        fn every_tool_is_fit_to_be_shown() {
            $crate::check(TOOLS);
        }

        const _: () = {
            use $crate::bindings::exports::rootbound::tools::provider;

            struct Component;

            impl provider::Guest for Component {
                fn list_tools() -> ::std::vec::Vec<provider::Definition> {
                    $crate::list_tools(TOOLS)
                }

                fn call_tool(
                    name: ::std::string::String,
                    arguments: ::std::string::String,
                ) -> ::std::result::Result<provider::Output, provider::ToolError> {
                    $crate::call_tool(TOOLS, &name, &arguments)
                }
            }

            // A native linker refuses the names of the exports as symbols.
            #[cfg(target_arch = "wasm32")]
            #[allow(unsafe_code, reason = "generated glue, called by the host only")]
            const _: () = {
                $crate::bindings::export_component!(Component with_types_in $crate::bindings);
            };
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn named(name: &'static str, suggested: bool) -> Registered {
        Registered {
            name,
            suggested,
            definition: || unreachable!("nobody asks for it"),
            run: |_| Err(Error::Host),
            parse: |_| Ok(()),
        }
    }

    const TOOLS: &[Registered] = &[
        named("read_file", true),
        named("write_file", true),
        named("everything", false),
    ];

    #[test]
    fn a_near_miss_of_a_tool_name_is_suggested() {
        let failure = unknown_tool(TOOLS, "readFile");
        assert_eq!(failure.code, "unknown-tool");
        assert_eq!(failure.message, "there is no tool `readFile`");
        assert_eq!(failure.hint, "did you mean `read_file`?");
        assert_eq!(failure.details, r#"{"known":["read_file","write_file"]}"#);
    }

    #[test]
    fn a_name_that_is_near_to_none_gets_the_list() {
        for name in ["send_mail", "everythin"] {
            let hint = unknown_tool(TOOLS, name).hint;
            assert_eq!(hint, "known tools: `read_file`, `write_file`");
        }
    }

    #[test]
    fn a_failure_crosses_whole() {
        let failure: wit::Failure = Failure::new("io", "broken").hint("mend it").into();
        assert_eq!((&*failure.code, &*failure.message), ("io", "broken"));
        assert_eq!((&*failure.hint, &*failure.details), ("mend it", ""));
    }
}
