//! The hint of every limit leads somewhere: what it names is done, and works.

use rootbound::{Consent, Limits, Session};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded, sha256};

const LIMIT: u64 = 10_000;

type Change = fn(&mut Limits);

fn limited(fixture: &Fixture, change: Change, overwrite: Consent) -> Recorded {
    let mut limits = Limits::default();
    change(&mut limits);
    let builder = Session::builder().work_root(fixture.workspace());
    let builder = builder.overwrite(overwrite).delete(Consent::Allow);
    Recorded::build(builder.limits(limits))
}

/// A call over a limit, words of its hint, and the calls that do what they say.
struct Row {
    change: Change,
    limit: &'static str,
    tool: &'static str,
    arguments: Value,
    words: &'static [&'static str],
    follow: Vec<(&'static str, Value)>,
}

fn row(change: Change, limit: &'static str, tool: &'static str, arguments: Value) -> Row {
    Row {
        change,
        limit,
        tool,
        arguments,
        words: &[],
        follow: Vec::new(),
    }
}

impl Row {
    fn told(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    fn follow(mut self, tool: &'static str, arguments: Value) -> Self {
        self.follow.push((tool, arguments));
        self
    }

    fn assert(self) {
        let fixture = Fixture::new();
        fixture.work("lines", "line\n".repeat(10_000));
        fixture.work("long", format!("{}\nshort\n", "x".repeat(50_000)));
        fixture.work(
            "picture.png",
            [&b"\x89PNG\r\n\x1a\n"[..], &[0; 50_000]].concat(),
        );
        for number in 0..20 {
            fixture.work(&format!("many/{number:02}"), "a\n");
        }
        let recorded = limited(&fixture, self.change, Consent::Allow);
        let name = format!("{} {}", self.tool, self.arguments);
        let error = recorded.error(self.tool, self.arguments);
        assert_eq!(error.code(), "limit-exceeded", "{name}: {error}");
        assert_eq!(error.details()["limit"], self.limit, "{name}");
        for word in self.words {
            assert!(error.hint().contains(word), "{name}: {}", error.hint());
        }
        for (tool, arguments) in self.follow {
            let answer = recorded.call(tool, arguments.clone());
            assert!(
                answer.is_ok(),
                "{name}: {tool} {arguments}: {:?}",
                answer.err()
            );
        }
    }
}

fn content(bytes: usize) -> String {
    "x".repeat(bytes)
}

#[test]
fn what_is_too_much_to_read_is_read_in_parts() {
    let read: Change = |limits| limits.max_read_bytes = LIMIT;
    let part = &[
        "`offset`",
        "`limit`",
        "negative `offset`",
        "`max_bytes`",
        "without `hash`",
    ];
    for path in ["lines", "long"] {
        row(read, "max_read_bytes", "read_file", json!({ "path": path }))
            .told(part)
            .follow("read_file", json!({ "path": path, "max_bytes": 100 }))
            .follow(
                "read_file",
                json!({ "path": path, "offset": 1, "limit": 1, "max_bytes": 100 }),
            )
            .follow("read_file", json!({ "path": path, "offset": -1 }))
            .assert();
    }
    row(
        read,
        "max_read_bytes",
        "read_file",
        json!({ "path": "lines", "limit": 3, "hash": true }),
    )
    .told(part)
    .follow("read_file", json!({ "path": "lines", "limit": 3 }))
    .assert();
    row(
        read,
        "max_read_bytes",
        "read_file",
        json!({ "path": "picture.png" }),
    )
    .told(part)
    .follow(
        "read_file",
        json!({ "path": "picture.png", "encoding": "base64", "max_bytes": 100 }),
    )
    .assert();
}

#[test]
fn what_is_taken_whole_needs_the_operator() {
    let (read, raised): (Change, Change) = (
        |limits| limits.max_read_bytes = LIMIT,
        |limits| limits.max_read_bytes = 100 * LIMIT,
    );
    let edits = json!([{ "old_text": "short", "new_text": "SHORT" }]);
    for (tool, arguments) in [
        ("edit_file", json!({ "path": "long", "edits": edits })),
        ("append_file", json!({ "path": "long", "content": "x" })),
        ("copy_file", json!({ "from": "long", "to": "copy" })),
        ("search_files", json!({ "path": "long", "query": "short" })),
        ("file_info", json!({ "path": "long", "hash": true })),
    ] {
        let refused = row(read, "max_read_bytes", tool, arguments.clone());
        refused.told(&["taken whole", "the operator"]).assert();
        let fixture = Fixture::new();
        fixture.work("long", format!("{}\nshort\n", content(50_000)));
        limited(&fixture, raised, Consent::Allow)
            .call(tool, arguments)
            .unwrap();
    }
}

#[test]
fn a_line_that_is_too_long_is_shown_in_part() {
    let output: Change = |limits| limits.max_output_bytes = LIMIT;
    let arguments = json!({ "path": "long", "offset": 1, "limit": 1 });
    row(output, "max_output_bytes", "read_file", arguments)
        .told(&["`max_bytes`", "`clip`"])
        .follow(
            "read_file",
            json!({ "path": "long", "offset": 1, "limit": 1, "max_bytes": 5000 }),
        )
        .follow(
            "read_file",
            json!({ "path": "long", "offset": 1, "limit": 1, "clip": 80 }),
        )
        .assert();
    row(
        output,
        "max_output_bytes",
        "read_file",
        json!({ "path": "lines" }),
    )
    .told(&["`limit`"])
    .follow("read_file", json!({ "path": "lines", "limit": 100 }))
    .assert();
    row(
        output,
        "max_output_bytes",
        "read_files",
        json!({ "paths": ["lines", "long"] }),
    )
    .told(&["`max_bytes`"])
    .follow(
        "read_files",
        json!({ "paths": ["lines", "long"], "max_bytes": 1000 }),
    )
    .assert();
    row(
        output,
        "max_output_bytes",
        "read_file",
        json!({ "path": "picture.png" }),
    )
    .told(&["`encoding: \"base64\"`"])
    .follow(
        "read_file",
        json!({ "path": "picture.png", "encoding": "base64", "max_bytes": 1000 }),
    )
    .assert();
}

#[test]
fn what_is_too_much_to_write_is_written_in_parts() {
    let write: Change = |limits| limits.max_write_bytes = LIMIT;
    row(
        write,
        "max_write_bytes",
        "write_file",
        json!({ "path": "new", "content": content(15_000) }),
    )
    .told(&[
        "several files",
        "`append_file`",
        "where the policy lets files be changed",
    ])
    .follow(
        "write_file",
        json!({ "path": "new", "content": content(9000) }),
    )
    .follow(
        "append_file",
        json!({ "path": "new", "content": content(6000) }),
    )
    .follow(
        "write_file",
        json!({ "path": "other", "content": content(9000) }),
    )
    .assert();
    row(
        write,
        "max_write_bytes",
        "append_file",
        json!({ "path": "lines", "content": content(15_000) }),
    )
    .follow(
        "append_file",
        json!({ "path": "lines", "content": content(9000) }),
    )
    .follow(
        "append_file",
        json!({ "path": "lines", "content": content(6000) }),
    )
    .assert();
}

/// Where nothing may be changed, the way that is left does not lead into the next refusal.
#[test]
fn where_files_are_not_changed_several_are_written() {
    let fixture = Fixture::new();
    let write: Change = |limits| limits.max_write_bytes = LIMIT;
    let recorded = limited(&fixture, write, Consent::Deny);
    let whole = json!({ "path": "new", "content": content(15_000) });
    assert!(
        recorded
            .error("write_file", whole)
            .hint()
            .contains("several files")
    );
    for path in ["one", "two"] {
        recorded.fields(
            "write_file",
            json!({ "path": path, "content": content(7500) }),
        );
    }
    let appended = json!({ "path": "one", "content": "x" });
    assert_eq!(
        recorded.error("append_file", appended).code(),
        "overwrite-denied"
    );
}

#[test]
fn other_limits_are_met_by_asking_for_less() {
    let patch = |numbers: std::ops::Range<usize>| {
        let one = |number| {
            format!("--- a/many/{number:02}\n+++ b/many/{number:02}\n@@ -1 +1 @@\n-a\n+b\n")
        };
        json!({ "patch": numbers.map(one).collect::<String>() })
    };
    row(
        |limits| limits.max_handles = 16,
        "max_handles",
        "apply_patch",
        patch(0..20),
    )
    .told(&["ask for less at a time"])
    .follow("apply_patch", patch(0..5))
    .follow("apply_patch", patch(5..10))
    .assert();
    let all: Vec<String> = (0..20).map(|number| format!("many/{number:02}")).collect();
    let call_read: Change = |limits| limits.max_call_read_bytes = 40;
    let copied = json!({ "from": "lines", "to": "copy" });
    row(call_read, "max_call_read_bytes", "copy_file", copied)
        .told(&["ask for less at a time"])
        .follow("read_files", json!({ "paths": &all[..10] }))
        .follow("read_files", json!({ "paths": &all[10..] }))
        .assert();
}

#[test]
fn a_hash_that_is_too_much_to_check_has_the_version_beside_it() {
    let fixture = Fixture::new();
    let large = content(50_000);
    fixture.work("large", &large);
    let read: Change = |limits| limits.max_read_bytes = LIMIT;
    let recorded = limited(&fixture, read, Consent::Allow);
    let by_hash = json!({ "path": "large", "expected_sha256": sha256(&large) });
    let error = recorded.error("delete_file", by_hash);
    assert_eq!(error.code(), "limit-exceeded", "{error}");
    assert!(
        error.hint().contains("`expected_version`"),
        "{}",
        error.hint()
    );
    let version = recorded.fields("file_exists", json!({ "path": "large" }))["version"].clone();
    recorded.fields(
        "delete_file",
        json!({ "path": "large", "expected_version": version }),
    );
}

/// The hint is a call: its cursor, with the same offset, until the line is there.
#[test]
fn a_line_that_is_too_far_is_reached_by_the_cursor_of_the_hint() {
    let fixture = Fixture::new();
    fixture.work(
        "lines",
        (1..=10_000)
            .map(|n| format!("{n:05}\n"))
            .collect::<String>(),
    );
    let read: Change = |limits| limits.max_read_bytes = LIMIT;
    let recorded = limited(&fixture, read, Consent::Allow);
    let mut arguments = json!({ "path": "lines", "offset": 9000, "limit": 1 });
    for _ in 0..20 {
        match recorded.call("read_file", arguments.clone()) {
            Ok(output) => {
                assert_eq!(output.text(), Some("09000\n"));
                return;
            }
            Err(error) => {
                assert_eq!(error.code(), "limit-exceeded", "{error}");
                let cursor = error.hint().split('"').nth(1).unwrap().to_owned();
                arguments["cursor"] = cursor.into();
            }
        }
    }
    panic!("line 9000 was never reached");
}
