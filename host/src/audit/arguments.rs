//! Arguments in full, for operators who ask for them: without what is written, and without
//! what looks like a secret.

use std::collections::HashSet;

use serde_json::{Map, Number, Value, json};

/// Bytes of one text that is kept.
const MAX_TEXT: usize = 4096;
/// Bytes of all arguments that are kept.
const MAX_ARGUMENTS: usize = 64 << 10;
/// Bytes of a member's name that is kept.
const MAX_NAME: usize = 128;
/// Members that carry what is written to files, or what is made into it, without `_` and `-`.
const CONTENTS: [&str; 26] = [
    "body",
    "content",
    "contents",
    "data",
    "diff",
    "filecontent",
    "filetext",
    "find",
    "insert",
    "inserttext",
    "lines",
    "newcontent",
    "newstr",
    "newstring",
    "newtext",
    "oldcontent",
    "oldstr",
    "oldstring",
    "oldtext",
    "patch",
    "replace",
    "replacement",
    "replacewith",
    "template",
    "text",
    "variables",
];
/// What the name of a secret contains, without `_` and `-`.
const SECRET_NAMES: [&str; 24] = [
    "accesskey",
    "accountkey",
    "apikey",
    "authkey",
    "authorization",
    "connectionstring",
    "cookie",
    "credential",
    "encryptionkey",
    "jwt",
    "masterkey",
    "passcode",
    "passkey",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "sessionid",
    "sharedkey",
    "signature",
    "signingkey",
    "token",
];
/// Names of secrets that are parts of many other names: only by themselves, or as the last word
/// of a name.
const SHORT_SECRET_NAMES: [&str; 6] = ["auth", "otp", "pass", "pin", "pw", "sig"];
/// What a secret begins with, wherever a word does: keys of OpenAI and Anthropic, GitHub,
/// GitLab, Slack, AWS, Google, Stripe, npm, PyPI, Hugging Face, SendGrid, DigitalOcean, Docker,
/// Groq, Vault; age; JSON Web Tokens; PEM.
const SECRET_BEGINNINGS: [&str; 34] = [
    "-----BEGIN",
    "AGE-SECRET-KEY-1",
    "AIza",
    "AKIA",
    "ASIA",
    "SG.",
    "dckr_pat_",
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
    "glrt-",
    "gsk_",
    "hf_",
    "hvs.",
    "npm_",
    "pypi-",
    "rk_live_",
    "rk_test_",
    "sk-",
    "sk_live_",
    "sk_test_",
    "whsec_",
    "xapp-",
    "xoxb-",
    "xoxc-",
    "xoxp-",
    "ya29.",
];
/// Schemes of the header `Authorization`, in any case, with a secret behind them.
const SCHEMES: [&str; 2] = ["basic", "bearer"];
/// Members that name another one, and that other one: `{"name": "Cookie", "value": "…"}`.
const NAMING: [&str; 3] = ["header", "key", "name"];
const NAMED: [&str; 2] = ["value", "values"];

/// The arguments of a call as the log keeps them, members sorted as RFC 8785 wants. What the
/// schema of the tool does not name is hidden: nobody knows what a caller put there. Nothing for
/// what is not JSON.
pub(crate) fn recorded(arguments: &[u8], schema: &str) -> Option<Value> {
    let mut value = serde_json::from_slice(arguments).ok()?;
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    match &mut value {
        Value::Object(_) => hide(&mut value, &names_in(&schema)),
        other => *other = hidden(size_of(other)),
    }
    let length = value.to_string().len();
    Some(if length > MAX_ARGUMENTS {
        hidden(length)
    } else {
        value
    })
}

/// The names that a schema has for members, at whatever depth.
fn names_in(schema: &Value) -> HashSet<&str> {
    let mut names = HashSet::new();
    let mut parts = vec![schema];
    while let Some(part) = parts.pop() {
        if let Some(properties) = part["properties"].as_object() {
            names.extend(properties.keys().map(String::as_str));
        }
        match part {
            Value::Object(members) => parts.extend(members.values()),
            Value::Array(items) => parts.extend(items),
            _ => {}
        }
    }
    names
}

