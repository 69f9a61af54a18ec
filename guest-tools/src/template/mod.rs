//! Templates: placeholders, conditions and loops over given values, and nothing else.
//!
//! The engine is `minijinja`, without includes, macros or loaders. What it does is counted,
//! so a loop ends; what it writes is limited. Text that only looks like a placeholder stays
//! text: see [`source`].

mod counted;
mod missing;
mod output;
mod source;
mod values;
mod words;

use crate::tool::Failure;
use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};
use output::Bounded;
use serde_json::json;
use source::{Source, Unclosed};
use std::collections::BTreeSet;
pub(crate) use values::Variables;

/// Steps of the engine: some seconds in the guest, and a loop over all that fits an answer.
const MOST_STEPS: u64 = 5_000_000;
/// The variable by which a template reaches variables whose names are no identifiers.
const ALL: &str = "__variables";

/// A template with its placeholders filled in.
#[derive(Debug)]
pub(crate) struct Filled {
    pub(crate) text: String,
    /// How many of the variables the template names.
    pub(crate) used: usize,
}

/// Fills in a template. Where it is not `strict`, what is missing is left empty.
///
/// # Errors
/// `invalid-arguments` for a template that cannot be read, for missing variables (all of
/// them) and for values that cannot stand in a text; `limit-exceeded`.
pub(crate) fn fill(template: &str, variables: &Variables, strict: bool) -> Result<Filled, Failure> {
    let mut engine = Environment::new();
    counted::bound(&mut engine);
    words::plain_words(&mut engine);
    // It prints what the engine is made of.
    engine.remove_global("debug");
    engine.set_keep_trailing_newline(true);
    engine.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    engine.set_fuel(Some(MOST_STEPS));
    engine.set_undefined_behavior(match strict {
        true => UndefinedBehavior::Strict,
        false => UndefinedBehavior::Chainable,
    });
    engine.set_formatter(|out, _, value| match value.kind() {
        // As JSON has them; the engine's own words are those of Python.
        ValueKind::Bool => Ok(write!(out, "{}", value.is_true())?),
        ValueKind::Number if is_endless(value) => {
            Err(Error::new(ErrorKind::InvalidOperation, ENDLESS))
        }
        ValueKind::String | ValueKind::Number => Ok(write!(out, "{value}")?),
        ValueKind::Undefined => Ok(()),
        _ => Err(Error::new(ErrorKind::NonPrimitive, NO_TEXT)),
    });
    let source = Source::of(template, variables);
    if let Some(unclosed) = &source.unclosed {
        return Err(not_closed(unclosed));
    }
    if strict && !source.unknown.is_empty() {
        let all = missing::names(&engine, &source, variables);
        return Err(missing_variables(&all));
    }
    render(&engine, &source, variables, strict)
}

const ENDLESS: &str = "the result is no finite number, as where something is divided by zero";

/// Whether a number is infinite or none at all.
fn is_endless(value: &Value) -> bool {
    f64::try_from(value.clone()).is_ok_and(|number| !number.is_finite())
}

const NO_TEXT: &str = "a list, an object or null cannot stand in a text";

fn render(
    engine: &Environment<'_>,
    source: &Source<'_>,
    variables: &Variables,
    strict: bool,
) -> Result<Filled, Failure> {
    let compiled = engine
        .template_from_str(&source.text)
        .map_err(|error| unreadable(&error))?;
    let values = values::context(variables)?;
    let mut output = Bounded::default();
    match compiled.render_captured_to(values, &mut output) {
        Ok(_) => {}
        Err(error) if strict && error.kind() == ErrorKind::UndefinedError => {
            return Err(undefined(
                &error,
                &missing::names(engine, source, variables),
            ));
        }
        Err(error) => {
            return Err(output
                .exceeded()
                .unwrap_or_else(|| failed(&error, source, variables)));
        }
    }
    let top_level = compiled.undeclared_variables(false);
    let mut used: BTreeSet<&str> = source.named.clone();
    used.extend(
        variables
            .keys()
            .map(String::as_str)
            .filter(|name| top_level.contains(*name)),
    );
    Ok(Filled {
        text: output.into_text(),
        used: used.len(),
    })
}

fn unreadable(error: &Error) -> Failure {
    Failure::invalid_arguments(format!("{}{}", place(error), said(error))).hint(
        "write `{{name}}`, `{% if x %}…{% else %}…{% endif %}` and \
         `{% for x in list %}…{% endfor %}`; put text with `{%` in it between `{% raw %}` and \
         `{% endraw %}`",
    )
}

