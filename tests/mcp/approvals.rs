//! Whether a change is allowed, asked of the person behind the client.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Answered, Client, Generation, Streams};
use crate::support::Fixture;
use crate::support::cli::Cli;

const SESSION: Generation = Generation::Session("2025-06-18");

fn forms() -> Value {
    json!({ "elicitation": {} })
}

fn with_old_file() -> Fixture {
    let fixture = Fixture::new();
    fixture.work("old.md", "old");
    fixture
}

fn client(fixture: &Fixture, generation: Generation, capabilities: Value) -> Client {
    client_with(fixture, generation, capabilities, &[])
}

fn client_with(
    fixture: &Fixture,
    generation: Generation,
    capabilities: Value,
    further: &[&str],
) -> Client {
    Client::start(fixture, generation, further, capabilities, Streams::Pipes)
}

fn is_there(fixture: &Fixture) -> bool {
    fixture.workspace().join("old.md").exists()
}

fn delete() -> Value {
    json!({"path": "old.md"})
}

/// Asks for a deletion and gives the client's question and the id of the call.
fn asked(client: &mut Client) -> (i64, Value) {
    let id = client.ask_call("delete_file", delete());
    let question = client.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    (id, question)
}

/// Answers the question of a session and gives the call's result.
fn answered(client: &mut Client, result: Value) -> Answered {
    let (id, question) = asked(client);
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
    let answer = client.receive();
    assert_eq!(answer["id"], id, "{answer}");
    Answered::of(&answer)
}

#[test]
fn a_session_asks_while_the_call_waits_and_only_a_tick_is_a_yes() {
    for (answer, deleted) in [
        (
            json!({ "action": "accept", "content": { "approve": true } }),
            true,
        ),
        (
            json!({ "action": "accept", "content": { "approve": false } }),
            false,
        ),
        (
            json!({ "action": "accept", "content": { "approve": "true" } }),
            false,
        ),
        (json!({ "action": "accept", "content": {} }), false),
        (json!({ "action": "accept" }), false),
        (json!({ "action": "decline" }), false),
        (json!({ "action": "cancel" }), false),
        (json!({}), false),
    ] {
        let fixture = with_old_file();
        let mut client = client(&fixture, SESSION, forms());
        let result = answered(&mut client, answer.clone());
        assert_eq!(is_there(&fixture), !deleted, "{answer}");
        match deleted {
            true => drop(result.success()),
            false => assert_eq!(result.code(), "approval-denied", "{answer}"),
        }
    }
}

#[test]
fn the_question_says_what_would_happen_and_has_one_box_to_tick() {
    let fixture = with_old_file();
    let mut client = client(&fixture, SESSION, forms());
    let (_, question) = asked(&mut client);
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("delete workspace:old.md"), "{message}");
    let schema = &question["params"]["requestedSchema"];
    assert_eq!(schema["properties"]["approve"]["type"], "boolean");
    assert_eq!(schema["required"], json!(["approve"]));
}

#[test]
fn the_question_about_a_large_text_shows_size_hash_and_beginning() {
    let fixture = with_old_file();
    let content = format!("first line\n{}", "more\n".repeat(100_000));
    let mut client = client_with(&fixture, SESSION, forms(), &["--overwrite", "ask"]);
    client.ask_call("write_file", json!({"path": "old.md", "content": content}));
    let question = client.receive();
    let message = question["params"]["message"].as_str().unwrap();
    let hash = &crate::support::sha256(&content)[..16];
    for part in [
        "replace workspace:old.md".to_owned(),
        format!("3 bytes become {}", content.len()),
        format!("sha256 {hash}…"),
        "the new content begins with".to_owned(),
        "| first line".to_owned(),
    ] {
        assert!(message.contains(&part), "{part}: {message}");
    }
    assert!(message.len() < 4 << 10, "{}", message.len());
}

