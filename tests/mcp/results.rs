//! Results and errors of calls.

use std::fs;

use serde_json::{Value, json};

use super::client::{Client, GENERATIONS, Generation, Streams};
use crate::support::Fixture;

#[test]
fn the_payload_comes_once_and_the_fields_after_it() {
    for generation in GENERATIONS {
        let fixture = Fixture::new();
        fixture.input("notes.md", "one \"two\"\n");
        let mut client = Client::over(&fixture, generation, &[]);
        let answer = client.call("read_file", json!({"path": "notes.md"}));
        assert_eq!(answer.text(0), "one \"two\"\n");
        let fields = answer.success();
        assert_eq!(
            (&fields["path"], &fields["root"]),
            (&json!("notes.md"), &json!("inputs"))
        );
        assert_eq!(fields["content"], Value::Null);
        assert_eq!(answer.result["content"].as_array().unwrap().len(), 2);
        assert!(answer.result.get("structuredContent").is_none());
        let complete = answer.result["resultType"] == "complete";
        assert_eq!(complete, generation == Generation::Stateless);
    }
}

/// The SDK's session is told of a call that says more than what it wants.
#[test]
fn a_call_is_answered_alike_whether_the_session_is_told_of_it_or_not() {
    let fixture = Fixture::new();
    fixture.input("notes.md", "one \"two\"\n");
    for asks in [json!({}), json!({"elicitation": {}})] {
        let generation = GENERATIONS[1];
        let mut client = Client::start(&fixture, generation, &[], asks, Streams::Pipes);
        for (tool, arguments) in [
            ("read_file", json!({"path": "notes.md"})),
            ("read_file", json!({"path": "../notes.md"})),
            ("read_file", json!({"path": "missing.md"})),
            ("read_file", json!({"no": "path"})),
            ("read_file", Value::Null),
            ("no_such_tool", json!({})),
            ("list_files", json!({})),
            (
                "write_file",
                json!({"path": "a", "content": "x", "dry_run": true}),
            ),
            (
                "write_file",
                json!({"path": "a", "content": "x", "dry_run": 1}),
            ),
            ("delete_file", json!({"path": "a"})),
        ] {
            let plain = json!({"name": tool, "arguments": arguments});
            let mut more = plain.clone();
            more["_meta"] = json!({"other": 1});
            let mut answer_to = |params: Value| {
                let mut answer = client.request("tools/call", params);
                answer["id"].take();
                answer
            };
            assert_eq!(answer_to(plain), answer_to(more), "{tool} {arguments}");
        }
    }
}

#[test]
fn a_change_carries_its_receipt() {
    for generation in GENERATIONS {
        let fixture = Fixture::new();
        let mut client = Client::over(&fixture, generation, &[]);
        let fields = client
            .call("write_file", json!({"path": "a/b.md", "content": "done"}))
            .success();
        assert_eq!(fixture.workspace_text("a/b.md"), "done");
        let effects = fields["receipt"]["effects"].as_array().unwrap();
        assert_eq!(effects.last().unwrap()["path"], "a/b.md", "{fields}");
    }
}

#[test]
fn a_dry_run_says_what_would_change_and_changes_nothing() {
    let fixture = Fixture::new();
    let mut client = Client::over(&fixture, GENERATIONS[0], &[]);
    let arguments = json!({"path": "b.md", "content": "done", "dry_run": true});
    let fields = client.call("write_file", arguments).success();
    assert_eq!(fields["dry_run"], true);
    assert_eq!(fields["effects"][0]["path"], "b.md", "{fields}");
    assert!(!fixture.workspace().join("b.md").exists());
    // The same with `false` is an ordinary call.
    let arguments = json!({"path": "b.md", "content": "done", "dry_run": false});
    client.call("write_file", arguments).success();
    assert_eq!(fixture.workspace_text("b.md"), "done");
}