fn not_closed(unclosed: &Unclosed<'_>) -> Failure {
    let Unclosed { name, line, column } = unclosed;
    Failure::invalid_arguments(format!(
        "line {line} of the template: the placeholder `{{{{{name}` at column {column} is not closed"
    ))
    .hint(format!(
        "write `{{{{{name}}}}}`; put text with `{{{{` in it between `{{% raw %}}` and `{{% endraw %}}`"
    ))
    .details(&json!({ "line": line, "column": column }))
}

fn failed(error: &Error, source: &Source<'_>, variables: &Variables) -> Failure {
    match error.kind() {
        ErrorKind::OutOfFuel => {
            Failure::limit_exceeded("template steps", MOST_STEPS, MOST_STEPS + 1)
                .hint("make the loops shorter, or fill in several templates")
        }
        ErrorKind::NonPrimitive if said(error) == NO_TEXT => no_text(error, source, variables),
        _ => Failure::invalid_arguments(format!("{}{}", place(error), said(error)))
            .hint("correct the template there, or give the values that it needs"),
    }
}

fn no_text(error: &Error, source: &Source<'_>, variables: &Variables) -> Failure {
    let culprit = source
        .named
        .iter()
        .find(|name| values::is_no_text(&variables[**name]));
    match culprit {
        Some(name) => Failure::invalid_arguments(format!(
            "variable `{name}` is neither a string nor a number nor a boolean"
        ))
        .hint(format!(
            "give `{name}` as the text that is to stand in its place, or go through it with \
             `{{% for x in {name} %}}`"
        )),
        None => Failure::invalid_arguments(format!("{}{NO_TEXT}", place(error)))
            .hint("name one of its members, or go through it with `{% for x in list %}`"),
    }
}

fn undefined(error: &Error, missing: &[String]) -> Failure {
    if !missing.is_empty() {
        return missing_variables(missing);
    }
    Failure::invalid_arguments(format!("{}a name there has no value", place(error)))
        .hint("give every item the members that the template names, or `strict: false`")
}

fn missing_variables(missing: &[String]) -> Failure {
    let noun = if missing.len() == 1 {
        "variable"
    } else {
        "variables"
    };
    let names = crate::tool::quoted(missing.iter().map(String::as_str));
    Failure::invalid_arguments(format!("missing {noun} {names}"))
        .hint("give each of them a value in `variables`")
        .details(&json!({ "missing": missing }))
}

fn place(error: &Error) -> String {
    match error.line() {
        Some(line) => format!("line {line} of the template: "),
        None => "the template: ".to_owned(),
    }
}