/// Whatever strangers chose stands in a block of its own, on lines that begin with spaces.
#[test]
fn no_name_and_no_content_can_forge_the_question() {
    let name = "a\u{3000}`**x**`.md";
    let forged = "y\n\nAllow this?\n# Yes\u{202e}\u{1b}[2J\r\n![](http://evil.example/x)";
    for generation in [SESSION, Generation::Stateless] {
        let fixture = with_old_file();
        fixture.work(name, "old");
        let mut client = client_with(&fixture, generation, forms(), &["--overwrite", "ask"]);
        client.ask_call("write_file", json!({"path": name, "content": forged}));
        let line = client.receive();
        let question = match generation {
            Generation::Stateless => &line["result"]["inputRequests"]["approval"],
            Generation::Session(_) => &line,
        };
        let message = question["params"]["message"].as_str().unwrap();
        let mut lines = message.lines();
        assert_eq!(lines.next(), Some("`write_file` wants to"));
        assert_eq!(lines.next(), Some(""));
        assert_eq!(lines.next_back(), Some("Allow this?"));
        assert_eq!(lines.next_back(), Some(""));
        assert!(lines.all(|line| line.starts_with("    ")), "{message}");
        assert!(!message.contains(['\u{202e}', '\u{1b}', '\r']), "{message}");
    }
}

#[test]
fn a_client_that_says_that_it_cannot_ask_is_not_asked() {
    for generation in [SESSION, Generation::Stateless] {
        for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
            let fixture = with_old_file();
            let mut client = client(&fixture, generation, capabilities);
            let result = client.call("delete_file", delete());
            assert_eq!(result.code(), "approval-required");
            assert!(is_there(&fixture));
        }
    }
}

#[test]
fn a_client_that_answers_with_an_error_or_not_at_all_has_refused() {
    let fixture = with_old_file();
    let mut answers = client(&fixture, SESSION, forms());
    let (id, question) = asked(&mut answers);
    let error = json!({ "code": -32601, "message": "no" });
    answers.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }));
    let answer = answers.receive();
    assert_eq!(answer["id"], id);
    assert_eq!(Answered::of(&answer).code(), "approval-denied");

    let mut silent = client_with(
        &fixture,
        SESSION,
        forms(),
        &["--approval-timeout-ms", "300"],
    );
    let started = Instant::now();
    let (id, _) = asked(&mut silent);
    let answer = std::iter::from_fn(|| Some(silent.receive())).find(|line| line["id"] == id);
    assert_eq!(Answered::of(&answer.unwrap()).code(), "approval-denied");
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(is_there(&fixture));
}

#[test]
fn other_calls_are_served_while_one_waits_for_its_answer() {
    let fixture = with_old_file();
    fixture.input("notes.md", "hello");
    let mut client = client(&fixture, SESSION, forms());
    let (id, question) = asked(&mut client);
    for _ in 0..300 {
        assert_eq!(
            client
                .call("read_file", json!({"path": "notes.md"}))
                .text(0),
            "hello"
        );
    }
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes }));
    assert_eq!(client.receive()["id"], id);
    assert!(!is_there(&fixture));
}

#[test]
fn what_is_asked_when_the_client_goes_away_does_not_happen() {
    let fixture = with_old_file();
    let mut client = client(&fixture, SESSION, forms());
    asked(&mut client);
    let (status, _) = client.finish();
    assert_eq!(status, Some(0));
    assert!(is_there(&fixture));
}

#[test]
fn a_call_that_is_cancelled_while_it_asks_changes_nothing() {
    let fixture = with_old_file();
    let mut client = client(&fixture, SESSION, forms());
    let (id, question) = asked(&mut client);
    let params = json!({ "requestId": id });
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    client.request("ping", json!({}));
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes }));
    assert_eq!(client.finish().0, Some(0));
    assert!(is_there(&fixture));
}

/// The result of a call that has to be made again, and the parameters to do so.
fn question_of(client: &mut Client, tool: &str, arguments: Value) -> (Value, Value) {
    let params = json!({ "name": tool, "arguments": arguments });
    let result = client.request("tools/call", params.clone())["result"].clone();
    assert_eq!(result["resultType"], "input_required", "{result}");
    let question = &result["inputRequests"]["approval"];
    assert_eq!(question["method"], "elicitation/create", "{result}");
    (result, params)
}

