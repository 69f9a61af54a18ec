//! Arguments in full, for operators who ask for them: without what is written, and without
//! what looks like a secret.

use serde_json::{Map, Number, Value, json};

/// Bytes of one text that is kept.
const MAX_TEXT: usize = 4096;
/// Bytes of all arguments that are kept.
const MAX_ARGUMENTS: usize = 64 << 10;
/// Members that carry what is written to files, or what is made into it.
const CONTENTS: [&str; 16] = [
    "body",
    "content",
    "contents",
    "data",
    "find",
    "new_content",
    "new_string",
    "new_text",
    "old_content",
    "old_string",
    "old_text",
    "patch",
    "replace",
    "template",
    "text",
    "variables",
];
/// What the name of a secret contains, without `_` and `-`.
const SECRET_NAMES: [&str; 15] = [
    "accesskey",
    "accountkey",
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "jwt",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "signature",
    "token",
];
/// Names of secrets that are parts of many other names: only by themselves, or as the last word
/// of a name.
const SHORT_SECRET_NAMES: [&str; 4] = ["auth", "otp", "pin", "pw"];
/// What a secret begins with, wherever a word does: keys of OpenAI and Anthropic, GitHub,
/// GitLab, Slack, AWS, Google, Stripe, npm, PyPI, Hugging Face, SendGrid, DigitalOcean; age; JSON
/// Web Tokens; PEM.
const SECRET_BEGINNINGS: [&str; 30] = [
    "-----BEGIN",
    "AGE-SECRET-KEY-1",
    "AIza",
    "AKIA",
    "ASIA",
    "Basic ",
    "Bearer ",
    "SG.",
    "basic ",
    "bearer ",
    "doo_v1_",
    "dop_v1_",
    "dor_v1_",
    "eyJ",
    "gho_",
    "ghp_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "hf_",
    "npm_",
    "pypi-",
    "rk_live_",
    "sk-",
    "sk_live_",
    "xapp-",
    "xoxb-",
    "xoxp-",
    "ya29.",
];
/// Members that name another one, and that other one: `{"name": "Cookie", "value": "…"}`.
const NAMING: [&str; 3] = ["header", "key", "name"];
const NAMED: [&str; 2] = ["value", "values"];

/// The arguments of a call as the log keeps them, members sorted as RFC 8785 wants. Nothing
/// for what is not JSON.
pub(crate) fn recorded(arguments: &[u8]) -> Option<Value> {
    let mut value = serde_json::from_slice(arguments).ok()?;
    hide(&mut value);
    let length = value.to_string().len();
    Some(if length > MAX_ARGUMENTS {
        hidden(length)
    } else {
        value
    })
}

fn hide(value: &mut Value) {
    match value {
        // A secret may be a name.
        Value::Object(members) if members.keys().any(|name| holds_secret(name)) => {
            *value = hidden(size_of(value));
        }
        Value::Object(members) => {
            let named = if names_secret(members) {
                &NAMED[..]
            } else {
                &[]
            };
            for (name, member) in members.iter_mut() {
                let is_named = is_one_of(name, named);
                match is_named || is_one_of(name, &CONTENTS) || is_name_of_secret(name) {
                    true => *member = hidden(size_of(member)),
                    false => hide(member),
                }
            }
            sort(members);
        }
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::String(text) if text.len() > MAX_TEXT || holds_secret(text) => {
            *value = hidden(text.len());
        }
        Value::Number(number) if !is_exact(number) => *value = number.to_string().into(),
        _ => {}
    }
}

/// Says that there was something, and how long it was.
fn hidden(bytes: usize) -> Value {
    json!({ "hidden_bytes": bytes })
}

fn size_of(value: &Value) -> usize {
    value
        .as_str()
        .map_or_else(|| value.to_string().len(), str::len)
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|other| name.eq_ignore_ascii_case(other))
}

/// Whether one member says that another one is a secret.
fn names_secret(members: &Map<String, Value>) -> bool {
    members.iter().any(|(name, member)| {
        is_one_of(name, &NAMING) && member.as_str().is_some_and(is_name_of_secret)
    })
}

fn is_name_of_secret(name: &str) -> bool {
    let plain = name.to_ascii_lowercase().replace(['_', '-'], "");
    let last = name.rsplit(['_', '-']).next().unwrap_or_default();
    SECRET_NAMES.iter().any(|secret| plain.contains(secret)) || is_one_of(last, &SHORT_SECRET_NAMES)
}

/// Whether a text may not stand in the log as it is.
pub(crate) fn looks_like_secret(text: &str) -> bool {
    holds_secret(text)
}

fn holds_secret(text: &str) -> bool {
    let begins = |(at, beginning): (usize, &str)| {
        let before = text[..at].chars().next_back();
        let long = text[at..].len() >= beginning.len() + 8;
        long && !before.is_some_and(char::is_alphanumeric)
    };
    let mut found = SECRET_BEGINNINGS
        .iter()
        .flat_map(|beginning| text.match_indices(beginning));
    found.any(begins) || has_password(text) || has_named_secret(text)
}