#[test]
fn dry_run_is_no_argument_of_a_tool_that_reads_and_nothing_but_true_or_false() {
    let fixture = Fixture::new();
    fixture.input("notes.md", "x");
    let mut client = Client::over(&fixture, GENERATIONS[0], &[]);
    let read = client.call("read_file", json!({"path": "notes.md", "dry_run": true}));
    assert_eq!(read.code(), "invalid-arguments");
    let wrong = json!({"path": "b.md", "content": "x", "dry_run": "yes"});
    let wrong = client.call("write_file", wrong);
    assert_eq!(wrong.code(), "invalid-arguments");
    // Not that there is no such argument: then the next call would be no dry run.
    assert!(wrong.text(0).contains("neither true nor false"));
    assert!(!fixture.workspace().join("b.md").exists());
}

/// The host takes it out before the tool sees anything, so the tool cannot name it.
#[test]
fn dry_run_is_named_by_every_refusal_that_names_arguments() {
    for toolset in ["files", "single"] {
        let fixture = Fixture::new();
        let mut client = Client::over(&fixture, GENERATIONS[0], &["--toolset", toolset]);
        let list = client.request("tools/list", json!({}));
        for tool in list["result"]["tools"].as_array().unwrap() {
            let schema = &tool["inputSchema"];
            let properties = schema["properties"].as_object().unwrap();
            let name = tool["name"].as_str().unwrap();
            let mut arguments = schema["examples"][0].clone();
            arguments["no_such_argument"] = json!(1);
            let refused = client.call(name, arguments).fields();
            let error = refused.get("error").unwrap_or(&refused);
            let quoted: Vec<String> = properties.keys().map(|it| format!("`{it}`")).collect();
            let known = format!("known arguments: {}", quoted.join(", "));
            assert!(error["hint"].as_str().unwrap().ends_with(&known), "{error}");
            if toolset == "files" {
                let known: Vec<&String> = properties.keys().collect();
                assert_eq!(error["known"], json!(known), "{name}");
            }
        }
    }
}

#[test]
fn dry_run_by_another_name_changes_nothing_and_is_told_the_right_one() {
    let fixture = Fixture::new();
    let mut client = Client::over(&fixture, GENERATIONS[0], &[]);
    for (arguments, meant) in [
        (
            json!({"path": "b", "content": "x", "dryrun": true}),
            "`dry_run`",
        ),
        (
            json!({"path": "b", "content": "x", "dry-run": true}),
            "`dry_run`",
        ),
        (
            json!({"path": "b", "content": "x", "dryRun": "yes"}),
            "`dry_run`",
        ),
        (
            json!({"path": "b", "content": "x", "preview": true}),
            "`dry_run`",
        ),
        (
            json!({"path": "b", "text": "x", "dryrun": true}),
            "`dry_run`, `content`",
        ),
    ] {
        let refused = client.call("write_file", arguments.clone());
        assert_eq!(refused.code(), "invalid-arguments", "{arguments}");
        let hint = refused.fields()["hint"].as_str().unwrap().to_owned();
        let told = format!("did you mean {meant}? known arguments: `path`");
        assert!(hint.starts_with(&told), "{arguments}: {hint}");
        assert!(!fixture.workspace().join("b").exists());
    }
    // What is known inside of a list is not what is known beside it.
    let arguments = json!({"path": "b", "edits": [{"dryrun": true}]});
    let error = client.call("edit_file", arguments).fields();
    assert_eq!(
        error["known"],
        json!(["old_text", "new_text", "replace_all"])
    );
    assert!(!error["hint"].to_string().contains("dry_run"), "{error}");
    let arguments = json!({"path": "b", "dryrun": true});
    let error = client.call("read_file", arguments).fields();
    assert!(!error.to_string().contains("dry_run"), "{error}");
}