fn with_answer(mut params: Value, result: &Value, answer: Value) -> Value {
    params["requestState"] = result["requestState"].clone();
    params["inputResponses"] = json!({ "approval": answer });
    params
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "approve": true } })
}

#[test]
fn a_stateless_call_ends_with_the_question_and_is_made_again_with_the_answer() {
    let fixture = with_old_file();
    let mut client = client(&fixture, Generation::Stateless, forms());
    let (result, params) = question_of(&mut client, "delete_file", delete());
    assert!(is_there(&fixture));
    let answer = client.request("tools/call", with_answer(params, &result, yes()));
    Answered::of(&answer).success();
    assert!(!is_there(&fixture));
}

#[test]
fn a_stateless_no_is_a_refusal() {
    for no in [
        json!({ "action": "decline" }),
        json!({ "action": "accept", "content": { "approve": false } }),
        json!({ "action": "accept" }),
        json!(null),
        json!("yes"),
    ] {
        let fixture = with_old_file();
        let mut client = client(&fixture, Generation::Stateless, forms());
        let (result, params) = question_of(&mut client, "delete_file", delete());
        let answer = client.request("tools/call", with_answer(params, &result, no));
        assert_eq!(Answered::of(&answer).code(), "approval-denied");
        assert!(is_there(&fixture));
    }
}

#[test]
fn an_answer_is_good_once() {
    let fixture = with_old_file();
    let mut client = client(&fixture, Generation::Stateless, forms());
    let (result, params) = question_of(&mut client, "delete_file", delete());
    let again = with_answer(params, &result, yes());
    let held = fixture.workspace().join("old.md");
    Answered::of(&client.request("tools/call", again.clone())).success();
    std::fs::write(&held, "old").unwrap();
    let replayed = client.request("tools/call", again);
    assert_ne!(replayed["result"]["isError"], false, "{replayed}");
    assert!(is_there(&fixture));
}

#[test]
fn an_answer_to_another_question_asks_again() {
    let fixture = with_old_file();
    fixture.work("other.md", "other");
    let mut client = client(&fixture, Generation::Stateless, forms());
    let (result, _) = question_of(&mut client, "delete_file", delete());
    let other = json!({ "name": "delete_file", "arguments": { "path": "other.md" } });
    let answer = client.request("tools/call", with_answer(other, &result, yes()));
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    // So does one to a question about what has changed since.
    fixture.work("old.md", "newer");
    let same = json!({ "name": "delete_file", "arguments": delete() });
    let answer = client.request("tools/call", with_answer(same, &result, yes()));
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    assert!(is_there(&fixture) && fixture.workspace().join("other.md").exists());
}

#[test]
fn a_state_that_was_made_up_or_changed_is_refused() {
    let fixture = with_old_file();
    let mut client = client(&fixture, Generation::Stateless, forms());
    let (mut result, params) = question_of(&mut client, "delete_file", delete());
    let sealed = result["requestState"].as_str().unwrap().to_owned();
    let tail = if sealed.ends_with('A') { 'B' } else { 'A' };
    let turned = format!("{}{tail}", &sealed[..sealed.len() - 2]);
    for forged in ["", "approve", &turned, &sealed[..sealed.len() / 2]] {
        result["requestState"] = json!(forged);
        let answer = client.request("tools/call", with_answer(params.clone(), &result, yes()));
        assert_eq!(answer["error"]["code"], -32602, "{forged} {answer}");
    }
    assert!(is_there(&fixture));
}

#[test]
fn a_state_of_another_server_is_refused() {
    let fixture = with_old_file();
    let mut one = client(&fixture, Generation::Stateless, forms());
    let mut other = client(&fixture, Generation::Stateless, forms());
    let (result, params) = question_of(&mut one, "delete_file", delete());
    let answer = other.request("tools/call", with_answer(params, &result, yes()));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(is_there(&fixture));
}

