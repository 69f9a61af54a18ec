//! Answers, confined and native, in the words of the tables.

use rootbound::{CallError, Output};
use rustix::io::Errno;
use serde_json::Value;

/// What a successful operation showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Content(Vec<u8>),
    Names(Vec<String>),
    /// Type and size.
    Object(String, u64),
    /// A directory where a file was meant, open but not read.
    Directory,
    Done,
}

/// The answer of a tool: `ok`, `ok:<type>`, a code, or `<code>:<reason or limit>`.
pub fn of_tool(operation: &str, result: &Result<Output, CallError>) -> String {
    match result {
        Err(error) => of_error(error.code(), error.reason(), error.details().get("limit")),
        Ok(output) => of_result(operation, &Value::Object(output.fields())),
    }
}

/// The answer of a tool that succeeded, by the fields of its result.
pub fn of_result(operation: &str, fields: &Value) -> String {
    if operation == "stat" {
        // Absence is an answer of one tool, and an error of the other.
        return match fields.get("exists").is_none_or(|exists| exists == true) {
            true => format!("ok:{}", fields["type"].as_str().unwrap_or_default()),
            false => "not-found".to_owned(),
        };
    }
    // One of many files has its error in its place.
    match &fields["files"][0]["error"] {
        Value::Null => "ok".to_owned(),
        error => of_error_object(error),
    }
}

/// The answer in an error object.
pub fn of_error_object(error: &Value) -> String {
    let code = error["code"].as_str().unwrap_or_default();
    of_error(code, error["reason"].as_str(), error.get("limit"))
}

/// The same, taken apart.
pub fn of_error(code: &str, reason: Option<&str>, limit: Option<&Value>) -> String {
    match reason.or(limit.and_then(Value::as_str)) {
        Some(detail) => format!("{code}:{detail}"),
        None => code.to_owned(),
    }
}

/// Whether the guard gave the answer, rather than the operating system or the tool.
pub fn is_refusal(answer: &str) -> bool {
    match answer.split_once(':') {
        Some(("ok", _)) => false,
        Some(_) => true,
        None => matches!(
            answer,
            "escape"
                | "hard-link"
                | "not-granted"
                | "pattern-denied"
                | "overwrite-denied"
                | "delete-denied"
                | "approval-required"
        ),
    }
}

/// The answer of a native call in the words of the tools.
pub fn of_native(operation: &str, result: &Result<Seen, Errno>) -> String {
    match result {
        Ok(Seen::Object(kind, _)) => format!("ok:{kind}"),
        Ok(Seen::Directory) if operation == "read" => "not-a-file".to_owned(),
        Ok(_) => "ok".to_owned(),
        Err(errno) => of_errno(*errno).to_owned(),
    }
}

fn of_errno(errno: Errno) -> &'static str {
    match errno {
        Errno::NOENT => "not-found",
        Errno::EXIST => "exists",
        Errno::NOTDIR => "not-a-directory",
        Errno::ISDIR => "not-a-file",
        Errno::NOTEMPTY => "not-empty",
        Errno::ACCESS | Errno::PERM => "permission-denied",
        Errno::LOOP => "not-a-file:symlink",
        Errno::NAMETOOLONG => "invalid-path:too-long",
        _ => "io",
    }
}

/// What a tool showed, as far as a native call shows the same.
pub fn seen(operation: &str, output: &Output) -> Seen {
    let fields = Value::Object(output.fields());
    match operation {
        "read" => Seen::Content(match output.text() {
            Some(text) => text.as_bytes().to_vec(),
            None => fields["files"][0]["content"]
                .as_str()
                .unwrap_or_default()
                .into(),
        }),
        "list" => Seen::Names(
            fields["entries"]
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| entry["name"].as_str().unwrap().to_owned())
                .collect(),
        ),
        "stat" => Seen::Object(
            fields["type"].as_str().unwrap_or_default().to_owned(),
            fields["size"].as_u64().unwrap_or_default(),
        ),
        _ => Seen::Done,
    }
}

/// A name as listings show it: bytes that are not UTF-8 as `\xHH`.
pub fn shown(name: &[u8]) -> String {
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}
