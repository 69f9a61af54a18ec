//! From what `schemars` derives to what every client can read.
//!
//! Optional values are types beside `null` there, and words are alternatives; both become
//! plain. What has no plain form is left as it is, for the check of the tools to refuse.

use serde_json::{Map, Value, json};

/// Makes a schema, and all schemas in it, plain.
pub(super) fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            simplify_members(members);
            within(members).for_each(simplify);
        }
        // Anything.
        Value::Bool(true) => *schema = json!({}),
        _ => {}
    }
}

/// The schemas that stand directly in a schema.
fn within(schema: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    schema
        .iter_mut()
        .flat_map(|(name, value)| match (&**name, value) {
            ("properties", Value::Object(properties)) => properties.values_mut().collect(),
            ("items", schema) | ("additionalProperties", schema @ Value::Object(_)) => vec![schema],
            ("anyOf" | "oneOf" | "allOf", Value::Array(schemas)) => schemas.iter_mut().collect(),
            _ => Vec::new(),
        })
}

fn simplify_members(schema: &mut Map<String, Value>) {
    // The names of Rust's structs say nothing to a caller.
    schema.shift_remove("title");
    leave_open(schema);
    merge_optional(schema);
    merge_words(schema);
    remove_null(schema);
    // A flattened struct is written inline, so that both mean the same.
    if let Some(others) = schema.shift_remove("unevaluatedProperties") {
        schema.insert("additionalProperties".to_owned(), others);
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = reflowed(text);
        // A type within arguments has `description = ""`, lest its own words stand there.
        if text.is_empty() {
            schema.shift_remove("description");
        }
    }
    // Which integer it is in Rust is told by its range.
    let is_number = matches!(schema.get("type"), Some(Value::String(kind)) if kind == "integer" || kind == "number");
    if is_number {
        schema.shift_remove("format");
    }
    // What leaving out means in any case.
    if matches!(
        schema.get("default"),
        Some(Value::Null | Value::Bool(false))
    ) {
        schema.shift_remove("default");
    }
}

/// What is always there and may be `null` is of no one type, and unions are not for every client.
fn leave_open(schema: &mut Map<String, Value>) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for name in required.as_array().into_iter().flatten() {
        let property = name.as_str().and_then(|name| properties.get_mut(name));
        if let Some(Value::Object(property)) = property
            && admits_null(property)
        {
            property.retain(|keyword, _| keyword == "description");
        }
    }
}

fn admits_null(schema: &Map<String, Value>) -> bool {
    let types = schema.get("type").and_then(Value::as_array);
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    let is_null = |alternative: &Value| alternative["type"] == "null";
    types.is_some_and(|types| types.contains(&json!("null")))
        || alternatives.is_some_and(|alternatives| alternatives.iter().any(is_null))
}

/// `anyOf` something and null: the something.
fn merge_optional(schema: &mut Map<String, Value>) {
    let Some(Value::Array(alternatives)) = schema.get("anyOf") else {
        return;
    };
    let is_null = |schema: &&Value| schema["type"] == "null";
    let others: Vec<&Value> = alternatives
        .iter()
        .filter(|schema| !is_null(schema))
        .collect();
    if let ([Value::Object(only)], true) = (&*others, others.len() < alternatives.len()) {
        let only = only.clone();
        schema.shift_remove("anyOf");
        for (name, value) in only {
            schema.entry(name).or_insert(value);
        }
    }
}

/// `oneOf` single words, as enums with documented variants have them: a list of the words.
fn merge_words(schema: &mut Map<String, Value>) {
    let Some(Value::Array(alternatives)) = schema.get("oneOf") else {
        return;
    };
    let Some(words) = alternatives
        .iter()
        .map(words_of)
        .collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let said = alternatives.iter().filter_map(|alternative| {
        let (word, said) = (&alternative["const"], alternative["description"].as_str()?);
        Some(format!("`{}`: {}", word.as_str()?, reflowed(said)))
    });
    let said: Vec<String> = schema
        .get("description")
        .and_then(Value::as_str)
        .map(reflowed)
        .into_iter()
        .chain(said)
        .collect();
    schema.shift_remove("oneOf");
    schema.insert("type".to_owned(), "string".into());
    schema.insert("enum".to_owned(), words.concat().into());
    if !said.is_empty() {
        schema.insert("description".to_owned(), said.join("; ").into());
    }
}

