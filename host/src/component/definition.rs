//! What a component says about its tools.

use serde_json::{Map, Value, json};

use crate::bindings::provider;
use crate::default_encoding;
use crate::policy::{Operation, RiskClass};

/// What a path argument is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRole {
    /// The object is read, listed or looked up.
    Read,
    /// The file is created or replaced.
    Write,
    /// The file or directory is created.
    Create,
    /// The file or directory is deleted.
    Delete,
    /// The object is renamed away.
    MoveFrom,
    /// The object is renamed to this path.
    MoveTo,
}

impl PathRole {
    /// What a tool does there in the first place.
    pub(crate) fn operation(self) -> Operation {
        match self {
            Self::Read => Operation::Open,
            Self::Write => Operation::Change,
            Self::Create => Operation::Create,
            Self::Delete => Operation::Delete,
            Self::MoveFrom | Self::MoveTo => Operation::Rename,
        }
    }

    /// The name as the interface spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Create => "create",
            Self::Delete => "delete",
            Self::MoveFrom => "move-from",
            Self::MoveTo => "move-to",
        }
    }
}

/// An argument that carries paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathArgument {
    /// Where it stands: `path`, `paths[]`, `files[].path`.
    pub pointer: String,
    /// What the tool does there.
    pub role: PathRole,
    /// Whether `expected_version` and `expected_sha256` guard it.
    pub guarded: bool,
}

/// A tool, as front-ends show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The stable name, 64 characters or fewer.
    pub name: String,
    /// A short name for people.
    pub title: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments, as text.
    pub input_schema: String,
    /// JSON Schema of the result's fields, as text.
    pub output_schema: String,
    /// The most harm that the tool declares it can do.
    pub risk: RiskClass,
    /// The arguments that are paths.
    pub paths: Vec<PathArgument>,
}

impl Definition {
    /// The schema of the arguments as a model is to see it: without what is the operator's to
    /// say and the host's to add. It has `properties`, which some interfaces of models ask for,
    /// also where there are none.
    #[must_use]
    pub fn schema_for_models(&self) -> Value {
        let schema = serde_json::from_str(&self.input_schema);
        let mut schema: Map<String, Value> = schema.unwrap_or_default();
        schema.entry("type").or_insert_with(|| json!("object"));
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut()
            && self.takes_default_encoding()
        {
            properties.shift_remove(default_encoding::ARGUMENT);
        }
        schema.into()
    }

    /// The names by which the tool can be called besides the one that it is listed by. They stand
    /// in the output schema, which models are not shown, as `x-aliases`.
    #[must_use]
    pub fn other_names(&self) -> Vec<String> {
        let schema = serde_json::from_str::<Value>(&self.output_schema).unwrap_or_default();
        let names = schema["x-aliases"].as_array().into_iter().flatten();
        let names = names.filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    }

    /// Whether the tool has an argument of this name.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.argument(name).is_some()
    }

    /// Whether the tool has the argument by which the host passes on the operator's word on
    /// texts. One that it cannot do without is the tool's own, since the operator need not say
    /// anything.
    pub(crate) fn takes_default_encoding(&self) -> bool {
        const NAME: &str = default_encoding::ARGUMENT;
        let schema: Value = serde_json::from_str(&self.input_schema).unwrap_or_default();
        let required = schema["required"].as_array();
        let is_required = required.is_some_and(|names| names.contains(&NAME.into()));
        schema["properties"][NAME]["type"] == "string" && !is_required
    }

    /// Whether the tool has an argument of this name that is text.
    pub(crate) fn takes_text(&self, name: &str) -> bool {
        self.argument(name)
            .is_some_and(|argument| argument["type"] == "string")
    }

    fn argument(&self, name: &str) -> Option<Value> {
        let schema: Value = serde_json::from_str(&self.input_schema).ok()?;
        schema["properties"].get(name).cloned()
    }

    /// The names of the arguments, and the tool's own example without what may be left out, or
    /// whole where all may: none where it has none, or a long one.
    pub(crate) fn known_and_least(&self) -> (Vec<String>, Option<Value>) {
        // A longer one says less than the words.
        const LONG: usize = 400;
        let schema = self.schema_for_models();
        let names = schema["properties"].as_object().into_iter().flatten();
        let names = names.map(|(name, _)| name.clone()).collect();
        let required = schema["required"].as_array().into_iter().flatten();
        let whole = schema["examples"][0].as_object();
        let least = whole.map(|whole| {
            let needed = required.filter_map(|name| whole.get_key_value(name.as_str()?));
            let needed: Map<String, Value> = needed
                .map(|(name, it)| (name.clone(), it.clone()))
                .collect();
            Value::from(if needed.is_empty() {
                whole.clone()
            } else {
                needed
            })
        });
        (names, least.filter(|least| least.to_string().len() <= LONG))
    }
}

impl From<provider::Definition> for Definition {
    fn from(definition: provider::Definition) -> Self {
        Self {
            name: definition.name,
            title: definition.title,
            description: definition.description,
            input_schema: definition.input_schema,
            output_schema: definition.output_schema,
            risk: match definition.risk {
                provider::RiskClass::Read => RiskClass::Read,
                provider::RiskClass::Draft => RiskClass::Draft,
                provider::RiskClass::Destructive => RiskClass::Destructive,
                provider::RiskClass::Send => RiskClass::Send,
            },
            paths: definition.paths.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<provider::PathArgument> for PathArgument {
    fn from(argument: provider::PathArgument) -> Self {
        Self {
            pointer: argument.pointer,
            role: match argument.role {
                provider::PathRole::Read => PathRole::Read,
                provider::PathRole::Write => PathRole::Write,
                provider::PathRole::Create => PathRole::Create,
                provider::PathRole::Delete => PathRole::Delete,
                provider::PathRole::MoveFrom => PathRole::MoveFrom,
                provider::PathRole::MoveTo => PathRole::MoveTo,
            },
            guarded: argument.guarded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that finds `null` where it looks for an object drops the whole list.
    #[test]
    fn a_tool_without_arguments_has_no_properties_and_no_null() {
        for (schema, shown) in [
            (
                r#"{"type":"object"}"#,
                json!({"type": "object", "properties": {}}),
            ),
            (
                r#"{"type":"object","properties":{"default_encoding":{"type":"string"}},"additionalProperties":false}"#,
                json!({"type": "object", "properties": {}, "additionalProperties": false}),
            ),
            (
                r#"{"properties":{"default_encoding":{"type":"boolean"}}}"#,
                json!({"properties": {"default_encoding": {"type": "boolean"}}, "type": "object"}),
            ),
        ] {
            let definition = Definition {
                name: "tool".to_owned(),
                title: String::new(),
                description: String::new(),
                input_schema: schema.to_owned(),
                output_schema: String::new(),
                risk: RiskClass::Read,
                paths: Vec::new(),
            };
            assert_eq!(definition.schema_for_models(), shown);
        }
    }
}
