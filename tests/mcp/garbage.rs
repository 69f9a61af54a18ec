//! Input that is not what it should be, on a connection that goes on.

use std::io::Write;

use serde_json::{Value, json};

use super::client::{Answered, Client, GENERATIONS, Generation};
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

#[test]
fn garbage_is_answered_and_the_next_request_too() {
    for generation in GENERATIONS {
        let mut client = Client::over(&Fixture::new(), generation, &[]);
        for (line, code, id) in [
            ("hello", -32700, Value::Null),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,", -32700, Value::Null),
            ("\u{1}\u{2}", -32700, Value::Null),
            (
                "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
                -32600,
                Value::Null,
            ),
            ("{\"id\":77,\"method\":0}", -32600, json!(77)),
            // It may be an answer, and another request may have the id.
            ("{\"id\":77}", -32600, Value::Null),
            ("42", -32600, Value::Null),
        ] {
            client.send_raw(format!("{line}\n").as_bytes());
            let answer = client.receive();
            assert_eq!(
                (&answer["error"]["code"], &answer["id"]),
                (&json!(code), &id),
                "{line}"
            );
        }
        client.send_raw(b"\n  \r\n");
        client.send_raw(b"\xff\xfe\n");
        assert_eq!(client.receive()["error"]["code"], -32700);
        let list = client.request("tools/list", json!({}));
        assert!(list["result"]["tools"].is_array(), "{list}");
    }
}

#[test]
fn parameters_that_a_method_does_not_take_are_invalid_parameters() {
    for generation in GENERATIONS {
        let mut client = Client::over(&Fixture::new(), generation, &[]);
        for params in [
            json!({}),
            json!({"name": 5}),
            json!({"name": "read_file", "arguments": []}),
        ] {
            let answer = client.request("tools/call", params.clone());
            assert_eq!(answer["error"]["code"], -32602, "{params} {answer}");
        }
    }
}

#[test]
fn a_line_of_a_hundred_megabytes_is_answered_and_forgotten() {
    let mut client = Client::over(&Fixture::new(), GENERATIONS[1], &[]);
    client.send_raw(
        b"{\"jsonrpc\":\"2.0\",\"id\":\"big\",\"method\":\"tools/call\",\"params\":{\"x\":\"",
    );
    let piece = vec![b'y'; 1 << 20];
    for _ in 0..100 {
        client.send_raw(&piece);
    }
    client.send_raw(b"\"}}\n");
    let answer = client.receive();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!("big"), &json!(-32600))
    );
    assert!(
        peak_memory(client.process()) < 120 << 10,
        "{} KiB",
        peak_memory(client.process())
    );
    assert!(client.request("tools/list", json!({}))["result"].is_object());
}

/// Kibibytes that a process had in memory at most.
pub fn peak_memory(process: u32) -> u64 {
    status_of(process, "VmHWM:")
}

/// A number of `/proc/PID/status`, in kibibytes.
pub fn status_of(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The only line that is left at the end of a server.
fn last_line(client: Client) -> Value {
    let (status, lines) = client.finish();
    assert_eq!((status, lines.len()), (Some(0), 1), "{lines:?}");
    serde_json::from_str(&lines[0]).unwrap()
}

#[test]
fn a_last_message_without_the_end_of_its_line_is_answered() {
    for generation in GENERATIONS {
        let fixture = Fixture::new();
        fixture.input("notes.md", "hello");
        let mut client = Client::over(&fixture, generation, &[]);
        let mut asked = json!({ "name": "read_file", "arguments": { "path": "notes.md" } });
        client.add_meta(&mut asked);
        let request = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": asked });
        client.send_raw(request.to_string().as_bytes());
        let answer = last_line(client);
        assert_eq!(answer["id"], 5);
        assert_eq!(answer["result"]["content"][0]["text"], "hello");
    }
}

#[test]
fn half_a_message_at_the_end_is_a_parse_error() {
    for generation in GENERATIONS {
        let mut client = Client::over(&Fixture::new(), generation, &[]);
        client.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/list\"");
        assert_eq!(last_line(client)["error"]["code"], -32700);
    }
}

#[test]
fn two_requests_with_one_id_are_both_answered() {
    for generation in GENERATIONS {
        let fixture = Fixture::new();
        fixture.input("a", "first");
        fixture.input("b", "second");
        let mut client = Client::over(&fixture, generation, &[]);
        for id in [json!(7), json!("seven")] {
            for path in ["a", "b"] {
                let mut params = json!({ "name": "read_file", "arguments": { "path": path } });
                client.add_meta(&mut params);
                client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
            }
            let mut texts: Vec<String> = (0..2)
                .map(|_| {
                    let answer = client.receive();
                    assert_eq!(answer["id"], id);
                    Answered::of(&answer).text(0).to_owned()
                })
                .collect();
            texts.sort();
            assert_eq!(texts, ["first", "second"], "{generation:?}");
        }
    }
}

/// Whatever looks for a near name, or repeats one, does not take longer or say more for it.
#[test]
fn names_of_megabytes_are_refused_in_few_words() {
    let long = "read_file".repeat(300_000);
    let mut client = Client::over(&Fixture::new(), GENERATIONS[1], &[]);
    let mut arguments = json!({ "path": "a" });
    arguments[&long] = json!(1);
    let nested = json!({ "paths": [{ &long: 1 }] });
    for (tool, arguments, code) in [
        (long.as_str(), json!({}), "unknown-tool"),
        ("read_file", arguments, "invalid-arguments"),
        ("read_files", nested, "invalid-arguments"),
    ] {
        let answer = client.call(tool, arguments);
        assert_eq!(answer.code(), code);
        assert!(answer.text(0).len() < 8 << 10, "{}", answer.text(0).len());
    }
}

#[test]
fn notifications_and_answers_to_nothing_do_not_end_a_session_that_has_not_begun() {
    let mut lines = Vec::new();
    for line in [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 4 } }),
        json!({ "jsonrpc": "2.0", "id": 3, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }),
    ] {
        writeln!(lines, "{line}").unwrap();
    }
    let cli = Cli::new();
    let run = Run::with_input(&mut cli.command(["mcp"]), &lines);
    assert_eq!((run.status, &run.json()["result"]), (Some(0), &json!({})));
}

#[test]
fn no_input_at_all_is_a_clean_end() {
    let run = Cli::new().run(["mcp"]);
    assert_eq!((run.status, run.stdout.as_str()), (Some(0), ""));
}

#[test]
fn requests_in_a_file_are_all_answered() {
    let fixture = Fixture::new();
    fixture.input("notes.md", "hello");
    let mut requests = tempfile::tempfile().unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": super::client::STATELESS,
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for id in 0..20 {
        let params =
            json!({ "name": "read_file", "arguments": { "path": "notes.md" }, "_meta": meta });
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        writeln!(requests, "{request}").unwrap();
    }
    std::io::Seek::rewind(&mut requests).unwrap();
    let cli = Cli::new();
    let mut command = cli.command(["mcp", "--read"]);
    let run = Run::of(command.arg(fixture.inputs()).stdin(requests));
    assert_eq!(run.status, Some(0), "{run:?}");
    let mut ids: Vec<i64> = run
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["id"]
                .as_i64()
                .unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..20).collect::<Vec<i64>>());
}

#[test]
fn an_id_may_be_text() {
    let mut client = Client::over(&Fixture::new(), Generation::Session("2025-06-18"), &[]);
    client.send(&json!({ "jsonrpc": "2.0", "id": "a-b", "method": "ping" }));
    assert_eq!(client.receive()["id"], "a-b");
}
