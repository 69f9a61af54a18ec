//! The least that a server can do: one thread, std, the same answers.

use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Set in the environment of a process that is to be the floor.
pub(crate) const MARK: &str = "MCP_BENCH_FLOOR";

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(default)]
    params: Value,
}

/// Answers the requests of the rows over a directory; writes go beside it.
pub(crate) fn serve(inputs: &Path) {
    let mut lines = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut line = String::new();
    while lines.read_line(&mut line).unwrap() > 0 {
        let request: Request<'_> = serde_json::from_str(&line).unwrap();
        if let Some(id) = request.id {
            let result = answer(inputs, request.method, &request.params);
            let mut text = Vec::with_capacity(4096);
            write!(text, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":").unwrap();
            serde_json::to_writer(&mut text, &result).unwrap();
            text.extend_from_slice(b"}\n");
            output.write_all(&text).unwrap();
            output.flush().unwrap();
        }
        line.clear();
    }
}

fn answer(inputs: &Path, method: &str, params: &Value) -> Value {
    match method {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "floor", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [] }),
        "tools/call" => {
            let arguments = &params["arguments"];
            let path = arguments["path"].as_str().unwrap_or_default();
            let content = match params["name"].as_str().unwrap_or_default() {
                "read_file" => read(&inputs.join(path)),
                "write_file" => write(&inputs.with_file_name("work").join(path), arguments),
                "list_files" => list(&inputs.join(path)),
                "find_files" => {
                    let mut found = Vec::new();
                    walk(&inputs.join(path), &mut |file, name| {
                        if name.starts_with("file-1999") {
                            found.push(file.display().to_string());
                        }
                    });
                    vec![json!({ "paths": found }).to_string()]
                }
                "search_files" => search(&inputs.join(path)),
                _ => Vec::new(),
            };
            let block = |text: String| json!({ "type": "text", "text": text });
            let content: Vec<Value> = content.into_iter().map(block).collect();
            json!({ "content": content, "isError": false })
        }
        _ => json!({}),
    }
}

fn read(path: &Path) -> Vec<String> {
    let text = String::from_utf8(fs::read(path).unwrap()).unwrap();
    let size = text.len();
    vec![text, json!({ "path": path, "size": size }).to_string()]
}

fn write(path: &Path, arguments: &Value) -> Vec<String> {
    let content = arguments["content"].as_str().unwrap();
    let mut file = fs::File::create_new(path).unwrap();
    file.write_all(content.as_bytes()).unwrap();
    vec![json!({ "path": path, "bytes_written": content.len() }).to_string()]
}

fn list(path: &Path) -> Vec<String> {
    let mut entries: Vec<(String, &str)> = fs::read_dir(path)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            let kind = if kind.is_dir() { "directory" } else { "file" };
            (entry.file_name().into_string().unwrap(), kind)
        })
        .collect();
    entries.sort();
    let entries: Vec<Value> = entries
        .into_iter()
        .map(|(name, kind)| json!({ "name": name, "type": kind }))
        .collect();
    vec![json!({ "count": entries.len(), "entries": entries }).to_string()]
}

fn walk(directory: &Path, visit: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        match entry.file_type().unwrap().is_dir() {
            true => walk(&path, visit),
            false => visit(&path, &entry.file_name().to_string_lossy()),
        }
    }
}

fn search(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    walk(directory, &mut |path, _| {
        let text = fs::read_to_string(path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if line.contains("needle") {
                found.push(json!({ "path": path, "line": number + 1, "text": line }));
            }
        }
    });
    vec![json!({ "matches": found }).to_string()]
}
