//! Each limit at one below, at it, and one above, by a component that counts nothing itself.

use rootbound::{Consent, Durability, Limits, Session};
use serde_json::{Value, json};

use crate::hostile::component;
use crate::support::tree::names;
use crate::support::{Fixture, Recorded};

fn session(fixture: &Fixture, limits: Limits) -> Recorded {
    let builder = Session::builder()
        .work_root(fixture.workspace())
        .overwrite(Consent::Allow)
        .delete(Consent::Allow)
        .durability(Durability::Fast)
        .limits(limits);
    Recorded::build(builder.component(component::compiled()))
}

/// What became of each step: what it found, or the WASI error behind a `!`.
fn follow(recorded: &Recorded, script: &str) -> Vec<String> {
    let output = recorded.call("follow_a_script", json!({ "script": script }));
    let fields = output.unwrap().fields();
    serde_json::from_value(fields["steps"].clone()).unwrap()
}

/// The limit that the last refusal in the log names.
fn refused_for(recorded: &Recorded) -> Vec<Value> {
    let refusals = recorded.entries_of("refusal");
    refusals.iter().map(|entry| entry["code"].clone()).collect()
}

#[test]
fn bytes_read_are_exact() {
    let fixture = Fixture::new();
    for size in [9, 10, 11] {
        fixture.work(&size.to_string(), "x".repeat(size));
    }
    for limits in [
        Limits {
            max_read_bytes: 10,
            ..Limits::default()
        },
        Limits {
            max_call_read_bytes: 10,
            ..Limits::default()
        },
    ] {
        for (size, answer) in [("9", "xxxxxxxxx"), ("10", "xxxxxxxxxx"), ("11", "!quota")] {
            let recorded = session(&fixture, limits.clone());
            assert_eq!(
                follow(&recorded, &format!("read {size}")),
                [answer],
                "{size}"
            );
        }
    }
}

#[test]
fn bytes_written_are_exact_in_a_call_and_in_a_session() {
    let in_a_call = Limits {
        max_write_bytes: 10,
        ..Limits::default()
    };
    let in_a_session = Limits {
        max_session_write_bytes: Some(10),
        ..Limits::default()
    };
    for limits in [in_a_call, in_a_session] {
        for (content, answer) in [
            ("123456789", ""),
            ("1234567890", ""),
            ("12345678901", "!quota"),
        ] {
            let fixture = Fixture::new();
            let recorded = session(&fixture, limits.clone());
            assert_eq!(follow(&recorded, &format!("write a {content}")), [answer]);
            let refusals = usize::from(!answer.is_empty());
            assert_eq!(refused_for(&recorded).len(), refusals);
        }
    }
}

/// A component that goes on after a refusal gets no more than what was left.
#[test]
fn a_session_is_charged_for_all_its_calls_and_pieces() {
    let fixture = Fixture::new();
    let limits = Limits {
        max_session_write_bytes: Some(10),
        max_session_files: Some(3),
        ..Limits::default()
    };
    let recorded = session(&fixture, limits);
    let first = follow(
        &recorded,
        "write a 1234|append a 567|append a 8901|append a 890",
    );
    assert_eq!(
        first,
        ["", "", "", ""],
        "streams answer at once; what counts is what was written"
    );
    assert!(fixture.workspace_text("a").len() <= 10);
    let second = follow(&recorded, "create b x|mkdir d|mkdir e|create d/c x");
    assert_eq!(second[0], "!quota", "{second:?}");
    assert_eq!(second[2..], ["!quota", "!quota"], "{second:?}");
    let files = names(&fixture.workspace());
    assert!(files.len() <= 3, "{files:?}");
}

/// What a component makes and takes back, or puts in the place of what was there, is not made.
#[test]
fn what_is_gone_or_replaces_something_when_the_call_ends_was_not_made() {
    for (script, made) in [
        ("create b x|unlink b", 0),
        ("mkdir d|rmdir d", 0),
        ("create b x|rename b c", 1),
        ("create b x|rename b there", 0),
        ("create b x|create c x|rename b c", 1),
        ("rename there b", 0),
        ("create b x|unlink b|create b x", 1),
    ] {
        for limit in [1, 2, 3] {
            let fixture = Fixture::new();
            fixture.work("there", "x");
            let limits = Limits {
                max_session_files: Some(limit),
                ..Limits::default()
            };
            let recorded = session(&fixture, limits);
            let steps = follow(&recorded, script);
            // One at a time is held all the same, so that two need room for two.
            let needed = if script.matches("create").count() > 1 && !script.contains("unlink") {
                2
            } else {
                1
            };
            if limit < needed {
                assert!(
                    steps.iter().any(|step| step == "!quota"),
                    "{script}: {steps:?}"
                );
                continue;
            }
            assert!(
                steps.iter().all(|step| !step.starts_with('!')),
                "{script}: {steps:?}"
            );
            let left: Vec<String> = (0..limit - made)
                .map(|number| format!("create l{number} x"))
                .collect();
            let left = [left, vec!["create one-more x".to_owned()]]
                .concat()
                .join("|");
            let steps = follow(&recorded, &left);
            let (last, others) = steps.split_last().unwrap();
            assert!(
                others.iter().all(|step| !step.starts_with('!')),
                "{script} {limit}: {steps:?}"
            );
            assert_eq!(last, "!quota", "{script} {limit}: {steps:?}");
        }
    }
}

