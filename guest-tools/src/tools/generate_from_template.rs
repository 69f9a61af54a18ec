//! `generate_from_template`: text with its placeholders filled in.

use super::schema;
use crate::template::{Variables, fill};
use crate::tool::{Error, Output, PathArgument, Risk, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

/// The tool.
pub(crate) struct GenerateFromTemplate;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    template: String,
    variables: Variables,
    strict: Option<bool>,
}

impl Tool for GenerateFromTemplate {
    type Arguments = Arguments;

    const NAME: &'static str = "generate_from_template";
    const TITLE: &'static str = "Fill in a template";
    const DESCRIPTION: &'static str = "Returns the template with `{{name}}` and `{{user.name}}` \
        replaced by values, which are not expanded again; also Jinja's `{% if x %}`, `{% for x \
        in list %}`, filters and `{% raw %}`. Touches no file. Missing variables are refused, \
        all of them named.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[];

    fn input_schema() -> Value {
        schema::arguments(
            json!({
                "template": schema::of("string"),
                "variables": { "type": "object", "additionalProperties": true },
                "strict": {
                    "type": "boolean",
                    "description": "false leaves out what is missing; default true",
                },
            }),
            &["template", "variables"],
            json!({
                "template": "Dear {{name}}, you owe {{amount}}.",
                "variables": { "name": "Ada", "amount": 12.5 },
            }),
        )
    }

    fn output_schema() -> Value {
        schema::fields(json!({ "variables_used": schema::of("integer") }))
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let strict = arguments.strict.unwrap_or(true);
        let filled = fill(&arguments.template, &arguments.variables, strict)?;
        let fields = json!({ "variables_used": filled.used });
        Ok(Output::text(&fields, filled.text))
    }
}
