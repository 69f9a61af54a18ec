//! The tools, as MCP lists them, and the argument that the host adds to them.

use rmcp::model::{JsonObject, Tool};
use rootbound::{Definition, RiskClass, Tenant, code};
use serde_json::{Value, json};

use crate::dry_run::{self, ARGUMENT as DRY_RUN};

/// A definition as an element of MCP's `tools/list`.
pub(crate) fn describe(definition: &Definition) -> Value {
    json!({
        "name": definition.name,
        "title": definition.title,
        "description": definition.description,
        "inputSchema": input_schema(definition),
        "annotations": annotations(definition.risk),
    })
}

/// The hints whose default in MCP says something else; what destroys says so all the same. A
/// tool that only reads is neither destructive nor idempotent to the protocol.
fn annotations(risk: RiskClass) -> Value {
    let open_world = risk == RiskClass::Send;
    match risk {
        RiskClass::Read => json!({ "readOnlyHint": true, "openWorldHint": open_world }),
        _ => json!({
            "destructiveHint": risk >= RiskClass::Destructive,
            "openWorldHint": open_world,
        }),
    }
}

fn input_schema(definition: &Definition) -> Value {
    let mut schema = definition.schema_for_models();
    if changes_something(definition)
        && let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
    {
        properties.insert(DRY_RUN.to_owned(), json!({ "type": "boolean" }));
    }
    schema
}

fn changes_something(definition: &Definition) -> bool {
    definition.risk > RiskClass::Read
}

/// The tools of all components.
#[derive(Debug)]
pub(super) struct Tools {
    listed: Vec<Tool>,
    /// Which of them change something.
    changing: Vec<bool>,
}

impl Tools {
    pub(super) fn of(tenant: &Tenant) -> Self {
        let tools = tenant.tools();
        let definitions = || tools.iter().map(|tool| &tool.definition);
        // What `describe` writes is a tool.
        let listed = definitions().filter_map(|it| serde_json::from_value(describe(it)).ok());
        Self {
            listed: listed.collect(),
            changing: definitions().map(changes_something).collect(),
        }
    }

    pub(super) fn list(&self) -> Vec<Tool> {
        self.listed.clone()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        self.listed.iter().find(|tool| tool.name == name)
    }

    /// The tool of this name, where it changes something: it takes the host's argument.
    pub(super) fn changing(&self, name: &str) -> Option<&Tool> {
        let listed = self.listed.iter().zip(&self.changing);
        let mut changing = listed.filter(|(_, changes)| **changes);
        let found = changing.find(|(tool, _)| tool.name == name);
        found.map(|(tool, _)| tool)
    }
}

/// Takes the host's argument out of a call's arguments, where the tool has it. What is not a
/// boolean stays, and the tool refuses it as it refuses what it does not know.
pub(super) fn take_dry_run(changing: Option<&Tool>, arguments: &mut JsonObject) -> DryRun {
    let Some(tool) = changing else {
        return DryRun::Not;
    };
    let is_unknown = |name: &&String| !properties(tool).any(|known| known == *name);
    match arguments.get(DRY_RUN) {
        None if arguments
            .keys()
            .filter(is_unknown)
            .any(|it| dry_run::is_meant_by(it)) =>
        {
            DryRun::Misnamed
        }
        None => DryRun::Not,
        Some(&Value::Bool(asked)) => {
            arguments.shift_remove(DRY_RUN);
            if asked { DryRun::Asked } else { DryRun::Not }
        }
        Some(_) => DryRun::Misspelt,
    }
}

/// Names the host's argument where a refusal names those that the tool knows, and says that it
/// was meant by one of another name.
pub(super) fn name_dry_run(tool: &Tool, asked: DryRun, error: &mut Value) {
    if error["code"] != code::INVALID_ARGUMENTS {
        return;
    }
    let of_tool: Vec<&String> = properties(tool).filter(|name| *name != DRY_RUN).collect();
    if error["known"] == json!(of_tool) {
        error["known"] = properties(tool).cloned().collect();
    }
    let listed: Vec<String> = of_tool.iter().map(|name| format!("`{name}`")).collect();
    let mut hint = error["hint"].as_str().unwrap_or_default().to_owned();
    if hint.ends_with(&format!("known arguments: {}", listed.join(", "))) {
        hint.push_str(&format!(", `{DRY_RUN}`"));
    }
    if asked == DryRun::Misnamed {
        hint = match hint.strip_prefix("did you mean ") {
            Some(others) => format!("did you mean `{DRY_RUN}`, {others}"),
            None => format!("did you mean `{DRY_RUN}`? {hint}"),
        };
    }
    error["hint"] = hint.into();
}

fn properties(tool: &Tool) -> impl Iterator<Item = &String> {
    let properties = tool
        .input_schema
        .get("properties")
        .and_then(Value::as_object);
    properties.into_iter().flat_map(|members| members.keys())
}

/// What a call says about whether it is one to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DryRun {
    Not,
    Asked,
    /// Something that is neither true nor false.
    Misspelt,
    /// An argument that there is not, and that may have been meant as this one.
    Misnamed,
}