#[test]
fn a_refusal_is_an_error_that_the_model_sees_with_its_code() {
    for generation in GENERATIONS {
        let fixture = Fixture::new();
        fs::write(fixture.outside().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink("../outside/secret", fixture.inputs().join("link")).unwrap();
        let mut client = Client::over(&fixture, generation, &[]);
        for (tool, arguments, code) in [
            (
                "read_file",
                json!({"path": "../outside/secret"}),
                "invalid-path",
            ),
            ("read_file", json!({"path": "/etc/passwd"}), "invalid-path"),
            ("read_file", json!({"path": "link"}), "escape"),
            ("read_file", json!({"path": "absent"}), "not-found"),
            ("read_file", json!({"path": 5}), "invalid-arguments"),
            (
                "read_file",
                json!({"path": "a", "surprise": 1}),
                "invalid-arguments",
            ),
            ("read_fil", json!({"path": "a"}), "unknown-tool"),
        ] {
            let answer = client.call(tool, arguments);
            assert_eq!(answer.code(), code, "{generation:?} {tool}");
            assert!(answer.fields()["hint"].is_string());
            let base = fixture.base().to_str().unwrap().to_owned();
            assert!(!answer.text(0).contains(&base), "{}", answer.text(0));
        }
    }
}

#[test]
fn pictures_sounds_and_other_bytes_are_blocks_of_their_own() {
    for generation in GENERATIONS {
        let fixture = Fixture::new();
        let bytes: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        fixture.input("a b.png", bytes);
        fixture.input("a.wav", b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0");
        let mut client = Client::over(&fixture, generation, &[]);
        let mut read = |arguments: Value| {
            let answer = client.call("read_file", arguments);
            assert_eq!(answer.result["content"].as_array().unwrap().len(), 2);
            let fields = answer.success();
            assert!(
                fields["size"].is_u64() && fields["content"].is_null(),
                "{fields}"
            );
            answer.result["content"][0].clone()
        };
        let picture = read(json!({"path": "a b.png"}));
        assert_eq!(
            (&picture["type"], &picture["mimeType"], &picture["data"]),
            (
                &json!("image"),
                &json!("image/png"),
                &json!("iVBORw0KGgoAAAANSUhEUg==")
            )
        );
        let sound = read(json!({"path": "a.wav"}));
        assert_eq!(
            (&sound["type"], &sound["mimeType"]),
            (&json!("audio"), &json!("audio/wav"))
        );
        fixture.input("a.bin", b"\0\xff");
        let other = read(json!({"path": "a.bin", "encoding": "base64"}));
        assert_eq!(other["type"], "resource", "{other}");
        assert_eq!(other["resource"]["blob"], "AP8=");
        assert_eq!(other["resource"]["uri"], "rootbound://inputs/a.bin");
    }
}

#[test]
fn a_result_is_at_most_256_kib_unless_the_operator_says_otherwise() {
    let fixture = Fixture::new();
    fixture.input("large.txt", "x".repeat(300 << 10));
    let mut client = Client::over(&fixture, GENERATIONS[1], &[]);
    let answer = client.call("read_file", json!({"path": "large.txt"}));
    assert_eq!(answer.code(), "limit-exceeded");
    assert_eq!(answer.fields()["limit"], "max_output_bytes");
    let mut client = Client::over(&fixture, GENERATIONS[1], &["--max-output-bytes", "1MiB"]);
    let answer = client.call("read_file", json!({"path": "large.txt"}));
    assert_eq!(answer.text(0).len(), 300 << 10);
}

/// The TypeScript SDK 1.x gives up a connection on which more than 10 MiB wait for the end
/// of their line.
#[test]
fn a_line_is_never_longer_than_clients_take_however_much_has_to_be_escaped() {
    let fixture = Fixture::new();
    fixture.input("controls.txt", "\u{1}".repeat(2 << 20));
    let mut client = Client::over(&fixture, GENERATIONS[1], &["--max-output-bytes", "9MiB"]);
    let answer = client.call("read_file", json!({"path": "controls.txt"}));
    assert_eq!(answer.code(), "limit-exceeded");
    assert_eq!(answer.fields()["limit"], "max_output_bytes");
    assert!(answer.fields()["actual"].as_u64() > Some(12 << 20));
}

#[test]
fn ten_mebibytes_pass_where_the_operator_allows_them() {
    let fixture = Fixture::new();
    let content = "0123456789abcde\n".repeat((10 << 20) / 16);
    fixture.input("large.txt", &content);
    let mut client = Client::over(&fixture, GENERATIONS[0], &["--max-output-bytes", "16MiB"]);
    let answer = client.call("read_file", json!({"path": "large.txt"}));
    assert_eq!(answer.text(0), content);
}
