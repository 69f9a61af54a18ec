//! No tool joins quietly: each that lacks something is refused here with what to add.

use crate::provider::{Definition, Registered};
use crate::schema::property_at;
use serde_json::Value;

/// Checks the tools of a component; [`export!`](crate::export) makes a test of it.
///
/// # Panics
/// With a sentence that says what is wrong and what to do about it: a name or description that
/// front-ends cannot show, a schema that some clients cannot read, an example that does not
/// parse, unknown arguments that are taken, a path argument that there is not.
pub fn check(tools: &[Registered]) {
    for tool in tools {
        let name = tool.name();
        let count = tools.iter().filter(|other| other.name() == name).count();
        assert_eq!(count, 1, "two tools are named `{name}`");
        let definition = tool.definition();
        check_words(&definition);
        check_schema(name, "arguments", &definition.input_schema);
        check_schema(name, "fields", &definition.output_schema);
        check_paths(&definition);
        check_example(tool, &definition);
    }
}

fn check_words(definition: &Definition) {
    let Definition {
        name,
        title,
        description,
        ..
    } = definition;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    assert!(
        (1..=64).contains(&name.len()) && name.chars().all(is_plain),
        "the name `{name}` is not of 1 to 64 ASCII letters, digits, `_` and `-`"
    );
    assert!(!title.is_empty(), "`{name}` has no title: set `TITLE`");
    assert!(
        description.len() > 40,
        "`{name}` says too little: `DESCRIPTION` tells a model what it does, when to use it and \
         how it refuses"
    );
    assert!(
        !description.contains("  "),
        "the description of `{name}` has a double space: check its line continuations"
    );
}

fn check_schema(name: &str, what: &str, schema: &Value) {
    assert_eq!(
        schema["type"], "object",
        "the {what} of `{name}` are no object: make them a struct with named fields"
    );
    check_plain(name, what, schema);
}

fn check_plain(name: &str, what: &str, schema: &Value) {
    for word in ["$ref", "$defs", "anyOf", "oneOf", "allOf"] {
        assert!(
            schema.get(word).is_none(),
            "the schema of the {what} of `{name}` needs `{word}`, which some clients cannot \
             read: use no types that contain themselves, and no enums whose variants hold values"
        );
    }
    assert!(
        !schema["type"].is_array(),
        "the schema of the {what} of `{name}` has a union of types, which some clients cannot \
         read: {schema}"
    );
    let properties = schema["properties"].as_object().into_iter().flatten();
    let properties = properties.map(|(_, property)| property);
    for inner in properties.chain(schema.get("items")) {
        check_plain(name, what, inner);
    }
}

fn check_paths(definition: &Definition) {
    let mut schema = definition.input_schema.clone();
    for path in definition.paths {
        let property = property_at(&mut schema, path.pointer).unwrap_or_else(|| {
            panic!(
                "`{}` declares the path argument `{}`, which it does not have",
                definition.name, path.pointer
            )
        });
        assert_eq!(
            property["type"], "string",
            "the path argument `{}` of `{}` is no string",
            path.pointer, definition.name
        );
    }
    for name in ["path", "paths[]", "file_path", "dir_path"] {
        assert!(
            property_at(&mut schema, name).is_none()
                || definition.paths.iter().any(|path| path.pointer == name),
            "`{}` takes a path in `{name}` and does not say so: add it to `PATHS`",
            definition.name
        );
    }
    let guarded = definition.paths.iter().filter(|path| path.guarded).count();
    assert!(
        guarded <= 1,
        "`{}` has {guarded} guarded paths: one version is no guard for several",
        definition.name
    );
}

fn check_example(tool: &Registered, definition: &Definition) {
    let name = tool.name();
    let mut example = definition.input_schema["examples"][0].clone();
    assert!(
        example.is_object(),
        "the example of `{name}` is no JSON object: give its arguments as text in `EXAMPLE`"
    );
    if let Err(failure) = tool.parse(&example.to_string()) {
        panic!("the example of `{name}` is refused: {}", failure.message);
    }
    example["no_such_argument"] = true.into();
    let is_refused = tool.parse(&example.to_string()).is_err();
    assert!(
        is_refused && refuses_unknown(&definition.input_schema),
        "`{name}` takes unknown arguments: put `#[serde(deny_unknown_fields)]` on its arguments \
         and on the structs in them"
    );
}

/// Whether objects with names of their own have no others.
fn refuses_unknown(schema: &Value) -> bool {
    let properties = schema["properties"].as_object();
    let is_closed = properties.is_none() || schema["additionalProperties"] == false;
    let properties = properties.into_iter().flatten();
    let mut inner = properties.map(|(_, property)| property);
    is_closed && inner.all(refuses_unknown) && schema.get("items").is_none_or(refuses_unknown)
}
