//! The tools, as MCP lists them, and the argument that the host adds to them.

use rmcp::model::{JsonObject, Tool};
use rootbound::{Definition, RiskClass, Tenant};
use serde_json::{Value, json};

/// The argument by which a call asks what it would change. The host takes it out; no tool
/// sees it.
const DRY_RUN: &str = "dry_run";

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

    /// Takes the host's argument out of a call's arguments, where the tool has it. What is not
    /// a boolean stays, and the tool refuses it as it refuses what it does not know.
    pub(super) fn take_dry_run(&self, name: &str, arguments: &mut JsonObject) -> DryRun {
        let changing = |at: usize| self.changing.get(at) == Some(&true);
        let at = self.listed.iter().position(|tool| tool.name == name);
        if !at.is_some_and(changing) {
            return DryRun::Not;
        }
        match arguments.get(DRY_RUN) {
            None => DryRun::Not,
            Some(&Value::Bool(asked)) => {
                arguments.shift_remove(DRY_RUN);
                if asked { DryRun::Asked } else { DryRun::Not }
            }
            Some(_) => DryRun::Misspelt,
        }
    }
}

/// What a call says about whether it is one to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DryRun {
    Not,
    Asked,
    /// Something that is neither true nor false.
    Misspelt,
}