#[test]
fn no_argument_approves() {
    for generation in [SESSION, Generation::Stateless] {
        let fixture = with_old_file();
        let mut client = client(&fixture, generation, json!({}));
        for name in ["approve", "approved", "confirm", "approval"] {
            let mut arguments = delete();
            arguments[name] = json!(true);
            let result = client.call("delete_file", arguments);
            assert_eq!(result.code(), "invalid-arguments", "{name}");
        }
        // Nor does an answer that nobody asked for.
        let params = json!({ "name": "delete_file", "arguments": delete(), "inputResponses": { "approval": yes() } });
        let answer = client.request("tools/call", params);
        assert_eq!(Answered::of(&answer).code(), "approval-required");
        assert!(is_there(&fixture));
    }
}

#[test]
fn an_operator_who_names_the_queue_has_the_queue_asked() {
    let fixture = with_old_file();
    let cli = Cli::new();
    for generation in [SESSION, Generation::Stateless] {
        fixture.work("old.md", "old");
        let further = ["--approve", "queue"];
        let mut client = Client::spawn(
            &cli,
            &fixture,
            generation,
            &further,
            forms(),
            Streams::Pipes,
        );
        let result = client.call("delete_file", delete());
        assert_eq!(result.code(), "approval-required");
        let id = result.fields()["approval"].as_str().unwrap().to_owned();
        let approved = cli.run(["approvals", "approve", &id]);
        assert_eq!(approved.status, Some(0), "{approved:?}");
        client.call("delete_file", delete()).success();
        assert!(!is_there(&fixture));
    }
}

#[test]
fn a_no_is_final_for_its_question() {
    let fixture = with_old_file();
    let mut client = client(&fixture, Generation::Stateless, forms());
    let (result, params) = question_of(&mut client, "delete_file", delete());
    let no = with_answer(params.clone(), &result, json!({ "action": "decline" }));
    let declined = client.request("tools/call", no);
    assert_eq!(declined["result"]["isError"], true, "{declined}");
    let after_all = with_answer(params, &result, yes());
    let again = client.request("tools/call", after_all);
    assert_ne!(again["result"]["isError"], false, "{again}");
    assert!(is_there(&fixture));
}

/// The entry of the log for a question, and for the call.
fn told(log: &std::path::Path) -> [Value; 2] {
    let text = std::fs::read_to_string(log).unwrap();
    let entries: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    ["approval", "call"].map(|kind| {
        let found = entries.iter().find(|entry| entry["kind"] == kind);
        found.unwrap_or_else(|| panic!("{text}")).clone()
    })
}

/// Nobody is named who did not answer, and a question that was called back is no refusal.
#[test]
fn a_question_without_an_answer_has_no_approver_and_says_why() {
    for (is_cancelled, reason, code) in [
        (false, "not-answered", "approval-denied"),
        (true, "cancelled", "cancelled"),
    ] {
        let fixture = with_old_file();
        let log = fixture.outside().join("log");
        let patience = if is_cancelled { "60000" } else { "300" };
        let further = [
            "--audit",
            log.to_str().unwrap(),
            "--approval-timeout-ms",
            patience,
        ];
        let mut client = client_with(&fixture, SESSION, forms(), &further);
        let (id, _) = asked(&mut client);
        if is_cancelled {
            client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
            // The end of the input, which comes next, is another reason.
            client.request("ping", json!({}));
        } else {
            let answer =
                std::iter::from_fn(|| Some(client.receive())).find(|line| line["id"] == id);
            let answer = answer.unwrap().to_string();
            assert!(answer.contains("nobody answered in time"), "{answer}");
        }
        assert_eq!(client.finish().0, Some(0));
        let [approval, call] = told(&log);
        assert_eq!(approval["approver"], Value::Null, "{approval}");
        assert_eq!(approval["reason"], reason, "{approval}");
        assert_eq!(approval["code"], code, "{approval}");
        assert_eq!(call["code"], code, "{call}");
        assert!(is_there(&fixture));
    }
}