#[test]
fn entries_are_exact() {
    let fixture = Fixture::new();
    for name in ["a", "b", "c"] {
        fixture.work(name, "");
    }
    for (limit, answer) in [(2, "!quota"), (3, "a,b,c"), (4, "a,b,c")] {
        let limits = Limits {
            max_entries: limit,
            ..Limits::default()
        };
        assert_eq!(
            follow(&session(&fixture, limits), "list ."),
            [answer],
            "{limit}"
        );
    }
}

#[test]
fn levels_are_exact() {
    let fixture = Fixture::new();
    fixture.work("d/d/d/t", "");
    for (limit, answers) in [
        (2, ["", "", "!quota"]),
        (3, ["", "", ""]),
        (4, ["", "", ""]),
    ] {
        let limits = Limits {
            max_depth: limit,
            ..Limits::default()
        };
        let recorded = session(&fixture, limits);
        assert_eq!(
            follow(&recorded, "enter d|enter d|enter d"),
            answers,
            "{limit}"
        );
    }
}

/// Each step takes two, and the roots are two.
#[test]
fn handles_are_exact() {
    let fixture = Fixture::new();
    fixture.work("d/d/t", "");
    for (limit, answers) in [(5, ["", "!quota"]), (6, ["", ""]), (7, ["", ""])] {
        let limits = Limits {
            max_handles: limit,
            ..Limits::default()
        };
        let recorded = session(&fixture, limits);
        assert_eq!(follow(&recorded, "enter d|enter d"), answers, "{limit}");
    }
}

/// What the component takes before it is told anything is learnt; then a page is a page.
#[test]
fn memory_is_exact() {
    const PAGE: u64 = 64 << 10;
    let fixture = Fixture::new();
    let grown = |pages: u64, limit: u64| {
        let limits = Limits {
            max_memory: limit,
            ..Limits::default()
        };
        let script = json!({ "script": format!("grow {pages}") });
        session(&fixture, limits).call("follow_a_script", script)
    };
    let takes = |pages: u64| {
        let enough = |limit: &u64| grown(pages, *limit).is_ok();
        let limits = (1..400).map(|count| count * PAGE);
        limits.into_iter().find(enough).unwrap()
    };
    let own = takes(0);
    for (pages, limit) in [
        (1, own + PAGE - 1),
        (16, own + 16 * PAGE - 1),
        (16, own + 15 * PAGE),
    ] {
        let error = grown(pages, limit).unwrap_err();
        assert_eq!(error.code(), "limit-exceeded", "{error}");
        let told = (&error.details()["limit"], &error.details()["value"]);
        assert_eq!(told, (&json!("max_memory"), &json!(limit)));
        let actual = error.details()["actual"].as_u64().unwrap();
        assert!(actual > limit && actual <= own + pages * PAGE, "{actual}");
    }
    for (pages, limit) in [
        (1, own + PAGE),
        (16, own + 16 * PAGE),
        (16, own + 16 * PAGE + 1),
    ] {
        grown(pages, limit).unwrap();
    }
}

#[test]
fn the_result_is_exact() {
    let fixture = Fixture::new();
    // `{"a":"…"}` is sent with its four quotes escaped.
    for (bytes, is_answered) in [(995, true), (996, true), (997, false)] {
        let limits = Limits {
            max_output_bytes: 1000,
            ..Limits::default()
        };
        let recorded = session(&fixture, limits);
        let answer = recorded.call("answer_more_than_allowed", json!({ "bytes": bytes }));
        assert_eq!(answer.is_ok(), is_answered, "{bytes}");
        if let Err(error) = answer {
            let expected = json!({ "limit": "max_output_bytes", "value": 1000, "actual": 1001 });
            assert_eq!(Value::Object(error.details().clone()), expected);
        }
    }
}

/// A guest that computes and one that calls the host; both say how long they had.
#[test]
fn time_is_the_same_for_loops_and_for_calls() {
    let fixture = Fixture::new();
    fixture.work("notes.md", "notes");
    for attack in ["loop_for_ever", "call_for_ever"] {
        let limits = Limits {
            timeout: std::time::Duration::from_millis(100),
            ..Limits::default()
        };
        let recorded = session(&fixture, limits);
        let error = recorded.error(attack, json!({}));
        assert_eq!(error.code(), "timeout", "{attack}: {error}");
        assert_eq!(error.details()["limit"], "timeout_ms");
        assert_eq!(error.details()["value"], 100);
        assert!(error.details()["actual"].as_u64() >= Some(100), "{error}");
        assert_eq!(recorded.entries_of("call")[0]["outcome"], "timeout");
    }
}
