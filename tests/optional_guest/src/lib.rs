//! A component that uses each import that is granted by name, and says what it got.

mod bindings;
mod uses;

use bindings::exports::rootbound::tools::provider::{
    Content, Definition, Guest, Output, RiskClass, ToolError,
};

/// The component.
pub struct Component;

/// A tool for each use: what it got, as text.
const USES: &[(&str, fn() -> String)] = &[
    ("say_nothing", || String::from("quiet")),
    ("look_at_the_environment", uses::environment),
    ("read_the_input", uses::input),
    ("write_to_the_streams", uses::streams),
    ("flood_the_streams", uses::flood),
    ("look_for_a_terminal", uses::terminal),
    ("tell_the_time", uses::time),
    ("wait_a_little", uses::wait),
    ("wait_for_ever", uses::wait_for_ever),
    ("draw_lots", uses::lots),
    ("draw_too_many_lots", uses::too_many_lots),
    ("leave", uses::leave),
    ("open_a_socket", uses::socket),
    ("resolve_a_name", uses::resolve),
    ("hoard_networks", uses::hoard),
];

impl Guest for Component {
    fn list_tools() -> Vec<Definition> {
        let tool = |(name, _): &(&str, fn() -> String)| Definition {
            name: (*name).to_owned(),
            title: String::new(),
            description: "uses an import".to_owned(),
            input_schema: r#"{"type":"object"}"#.to_owned(),
            output_schema: r#"{"type":"object"}"#.to_owned(),
            risk: RiskClass::Read,
            paths: Vec::new(),
        };
        USES.iter().map(tool).collect()
    }

    fn call_tool(name: String, _: String) -> Result<Output, ToolError> {
        let (_, of) = (USES.iter().find(|(known, _)| *known == name)).ok_or(ToolError::Host)?;
        Ok(Output {
            fields: String::from("{}"),
            content: Content::Text(of()),
        })
    }
}
