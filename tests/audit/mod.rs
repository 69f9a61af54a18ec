//! The audit log: what is in it, how its lines are bound together, and that nothing happens
//! which it could not take.

mod altered;
mod arguments;
mod chain;
mod durable;
mod entries;
#[cfg(feature = "otel")]
mod exported;
mod failing_sink;
mod files;
mod hostile;
mod killed;
mod repaired;
mod rotated;
mod schema;
mod second_verifier;
mod settled;
mod shown;
mod signed;
mod story;
mod told;
mod traced;
mod traces;
mod unwritable;
mod volume;

use serde_json::{Value, json};

/// Recomputes every hash with another implementation of RFC 8785 and follows the links.
/// Returns the entries.
fn verify(lines: &[String]) -> Vec<Value> {
    let mut previous: Option<(u64, String)> = None;
    let mut entries = Vec::new();
    for line in lines {
        let entry: Value = serde_json::from_str(line).unwrap();
        let hash = hash_of(&entry);
        assert_eq!(entry["hash"], hash, "{line}");
        let (seq, prev) = match &previous {
            Some((seq, hash)) => (seq + 1, hash.clone()),
            None => (0, "0".repeat(64)),
        };
        assert_eq!(entry["seq"], seq, "{line}");
        assert_eq!(entry["prev"], prev, "{line}");
        previous = Some((seq, hash));
        entries.push(entry);
    }
    entries
}

fn hash_of(entry: &Value) -> String {
    let mut entry = entry.clone();
    entry.as_object_mut().unwrap().remove("hash");
    let canonical = serde_json_canonicalizer::to_vec(&entry).unwrap();
    crate::support::sha256(canonical)
}

/// The lines of a log file, which ends in a line feed.
fn lines_of(file: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
    text.lines().map(str::to_owned).collect()
}

/// The first message of a client to the server.
fn initialize() -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    })
}

/// A client's call of a tool.
fn tool_call(id: u64, tool: &str, arguments: Value, meta: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}