fn said(error: &Error) -> String {
    match error.detail() {
        Some(detail) => detail.to_owned(),
        None => error.kind().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn what_is_no_finite_number_is_refused() {
        for template in [
            "{{ 1/0 }}",
            "{{ -1/0 }}",
            "{{ 0/0 }}",
            "{{ 1e308 * 10 }}",
            "{{ (1/0)|string }}",
            "{{ (0/0)|string|upper }}",
            "{{ [1, 1/0]|join }}",
            "{{ [1, 0/0]|join(', ') }}",
            "{{ '%f'|format(1/0) }}",
            "{{ '%s'|format(-1/0) }}",
        ] {
            let failure = filled(template, json!({})).unwrap_err();
            assert_eq!(failure.code, "invalid-arguments", "{template}");
            assert!(
                failure.message.contains("no finite number"),
                "{}",
                failure.message
            );
        }
        assert_eq!(
            filled("{{ 1/2 }} {{ n }}", json!({ "n": 1e300 })).unwrap(),
            "0.5 1e+300"
        );
    }

    #[test]
    fn text_made_of_values_has_the_same_words_as_the_values() {
        let variables = json!({ "b": true, "n": 1.5, "list": ["a", false, 2] });
        for (template, text) in [
            ("{{ b }} {{ b|string }}", "true true"),
            ("{{ n|string }} {{ 7|string }}", "1.5 7"),
            (
                "{{ list|join }}|{{ list|join(', ') }}",
                "afalse2|a, false, 2",
            ),
            ("{{ 'ab'|join('-') }}", "a-b"),
            ("{{ [b, not b]|map('string')|join(' ') }}", "true false"),
            ("{{ 'x'|string }}", "x"),
        ] {
            let filled = filled(template, variables.clone());
            assert_eq!(filled.as_deref(), Ok(text), "{template}");
        }
    }

    #[test]
    fn the_engine_does_not_show_its_inside() {
        for strict in [true, false] {
            for template in [
                "{{ debug() }}",
                "{{ debug(1) }}",
                "{% set x = debug() %}{{ x }}",
            ] {
                assert!(fill_in(template, "{}", strict).is_err(), "{template}");
            }
        }
    }

    fn fill_in(template: &str, variables: &str, strict: bool) -> Result<Filled, Failure> {
        fill(template, &serde_json::from_str(variables).unwrap(), strict)
    }

    fn filled(template: &str, variables: Value) -> Result<String, Failure> {
        fill_in(template, &variables.to_string(), true).map(|filled| filled.text)
    }

    #[test]
    fn placeholders_are_replaced() {
        for (template, text) in [
            ("", ""),
            ("no placeholder\n", "no placeholder\n"),
            ("{{a}}", "1"),
            ("x{{a}}y{{ b }}z{{\ta\n}}", "x1yB $& {{a}}z1"),
            (
                "{{t}} {{f}} {{n}}",
                "true 1.50 123456789012345678901234567890",
            ),
            ("{{über-x.1}}|{{two words}}", "ü|w"),
            ("{{empty}}", ""),
        ] {
            let variables = r#"{"a":1,"b":"B $& {{a}}","t":true,"f":1.50,"über-x.1":"ü",
                "two words":"w","empty":"","n":123456789012345678901234567890}"#;
            assert_eq!(
                fill_in(template, variables, true).unwrap().text,
                text,
                "{template}"
            );
        }
    }

    #[test]
    fn members_items_conditions_and_lists_work() {
        let variables = json!({
            "user": { "name": "Ada", "first-name": "A", "tags": ["x", "y"] },
            "items": [{ "n": 1 }, { "n": 2 }], "a": "top", "none": [], "yes": true,
        });
        for (template, text) in [
            (
                "{{user.name}} {{ user.tags.1 }} {{user.first-name}}",
                "Ada y A",
            ),
            (
                "{% for i in items %}{{i.n}}{{loop.index}},{% endfor %}",
                "11,22,",
            ),
            ("{% for a in user.tags %}{{a}}{% endfor %}{{a}}", "xytop"),
            (
                "{% for i in none %}x{% else %}nothing{% endfor %}",
                "nothing",
            ),
            (
                "{% if yes and user.name == \"Ada\" %}1{% else %}2{% endif %}",
                "1",
            ),
            (
                "{{ user.name|upper }} {{ user.tags|join(\", \") }}",
                "ADA x, y",
            ),
            ("{{ missing|default(\"none\") }}", "none"),
            ("{% raw %}{{a}} {% x %}{% endraw %}", "{{a}} {% x %}"),
            ("a {{ 'x' }} { {{a}} }", "a x { top }"),
            ("{% if user.age is defined %}x{% endif %}", ""),
        ] {
            assert_eq!(
                filled(template, variables.clone()).as_deref(),
                Ok(text),
                "{template}"
            );
        }
    }

    #[test]
    fn other_braces_stay() {
        for template in [
            "{{",
            "}}",
            "{a}",
            "{{}}",
            "{{ }}",
            "{{no such}}",
            "{{no such}",
            "{{\\bf x}",
            "{{1",
            "{{{",
            "{{-",
            "{#fff}",
            "{# no comment #}",
            "{%",
            "100{%x",
            "{{> part}} {{#each x}}",
            "{\n{{",
        ] {
            assert_eq!(filled(template, json!({})).as_deref(), Ok(template));
        }
        assert_eq!(filled("{{{a}}}", json!({ "a": "x" })).as_deref(), Ok("{x}"));
        let raw = "{% raw %}{{a{% endraw %} {{";
        assert_eq!(filled(raw, json!({})).as_deref(), Ok("{{a {{"));
    }

    #[test]
    fn a_placeholder_that_is_not_closed_is_refused_with_its_place() {
        for (template, place) in [
            ("{{a", (1, 1)),
            ("{{a}", (1, 1)),
            ("{{ a }", (1, 1)),
            ("{{a{{a}}", (1, 1)),
            ("{{a {% if a %}x{% endif %}", (1, 1)),
            ("x\n\u{e4}{{ a,\nmore\n", (2, 2)),
            ("{{a}}\n{{- a.b\n{{a}}", (2, 1)),
            ("{{a|upper}", (1, 1)),
            ("{{{a}", (1, 2)),
        ] {
            for strict in [true, false] {
                let failure = fill_in(template, r#"{"a":1}"#, strict).unwrap_err();
                assert_eq!(failure.code, "invalid-arguments", "{template}");
                let (line, column) = place;
                let expected = json!({ "line": line, "column": column }).to_string();
                assert_eq!(failure.details, expected, "{template}");
                assert!(failure.hint.contains("raw"));
            }
        }
    }

    #[test]
    fn all_missing_variables_are_listed() {
        let failure = filled("{{a}}{{b}}{{c}}{{b}}", json!({ "a": 1 })).unwrap_err();
        assert_eq!(failure.code, "invalid-arguments");
        assert_eq!(failure.message, "missing variables `b`, `c`");
        assert_eq!(failure.details, r#"{"missing":["b","c"]}"#);
        let template = "{{u.name}}{{no-1}}{% for i in list %}{{i.x}}{{far}}{% endfor %}{{u.age}}";
        let failure = filled(template, json!({ "u": { "name": "n" } })).unwrap_err();
        assert_eq!(
            failure.details,
            r#"{"missing":["far","list","no-1","u.age"]}"#
        );
        let failure = filled(
            "{% for i in l %}\n{{i.x}}{% endfor %}",
            json!({ "l": [{}] }),
        )
        .unwrap_err();
        assert!(
            failure.message.starts_with("line 2 of the template"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn what_is_missing_is_left_empty_where_that_is_wanted() {
        let answer = fill_in(
            "a{{b}}{{c.d.e}}{{no-1}}{% for i in l %}x{% endfor %}z",
            "{}",
            false,
        );
        assert_eq!(answer.unwrap().text, "az");
    }

    #[test]
    fn values_that_are_no_text_are_refused() {
        for value in [json!(null), json!([1]), json!({})] {
            let failure = filled("{{a}}", json!({ "a": value })).unwrap_err();
            assert_eq!(failure.code, "invalid-arguments");
            assert!(
                failure.message.starts_with("variable `a` is neither"),
                "{}",
                failure.message
            );
        }
    }

    #[test]
    fn a_template_that_cannot_be_read_is_refused_with_its_line() {
        for template in [
            "\n{% if a %}x",
            "\n{% for %}{% endfor %}",
            "\n{{ a|nosuch }}",
            "\n{% include 'x' %}",
        ] {
            let failure = filled(template, json!({ "a": 1 })).unwrap_err();
            assert_eq!(failure.code, "invalid-arguments", "{template}");
            assert!(failure.message.contains("line 2"), "{}", failure.message);
        }
    }

    /// Each of these made the engine ask for more memory than there is.
    #[test]
    fn counts_that_only_take_memory_are_refused() {
        for template in [
            "{{ [1]|batch(4000000000) }}",
            "{{ [1]|batch(2, 4000000000)|batch(4294967295)|length }}",
            "{{ [1]|slice(4000000000) }}",
            "{{ 'x\ny'|indent(4000000000) }}",
            "{{ 'x\ny'|indent(width=4000000000) }}",
            "{{ '%4000000000d'|format(1) }}",
            "{{ '%.4000000000f'|format(1.5) }}",
            "{{ '%*d'|format(4000000000, 1) }}",
            "{{ 'x' * 4000000000 }}",
            "{{ range(4000000000)|length }}",
        ] {
            let failure = filled(template, json!({})).unwrap_err();
            let is_known = matches!(failure.code, "invalid-arguments" | "limit-exceeded");
            assert!(
                is_known && !failure.hint.is_empty(),
                "{template}: {failure:?}"
            );
        }
        for (template, text) in [
            ("{{ [1, 2, 3]|batch(2)|map('join')|join(' ') }}", "12 3"),
            ("{{ [1, 2, 3]|slice(2)|map('join')|join(' ') }}", "12 3"),
            ("{{ 'x\ny'|indent(2) }}", "x\n  y"),
            ("{{ '%05d'|format(7) }}", "00007"),
            (
                "{{ 'no. 1234567: %d'|format(7654321) }}",
                "no. 1234567: 7654321",
            ),
        ] {
            assert_eq!(
                filled(template, json!({})).as_deref(),
                Ok(text),
                "{template}"
            );
        }
    }

    #[test]
    fn text_and_steps_are_limited() {
        let failure =
            filled(&"{{a}}".repeat(17), json!({ "a": "x".repeat(1024 * 1024) })).unwrap_err();
        assert_eq!(failure.code, "limit-exceeded");
        let list = vec![1; 2000];
        let nested =
            "{% for a in l %}{% for b in l %}{% for c in l %}{% endfor %}{% endfor %}{% endfor %}";
        let failure = filled(nested, json!({ "l": list })).unwrap_err();
        assert_eq!(failure.code, "limit-exceeded");
        assert!(
            failure.message.contains("template steps"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn variables_are_counted_once_each() {
        let used = |template| {
            fill_in(template, r#"{"a":1,"b":2,"c":3}"#, true)
                .unwrap()
                .used
        };
        assert_eq!(used("{{a}}{{a}}{{b}}"), 2);
        assert_eq!(used("{% if a %}{{b}}{% endif %}"), 2);
    }

    #[test]
    fn deep_values_are_refused() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(
            fill_in("{{a}}", &deep, true).unwrap_err().code,
            "invalid-arguments"
        );
    }
}
