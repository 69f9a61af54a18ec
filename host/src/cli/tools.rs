//! `rootbound tools`: the definitions, as each kind of reader wants them.

use std::fmt::Write;

use rootbound::{
    AuditLog, Definition, PathArgument, Session, StartError, ToolHost, Toolset, escaped,
};
use serde_json::{Value, json};

use super::args::{ToolsArgs, ToolsFormat};
use super::components::Wanted;
use super::settings::Sources;
use super::{Exit, Failure, print};
use crate::mcp;

pub(super) fn run(args: &ToolsArgs) -> Result<Exit, Failure> {
    let wanted = args.components.load(&Sources::default())?;
    let toolset = Toolset::from(args.toolset);
    let listed = listed(&wanted, toolset)?;
    let tools: Vec<&Definition> = listed.iter().collect();
    let tools = tools.as_slice();
    match args.format {
        ToolsFormat::Text => print::text(&text(tools)),
        ToolsFormat::Json => print::json(&list(tools, everything).to_string()),
        ToolsFormat::Mcp => {
            print::json(&json!({ "tools": list(tools, mcp::describe) }).to_string())
        }
        ToolsFormat::Openai => print::json(&list(tools, openai).to_string()),
        ToolsFormat::Anthropic => print::json(&list(tools, anthropic).to_string()),
    }
    Ok(Exit::Success)
}

/// The tools of one component as it lists them, of several as a host of all of them does.
fn listed(wanted: &[Wanted], toolset: Toolset) -> Result<Vec<Definition>, Failure> {
    if let [only] = wanted {
        let tools = only.component.definitions().map_err(StartError::from)?;
        let tools = tools.iter();
        let offered = tools.filter(|it| toolset.offers(&only.component, &it.name));
        return Ok(offered.cloned().collect());
    }
    let host = ToolHost::default();
    for Wanted {
        name, component, ..
    } in wanted
    {
        let builder = Session::builder().audit(AuditLog::none()).toolset(toolset);
        let session = builder.component(component.clone()).build()?;
        host.load_session(name, session)?;
    }
    let tools = host.tools();
    Ok(tools.iter().map(|tool| tool.definition.clone()).collect())
}

fn list(tools: &[&Definition], render: fn(&Definition) -> Value) -> Value {
    tools.iter().map(|tool| render(tool)).collect()
}

fn text(tools: &[&Definition]) -> String {
    let mut text = String::new();
    for tool in tools {
        let arguments = escaped(&argument_names(tool).join(", "));
        // No line of a description can look like another tool's.
        let description = tool.description.trim_end().replace('\n', "\n    ");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}({arguments})  {}", tool.name, tool.risk.as_str());
        let _ = writeln!(text, "    {description}\n");
    }
    text
}

/// The argument names in the order of the schema; optional ones carry `?`.
fn argument_names(tool: &Definition) -> Vec<String> {
    let schema = tool.schema_for_models();
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let mark = |name: &String| match required.contains(&name.as_str()) {
        true => name.clone(),
        false => format!("{name}?"),
    };
    properties.keys().map(mark).collect()
}

fn schema(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!({ "type": "object" }))
}

pub(super) fn everything(tool: &Definition) -> Value {
    let path = |argument: &PathArgument| {
        json!({
            "pointer": argument.pointer,
            "role": argument.role.as_str(),
            "guarded": argument.guarded,
        })
    };
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "risk": tool.risk.as_str(),
        "paths": tool.paths.iter().map(path).collect::<Vec<_>>(),
        "input_schema": schema(&tool.input_schema),
        "output_schema": schema(&tool.output_schema),
    })
}

fn openai(tool: &Definition) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema_for_models(),
        },
    })
}

fn anthropic(tool: &Definition) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.schema_for_models(),
    })
}