fn hide(value: &mut Value, known: &HashSet<&str>) {
    match value {
        // A secret may be a name.
        Value::Object(members) if members.keys().any(|name| is_no_name(name)) => {
            *value = hidden(size_of(value));
        }
        Value::Object(members) => {
            let named = if names_secret(members) {
                &NAMED[..]
            } else {
                &[]
            };
            for (name, member) in members.iter_mut() {
                let is_open = known.contains(name.as_str())
                    && !is_one_of(name, named)
                    && !is_name_of_content(name)
                    && !is_name_of_secret(name);
                match is_open {
                    true => hide(member, known),
                    false => *member = hidden(size_of(member)),
                }
            }
            sort(members);
        }
        Value::Array(items) => hide_items(items, known),
        Value::String(text) if text.len() > MAX_TEXT || holds_secret(text) => {
            *value = hidden(text.len());
        }
        Value::Number(number) if !is_exact(number) => *value = number.to_string().into(),
        _ => {}
    }
}

/// In the words of a command line, the one behind an option may be a secret.
fn hide_items(items: &mut [Value], known: &HashSet<&str>) {
    let mut is_secret = false;
    for item in items {
        let names_secret = item.as_str().is_some_and(is_option_of_secret);
        match is_secret {
            true => *item = hidden(size_of(item)),
            false => hide(item, known),
        }
        is_secret = names_secret;
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

fn is_no_name(text: &str) -> bool {
    text.len() > MAX_NAME || holds_secret(text)
}

fn is_name_of_content(name: &str) -> bool {
    CONTENTS.contains(&plain(name).as_str())
}

fn is_name_of_secret(name: &str) -> bool {
    let plain = plain(name);
    SECRET_NAMES.iter().any(|secret| plain.contains(secret))
        || is_one_of(last_word(name), &SHORT_SECRET_NAMES)
}

/// One spelling of a name, however its words are joined.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '-'], "")
}

/// The last word of `db_pass`, `db-pass` and `dbPass`.
fn last_word(name: &str) -> &str {
    let last = name.rsplit(['_', '-']).next().unwrap_or_default();
    let begins = |&(at, letter): &(usize, char)| {
        letter.is_ascii_uppercase() && last[..at].ends_with(|c: char| c.is_ascii_lowercase())
    };
    let begin = last.char_indices().rfind(begins);
    begin.map_or(last, |(at, _)| &last[at..])
}

/// Whether a word is `--name`, of a secret that stands behind it.
fn is_option_of_secret(word: &str) -> bool {
    word.strip_prefix("--")
        .is_some_and(|name| !name.contains('=') && is_name_of_secret(name))
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
    found.any(begins)
        || has_scheme(text)
        || has_password(text)
        || has_named_secret(text)
        || has_option(text)
}

/// `Bearer value`, as in the header `Authorization`.
fn has_scheme(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut schemes = SCHEMES.iter().flat_map(|scheme| text.match_indices(scheme));
    schemes.any(|(at, scheme)| {
        let value = &text[at + scheme.len()..];
        let is_word = !text[..at].ends_with(char::is_alphanumeric);
        is_word && value.starts_with(char::is_whitespace) && value.trim_start().len() >= 8
    })
}

/// `--name value`, as on a command line.
fn has_option(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.any(is_option_of_secret) && words.next().is_some()
}

/// `name=value` and `name: value`, as in the query of a URL, in a header, in a setting.
fn has_named_secret(text: &str) -> bool {
    let is_between =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '[' | ']' | '\\');
    text.match_indices(['=', ':']).any(|(at, _)| {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let before = text[..at].trim_end_matches(is_between);
        let name = before.rsplit(|c| !is_of_name(c)).next();
        let value = text[at + 1..].trim_start_matches(is_between);
        !value.is_empty() && name.is_some_and(is_name_of_secret)
    })
}

