//! `generate_from_template`: text with its placeholders filled in.

use crate::template::{Variables, fill};
use crate::tool::{Error, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool.
pub(crate) struct GenerateFromTemplate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    template: String,
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    variables: Variables,
    /// False leaves out what is missing
    #[schemars(extend("default" = true))]
    strict: Option<bool>,
}

/// What was used.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    variables_used: usize,
}

impl Tool for GenerateFromTemplate {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "generate_from_template";
    const TITLE: &'static str = "Fill in a template";
    const DESCRIPTION: &'static str = "Returns the template with `{{name}}` and `{{user.name}}` \
        replaced by values, which are not expanded again; also Jinja's `{% if x %}`, `{% for x in \
        list %}`, filters and `{% raw %}`. Missing variables are refused, all of them named.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[];
    const EXAMPLE: &'static str = r#"{"template":"Dear {{name}},","variables":{"name":"Ada"}}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let strict = arguments.strict.unwrap_or(true);
        let filled = fill(&arguments.template, &arguments.variables, strict)?;
        let fields = Fields {
            variables_used: filled.used,
        };
        Ok(Output::text(fields, filled.text))
    }
}
