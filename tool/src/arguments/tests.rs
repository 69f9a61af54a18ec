//! What callers get wrong, and what they are told.

use super::parse;
use crate::{Error, Failure, NoArguments, Output, PathArgument, Risk, Tool, Within};
use schemars::JsonSchema;
use serde::Deserialize;

struct Change;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Arguments {
    /// File to change
    path: String,
    content: String,
    edits: Option<Vec<Edit>>,
    names: Option<Vec<String>>,
    #[serde(default)]
    overwrite: bool,
    #[schemars(extend("default" = 5))]
    limit: Option<Within<1, 9>>,
    least: Option<Within<4, { u64::MAX }>>,
    word: Option<Word>,
    default_encoding: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Edit {
    old_text: String,
    new_text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Word {
    Strict,
    Replace,
}

impl Tool for Change {
    type Arguments = Arguments;
    type Fields = NoArguments;

    const NAME: &'static str = "change";
    const TITLE: &'static str = "Change";
    const DESCRIPTION: &'static str = "Changes nothing at all, since it is here for tests.";
    const RISK: Risk = Risk::Destructive;
    const PATHS: &'static [PathArgument] = &[PathArgument::write("path").guarded()];
    const EXAMPLE: &'static str = r#"{"path":"a","content":"b","limit":3}"#;

    fn run(_: Arguments) -> Result<Output<NoArguments>, Error> {
        Ok(Output::new(NoArguments {}))
    }
}

fn refusal(text: &str) -> Failure {
    match parse::<Change>(text) {
        Err(failure) => failure,
        Ok(_) => panic!("`{text}` was accepted"),
    }
}

#[test]
fn the_tool_of_these_tests_is_fit_to_be_shown() {
    crate::check(&[crate::Registered::new::<Change>()]);
}

#[test]
fn what_is_not_an_object_is_refused_by_its_type() {
    for (text, found) in [("[1]", "an array"), ("\"a\"", "a string"), ("null", "null")] {
        let message = format!("the arguments are {found} and not a JSON object");
        assert_eq!(refusal(text).message, message);
    }
}

#[test]
fn what_is_not_json_is_refused_with_the_place() {
    for text in ["", "{", "{\"path\": \"a\",}", "path=a", r#"{"path":"a"} x"#] {
        let failure = refusal(text);
        assert_eq!(failure.code, "invalid-arguments");
        assert!(failure.message.contains("line 1"), "{}", failure.message);
    }
}

#[test]
fn every_slip_is_told_with_what_to_give_instead() {
    for (text, message, hint) in [
        (
            r#"{"path":"a"}"#,
            "argument `content` is missing",
            "give `content` as a string, such as `\"b\"`",
        ),
        (
            r#"{"content":"b"}"#,
            "argument `path` is missing",
            "give `path` as a string, such as `\"a\"`",
        ),
        (
            r#"{"path":5,"content":"b"}"#,
            "argument `path` is a number",
            "give `path` as a string, such as `\"a\"`",
        ),
        (
            r#"{"path":"a","content":"b","overwrite":"yes"}"#,
            "argument `overwrite` is a string",
            "give `overwrite` as a boolean: `true` or `false` without quotes",
        ),
        (
            r#"{"path":"a","content":"b","overwrite":null}"#,
            "argument `overwrite` is null",
            "give `overwrite` as a boolean, or leave it out",
        ),
        (
            r#"{"path":"a","content":"b","limit":"3"}"#,
            "argument `limit` is a string",
            "give `limit` as an integer, without quotes",
        ),
        (
            r#"{"path":"a","content":"b","limit":2.5}"#,
            "argument `limit` is `2.5`",
            "give `limit` as an integer without a fraction",
        ),
        (
            r#"{"path":"a","content":"b","limit":10}"#,
            "`limit` is 10, which is not from 1 to 9",
            "give a number from 1 to 9, or leave out `limit` for 5",
        ),
        (
            r#"{"path":"a","content":"b","least":-3}"#,
            "`least` is -3, which is less than 4",
            "give 4 or more, or leave out `least`",
        ),
        (
            r#"{"path":"a","content":"b","word":"replce"}"#,
            "`word` is `replce`, which is not known",
            "did you mean `replace`? it is one of `strict`, `replace`",
        ),
        (
            r#"{"path":"a","content":"b","limit":1e20}"#,
            "argument `limit` is `1e+20`",
            "give `limit` as an integer, and a smaller one",
        ),
        (
            r#"{"path":"a","content":"b","edits":[{"old_text":"x","new_text":null}]}"#,
            "argument `edits[0].new_text` is missing",
            "give `edits[0].new_text` as a string",
        ),
        (
            r#"{"path":"a","content":"b","names":["a",1]}"#,
            "argument `names[1]` is a number",
            "give `names[1]` as a string",
        ),
        (
            r#"{"path":"a","content":"b","names":"a"}"#,
            "argument `names` is a string",
            "give `names` as an array of strings",
        ),
        (
            r#"{"path":"a","content":"b","edits":"[{}]"}"#,
            "argument `edits` is a string",
            "give `edits` as an array of objects itself, not as a string that holds it",
        ),
        (
            r#"{"path":"a","content":"b","edits":[{"old_text":"x"}]}"#,
            "argument `edits[0].new_text` is missing",
            "give `edits[0].new_text` as a string",
        ),
        (
            r#"{"path":"a","content":"b","expected_version":1}"#,
            "argument `expected_version` is a number",
            "give `expected_version` as a string",
        ),
        (
            r#"{"path":"a","content":"b","path":"c"}"#,
            "duplicate field `path`",
            "give each argument once; known arguments: `path`, `content`, `edits`, `names`, \
             `overwrite`, `limit`, `least`, `word`, `expected_version`, `expected_sha256`",
        ),
    ] {
        let failure = refusal(text);
        assert_eq!(failure.code, "invalid-arguments");
        assert_eq!(
            (&*failure.message, &*failure.hint),
            (message, hint),
            "{text}"
        );
    }
}

#[test]
fn unknown_arguments_list_the_known_ones() {
    let failure = refusal(r#"{"path":"a","content":"b","overwrit":true}"#);
    assert_eq!(failure.message, "unknown argument `overwrit`");
    assert!(
        failure
            .hint
            .starts_with("did you mean `overwrite`? known arguments: `path`")
    );
    assert!(
        failure
            .details
            .starts_with(r#"{"known":["path","content","#)
    );
    let failure = refusal(r#"{"path":"a","content":"b","x":1,"y":2}"#);
    assert_eq!(failure.message, "unknown arguments `x`, `y`");
}

/// Without what may be left out: the example of the tool has more.
#[test]
fn every_refusal_shows_the_least_call_and_what_is_known() {
    for text in [
        "path=a",
        "[]",
        r#"{"path":"a"}"#,
        r#"{"path":"a","content":5}"#,
        r#"{"path":"a","content":"b","limit":10}"#,
        r#"{"path":"a","content":"b","path":"c"}"#,
        r#"{"path":"a","content":"b","x":1}"#,
    ] {
        let details = refusal(text).details;
        assert!(
            details.starts_with(r#"{"known":["path","content","edits","#),
            "{details}"
        );
        let example = r#","example":{"path":"a","content":"b"}}"#;
        assert!(details.ends_with(example), "{details}");
    }
}

#[test]
fn unknown_arguments_inside_of_others_list_what_is_known_there() {
    let failure = refusal(r#"{"path":"a","content":"b","edits":[{"oldText":"x","new_text":"y"}]}"#);
    assert_eq!(failure.message, "unknown argument `edits[0].oldText`");
    assert_eq!(
        failure.hint,
        "did you mean `old_text`? known in `edits[0]`: `old_text`, `new_text`"
    );
    assert_eq!(
        failure.details,
        r#"{"known":["old_text","new_text"],"example":{"path":"a","content":"b"}}"#
    );
}

/// Models call a path by many names.
#[test]
fn the_argument_that_is_missing_is_what_an_unknown_one_is_taken_for() {
    for name in [
        "file_path",
        "filepath",
        "filename",
        "file",
        "target",
        "Path",
        "pathname",
    ] {
        let failure = refusal(&format!(r#"{{"{name}":"a","content":"b"}}"#));
        assert!(
            failure.hint.starts_with("did you mean `path`?"),
            "{}",
            failure.hint
        );
    }
    let failure = refusal(r#"{"path":"a","text":"b"}"#);
    assert!(
        failure.hint.starts_with("did you mean `content`?"),
        "{}",
        failure.hint
    );
    let failure = refusal(r#"{"path":"a","other":7}"#);
    assert!(
        failure.hint.starts_with("known arguments"),
        "{}",
        failure.hint
    );
}

#[test]
fn what_is_called_otherwise_elsewhere_is_known() {
    for (text, meant) in [
        (r#"{"path":"a","content":"b","max_results":3}"#, "`limit`"),
        (r#"{"path":"a","content":"b","force":true}"#, "`overwrite`"),
        (r#"{"filename":"a","text":"b"}"#, "`path`, `content`"),
        (r#"{"path":"a","content":"b","head":3}"#, "`limit`"),
        (r#"{"path":"a","content":"b","end_line":3}"#, "`limit`"),
    ] {
        let hint = refusal(text).hint;
        assert!(
            hint.starts_with(&format!("did you mean {meant}?")),
            "{text}: {hint}"
        );
    }
}

/// `pattern` is near to `path` in letters alone.
#[test]
fn an_argument_of_other_tools_is_no_slip() {
    let hint = refusal(r#"{"content":"b","path":"a","pattern":"*"}"#).hint;
    assert!(hint.starts_with("known arguments"), "{hint}");
}

#[test]
fn arguments_with_something_round_them_are_told_to_come_out() {
    for name in ["arguments", "input", "params"] {
        let hint = refusal(&format!(r#"{{"{name}":{{"path":"a","content":"b"}}}}"#)).hint;
        let told = format!("give `path`, `content` by itself, without `{name}` round it; known");
        assert!(hint.starts_with(&told), "{hint}");
    }
    let hint = refusal(r#"{"input":{"other":"a"}}"#).hint;
    assert!(hint.starts_with("known arguments"), "{hint}");
}

#[test]
fn arguments_at_the_wrong_level_are_told_where_they_belong() {
    let hint = refusal(r#"{"path":"a","content":"b","old_text":"x","new_text":"y"}"#).hint;
    let belong = "`old_text`, `new_text` belong into an object in the array `edits`;";
    assert!(hint.starts_with(belong), "{hint}");
    let hint = refusal(r#"{"path":"a","content":"b","edits":[{"search":"x","replace":"y"}]}"#);
    assert!(
        hint.hint
            .starts_with("did you mean `old_text`, `new_text`?"),
        "{}",
        hint.hint
    );
    let hint = refusal(r#"{"path":"a","content":"b","old_string":"x","new_str":"y"}"#).hint;
    let belong = "`old_string`, `new_str` belong into an object in the array `edits` as \
        `old_text`, `new_text`;";
    assert!(hint.starts_with(belong), "{hint}");
}

#[test]
fn null_leaves_an_argument_out() {
    assert!(parse::<Change>(r#"{"path":"a","content":"b","limit":null,"word":null}"#).is_ok());
    let failure = refusal(r#"{"path":null,"content":"b"}"#);
    assert_eq!(failure.message, "argument `path` is missing");
}

/// The host adds it, so that the tool takes it, and no caller hears of it.
#[test]
fn what_the_host_passes_on_of_the_operator_is_not_known_to_callers() {
    assert!(parse::<Change>(r#"{"path":"a","content":"b","default_encoding":"gbk"}"#).is_ok());
    for (text, message) in [
        ("[]", "the arguments are an array and not a JSON object"),
        (
            r#"{"path":"a","content":5,"default_encoding":"gbk"}"#,
            "argument `content` is a number",
        ),
        (
            r#"{"path":"a","content":"b","defaultencoding":1,"default_encoding":"gbk"}"#,
            "unknown argument `defaultencoding`",
        ),
        (
            r#"{"path":"a","path":"b","content":"c","default_encoding":"gbk"}"#,
            "duplicate field `path`",
        ),
    ] {
        let failure = refusal(text);
        assert_eq!(failure.message, message);
        let told = [failure.hint, failure.details].concat();
        assert!(!told.contains("default_encoding"), "{told}");
    }
}