/// `scheme://user:password@host`, also without the scheme.
fn has_password(text: &str) -> bool {
    text.split("//").skip(1).any(|rest| {
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

    /// As of a tool that takes all of these members.
    fn recorded_text(arguments: &Value) -> String {
        let mut names = Map::new();
        note_names(arguments, &mut names);
        let schema = json!({ "properties": names });
        recorded_of(&schema, arguments)
    }

    fn recorded_of(schema: &Value, arguments: &Value) -> String {
        let recorded = recorded(arguments.to_string().as_bytes(), &schema.to_string());
        recorded.map(|value| value.to_string()).unwrap_or_default()
    }

    fn note_names(value: &Value, names: &mut Map<String, Value>) {
        for (name, member) in value.as_object().into_iter().flatten() {
            names.insert(name.clone(), json!({}));
            note_names(member, names);
        }
        let items = value.as_array().into_iter().flatten();
        items.for_each(|item| note_names(item, names));
    }

    #[test]
    fn what_the_tool_does_not_take_is_hidden() {
        let edit = json!({ "properties": { "old": {}, "new": {} } });
        let schema = json!({ "properties": { "path": {}, "edits": { "items": edit } } });
        let arguments = json!({
            "path": "a.md",
            "words": "hush",
            "edits": [{ "old": "a", "instead": "hush" }],
        });
        let expected = r#"{"edits":[{"instead":{"hidden_bytes":4},"old":"a"}],"path":"a.md","words":{"hidden_bytes":4}}"#;
        assert_eq!(recorded_of(&schema, &arguments), expected);
        let long = json!({ "path": "a.md", "hush ".repeat(30): 1 });
        assert!(!recorded_of(&schema, &long).contains("hush"));
        for other in [json!(["hush"]), json!("hush"), json!([{ "path": "hush" }])] {
            assert!(!recorded_of(&schema, &other).contains("hush"), "{other}");
        }
        assert!(!recorded_of(&Value::Null, &arguments).contains("hush"));
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
            "file_text",
            "new_str",
            "old_str",
            "newText",
            "oldText",
            "replacement",
            "insert",
            "lines",
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
            json!({ "a": ["-----BEGIN PRIVATE KEY-----"] }),
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
            json!({ "line": "password\t= x" }),
            json!({ "line": "password\n=x" }),
            json!({ "line": "password\u{a0}: x" }),
            json!({ "line": "a=b&password[]=x" }),
            json!({ "line": "user[password]=x" }),
            json!({ "line": "pass=x" }),
            json!({ "line": "DB_PASS=x" }),
            json!({ "line": "{\"pass\":\"x\"}" }),
            json!({ "line": "{\\\"password\\\": \\\"x\\\"}" }),
            json!({ "line": "dbPass: x" }),
            json!({ "passcode": "x" }),
            json!({ "encryption_key": "x" }),
            json!({ "signingKey": "x" }),
            json!({ "url": "https://host/path?sv=1&sig=x" }),
            json!({ "session_id": "x" }),
            json!({ "connection_string": "x" }),
            json!({ "url": "//user:pw@host/path" }),
            json!({ "line": "BEARER abcdefgh" }),
            json!({ "line": "bearer\tabcdefgh" }),
            json!({ "line": "deploy --token x --now" }),
            json!({ "words": ["deploy", "--api-key", "x"] }),
            json!({ "line": "sk_test_0123456789" }),
            json!({ "line": "rk_test_0123456789" }),
            json!({ "line": "whsec_0123456789" }),
            json!({ "line": "hvs.0123456789" }),
            json!({ "line": "glrt-0123456789" }),
            json!({ "line": "dckr_pat_0123456789" }),
            json!({ "line": "gsk_0123456789" }),
            json!({ "line": "xoxc-0123456789" }),
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
            json!({ "path": "compass/bypass.md", "bypass": true, "design": "x" }),
            json!({ "query": "fn pass(a: u8)" }),
            json!({ "query": "the bearer of news" }),
            json!({ "line": "deploy --verbose x --token" }),
            json!({ "url": "//host/a:b@c" }),
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