/// The words of one alternative, if words are all that it allows.
fn words_of(schema: &Value) -> Option<Vec<Value>> {
    if schema["type"] != "string" {
        return None;
    }
    let one = schema.get("const").map(|word| vec![word.clone()]);
    one.or_else(|| schema.get("enum")?.as_array().cloned())
}

fn remove_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = &**types {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
}

/// A doc comment as one line, without the full stop that ends it.
fn reflowed(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    line.strip_suffix('.').unwrap_or(&line).to_owned()
}

#[cfg(test)]
mod tests {
    use crate::Within;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    fn plain<S: JsonSchema>() -> Value {
        super::super::derived::<S>(schemars::generate::SchemaSettings::draft2020_12())
    }

    #[derive(Default, Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    enum Word {
        #[default]
        First,
        LastOne,
    }

    #[derive(Default, Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Told {
        #[default]
        /// Stops at what
        /// is wrong.
        Strict,
        Lax,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Inner {
        old_text: String,
        new_text: Option<String>,
    }

    /// Words about a struct.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Arguments {
        /// Where it
        /// lies.
        path: String,
        count: Option<u64>,
        limit: Option<Within<1, 10>>,
        #[serde(default)]
        deep: bool,
        word: Option<Word>,
        /// How it reads
        #[serde(default)]
        told: Told,
        edits: Vec<Inner>,
        one: Option<Inner>,
        any: BTreeMap<String, Value>,
    }

    #[derive(Serialize, JsonSchema)]
    struct Fields {
        /// Where to go on
        next: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u64>,
    }

    #[test]
    fn what_may_be_null_in_an_answer_has_no_type() {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = super::super::derived::<Fields>(settings);
        assert_eq!(
            schema["properties"]["next"],
            json!({ "description": "Where to go on" })
        );
        assert_eq!(schema["properties"]["skipped"]["type"], "integer");
        assert_eq!(schema["required"], json!(["next"]));
    }

    #[test]
    fn structs_become_plain_schemas() {
        let inner = json!({
            "type": "object",
            "properties": { "old_text": { "type": "string" }, "new_text": { "type": "string" } },
            "additionalProperties": false,
            "required": ["old_text"],
        });
        assert_eq!(
            plain::<Arguments>(),
            json!({
                "type": "object",
                "properties": {
                    "path": { "description": "Where it lies", "type": "string" },
                    "count": { "type": "integer", "minimum": 0 },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 10 },
                    "deep": { "type": "boolean" },
                    "word": { "type": "string", "enum": ["first", "lastOne"] },
                    "told": {
                        "description": "How it reads; `strict`: Stops at what is wrong",
                        "default": "strict",
                        "type": "string",
                        "enum": ["lax", "strict"],
                    },
                    "edits": { "type": "array", "items": inner },
                    "one": inner,
                    "any": { "type": "object", "additionalProperties": true },
                },
                "additionalProperties": false,
                "required": ["path", "edits", "any"],
            })
        );
    }

    #[test]
    fn properties_keep_the_order_of_the_struct() {
        let schema = plain::<Arguments>();
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(
            names,
            [
                "path", "count", "limit", "deep", "word", "told", "edits", "one", "any"
            ]
        );
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Outer {
        own: String,
        #[serde(flatten)]
        shared: Shared,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Shared {
        /// For all.
        depth: Option<u64>,
    }

    #[test]
    fn flattened_structs_are_written_inline() {
        assert_eq!(
            plain::<Outer>(),
            json!({
                "type": "object",
                "properties": {
                    "own": { "type": "string" },
                    "depth": { "description": "For all", "type": "integer", "minimum": 0 },
                },
                "additionalProperties": false,
                "required": ["own"],
            })
        );
        assert!(serde_json::from_str::<Outer>(r#"{"own":"a","depth":1}"#).is_ok());
        assert!(serde_json::from_str::<Outer>(r#"{"own":"a","deep":1}"#).is_err());
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    enum Either {
        Number(u64),
        Text(String),
    }

    #[test]
    fn what_has_no_plain_form_is_left_to_be_refused() {
        assert!(plain::<Option<Either>>().to_string().contains("anyOf"));
    }
}
