//! `generate_from_template`: text from text, and no file.

use rootbound::{AuditLog, Session};
use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::tree::names;

fn fill(template: &str, variables: Value) -> Result<String, Value> {
    let session = Session::builder().audit(AuditLog::none()).build().unwrap();
    let arguments = json!({ "template": template, "variables": variables });
    match session.call("generate_from_template", arguments) {
        Ok(output) => Ok(output.text().unwrap().to_owned()),
        Err(error) => Err(error.to_json()),
    }
}

#[test]
fn placeholders_are_replaced_and_all_else_stays() {
    for (template, variables, text) in [
        ("", json!({}), ""),
        ("plain", json!({ "unused": 1 }), "plain"),
        ("Dear {{name}},", json!({ "name": "Ada" }), "Dear Ada,"),
        ("{{ name }}{{name}}", json!({ "name": "x" }), "xx"),
        ("{{a}}", json!({ "a": "{{b}}" }), "{{b}}"),
        (
            "{{n}} {{b}} {{f}}",
            json!({ "n": -5, "b": false, "f": 2.5 }),
            "-5 false 2.5",
        ),
        ("{ {a} }} {{", json!({ "a": "x" }), "{ {a} }} {{"),
        (
            "{{a}}",
            json!({ "a": "\u{0}\n\"\u{10ffff}" }),
            "\u{0}\n\"\u{10ffff}",
        ),
        ("{{a}}", json!({ "a": "" }), ""),
    ] {
        assert_eq!(fill(template, variables), Ok(text.to_owned()), "{template}");
    }
}

#[test]
fn all_missing_variables_are_named_at_once() {
    let error = fill("{{b}} {{a}} {{c}} {{b}}", json!({ "c": "here" })).unwrap_err();
    assert_eq!(error["code"], "invalid-arguments");
    assert_eq!(error["missing"], json!(["a", "b"]));
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("`a`") && message.contains("`b`"),
        "{message}"
    );
    assert_ne!(error["hint"], "");
}

#[test]
fn values_that_are_no_text_are_refused_by_name() {
    for value in [json!(null), json!([1, 2]), json!({ "deep": 1 })] {
        let error = fill("{{a}}", json!({ "a": value })).unwrap_err();
        assert_eq!(error["code"], "invalid-arguments", "{value}");
        assert!(error["message"].to_string().contains("`a`"), "{error}");
    }
}

#[test]
fn nothing_is_read_or_written_whatever_the_template_says() {
    let fixture = Fixture::new();
    fixture.input("secret", "secret");
    let recorded = fixture.session();
    let template = "{{> secret}} {{#include secret}} ${secret} <%= read('secret') %>";
    let arguments = json!({ "template": template, "variables": {} });
    let output = recorded.call("generate_from_template", arguments).unwrap();
    assert_eq!(output.text(), Some(template));
    let kinds: Vec<Value> = recorded
        .entries()
        .iter()
        .map(|e| e["kind"].clone())
        .collect();
    assert_eq!(kinds, ["genesis", "call"]);
    assert_eq!(names(&fixture.workspace()), [""; 0]);
}

/// A short template can ask for far more than an answer may hold.
#[test]
fn a_text_that_grows_without_end_is_stopped() {
    let value = "x".repeat(1 << 20);
    let error = fill(&"{{a}}".repeat(1000), json!({ "a": value })).unwrap_err();
    assert_eq!(error["code"], "limit-exceeded");
    for fact in ["limit", "value", "actual"] {
        assert!(!error[fact].is_null(), "{error}");
    }
}