/// `name=value` and `name: value`, as in the query of a URL, in a header, in a setting.
fn has_named_secret(text: &str) -> bool {
    text.match_indices(['=', ':']).any(|(at, _)| {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let before = text[..at].trim_end_matches([' ', '"', '\'']);
        let name = before.rsplit(|c| !is_of_name(c)).next();
        let value = text[at + 1..].trim_start_matches([' ', '"', '\'']);
        !value.is_empty() && name.is_some_and(is_name_of_secret)
    })
}

/// `scheme://user:password@host`.
fn has_password(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        let login = authority.rsplit_once('@').map(|(login, _)| login);
        login.is_some_and(|login| login.contains(':'))
    })
}

/// Whether the log can carry the number: integers, to 2^53 - 1 (RFC 8785).
fn is_exact(number: &Number) -> bool {
    let most = (1 << 53) - 1;
    number.as_u64().is_some_and(|number| number <= most)
}

/// By UTF-16 code units, as RFC 8785 does.
fn sort(members: &mut Map<String, Value>) {
    let mut sorted: Vec<(String, Value)> = std::mem::take(members).into_iter().collect();
    sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    members.extend(sorted);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded_text(arguments: &Value) -> String {
        let recorded = recorded(arguments.to_string().as_bytes());
        recorded.map(|value| value.to_string()).unwrap_or_default()
    }

    #[test]
    fn contents_are_hidden_wherever_they_stand() {
        let arguments = json!({
            "path": "notes.md",
            "content": "abc",
            "edits": [{ "old_text": "äö", "new_text": "" }],
            "variables": { "name": "Ada" },
        });
        let expected = r#"{"content":{"hidden_bytes":3},"edits":[{"new_text":{"hidden_bytes":0},"old_text":{"hidden_bytes":4}}],"path":"notes.md","variables":{"hidden_bytes":14}}"#;
        assert_eq!(recorded_text(&arguments), expected);
    }

    #[test]
    fn contents_are_hidden_by_the_names_that_others_give_them() {
        for name in [
            "old_string",
            "new_string",
            "new_content",
            "body",
            "text",
            "find",
            "replace",
        ] {
            let text = recorded_text(&json!({ name: "private words" }));
            assert!(text.contains("hidden_bytes"), "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_secret_is_hidden() {
        for secret in [
            json!({ "api_key": "x" }),
            json!({ "x": { "Access-Token": ["a", "b"] } }),
            json!({ "query": "find sk-abcdefghijkl" }),
            json!({ "url": "https://user:word@host/path" }),
            json!(["-----BEGIN PRIVATE KEY-----"]),
            json!({ "url": "https://host/path?a=b&access_token=x#c" }),
            json!({ "url": "https://host/path?X-Amz-Signature=0f" }),
            json!({ "headers": ["authorization: Digest x"] }),
            json!({ "headers": { "Authorization": ["x"] } }),
            json!({ "headers": [{ "name": "Set-Cookie", "value": "x" }] }),
            json!({ "line": "export DB_PASSWORD='x'" }),
            json!({ "line": "{\"client_secret\": \"x\"}" }),
            json!({ "a": [[{ "b": "bearer abcdefgh" }]] }),
            json!({ "a": { "ghp_abcdefghijkl": 1 } }),
            json!({ "private_key": { "d": "x" } }),
            json!({ "line": "AccountKey=x;" }),
            json!({ "pw": "x", "pin": 1234 }),
            json!({ "auth": "x" }),
            json!({ "login_otp": "123456" }),
            json!({ "query": "AGE-SECRET-KEY-1QQQQQQQQQQ" }),
            json!({ "query": "SG.abcdefgh.ijkl" }),
            json!({ "query": "dop_v1_0123456789abcdef" }),
        ] {
            let text = recorded_text(&secret);
            assert!(text.contains("hidden_bytes"), "{text}");
        }
        for plain in [
            json!({ "path": "desk-and-chairs/report.md" }),
            json!({ "url": "https://host/a:b@c" }),
            json!({ "pattern": "**/*.rs", "max": 3 }),
            json!({ "query": "password" }),
            json!({ "query": "tokens = " }),
            json!({ "path": "a/b=c: d" }),
            json!({ "name": "report", "value": "x" }),
            json!({ "author": "x", "pinned": true, "option": "x", "MSG.txt": 1 }),
            json!({ "path": "authors/pins.md" }),
        ] {
            let text = recorded_text(&plain);
            assert!(!text.contains("hidden_bytes"), "{text}");
        }
    }

    #[test]
    fn the_form_is_the_canonical_one() {
        let wild = json!({ "\u{e000}": 1, "\u{10000}": -1.5, "b": [1e30, u64::MAX, null], "a": "\u{1}\n" });
        let text = recorded_text(&wild);
        let value: Value = serde_json::from_str(&text).expect("JSON");
        let canonical = serde_json_canonicalizer::to_string(&value).expect("canonical");
        assert_eq!(text, canonical);
        assert!(text.contains(r#""-1.5""#), "{text}");
    }

    #[test]
    fn long_arguments_are_not_kept() {
        let long = json!({ "paths": vec!["p".repeat(4000); 20] });
        assert!(recorded_text(&long).starts_with(r#"{"hidden_bytes":80"#));
    }
}
