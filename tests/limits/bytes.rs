//! Bytes read, written and answered.

use rootbound::{Consent, Content, Limits};
use serde_json::{Value, json};

use crate::support::tree::tree;
use crate::support::{Fixture, Recorded};

fn limited(fixture: &Fixture, change: impl FnOnce(&mut Limits)) -> Recorded {
    let mut limits = Limits::default();
    change(&mut limits);
    fixture.session_with(|builder| builder.limits(limits).overwrite(Consent::Allow))
}

/// A limit is named in the error, with its value and what was asked for, and is one refusal.
fn assert_exceeded(recorded: &Recorded, call: (&str, Value), limit: &str, value: u64, actual: u64) {
    recorded.forget();
    let (tool, arguments) = call;
    let error = recorded.error(tool, arguments);
    assert_eq!(error.code(), "limit-exceeded", "{tool}: {error}");
    let expected = json!({ "limit": limit, "value": value, "actual": actual });
    assert_eq!(Value::Object(error.details().clone()), expected, "{tool}");
    assert!(!error.hint().is_empty(), "{tool}");
    let codes: Vec<Value> = recorded
        .entries()
        .iter()
        .filter(|entry| entry["kind"] == "refusal" || entry["kind"] == "call")
        .map(|entry| json!([entry["kind"], entry["code"]]))
        .collect();
    let expected = [
        json!(["refusal", "limit-exceeded"]),
        json!(["call", "limit-exceeded"]),
    ];
    assert_eq!(codes, expected, "{tool}");
}

#[test]
fn max_read_bytes_is_exact() {
    let fixture = Fixture::new();
    for (name, size) in [("below", 99_999), ("at", 100_000), ("above", 100_001)] {
        fixture.input(name, "x".repeat(size));
    }
    let recorded = limited(&fixture, |limits| limits.max_read_bytes = 100_000);
    for (path, size) in [("below", 99_999), ("at", 100_000)] {
        let fields = recorded.fields("read_file", json!({ "path": path }));
        assert_eq!(fields["size"], size);
    }
    let read = ("read_file", json!({ "path": "above" }));
    assert_exceeded(&recorded, read, "max_read_bytes", 100_000, 100_001);
}

/// Small files are read without a look at their size, so they take another way.
#[test]
fn max_read_bytes_is_exact_for_small_files_and_for_zero() {
    let fixture = Fixture::new();
    for size in [0, 1, 9, 10, 11] {
        fixture.input(&size.to_string(), "x".repeat(size));
    }
    for limit in [0, 1, 10] {
        let recorded = limited(&fixture, |limits| limits.max_read_bytes = limit);
        for size in [0, 1, 9, 10, 11] {
            let call = ("read_file", json!({ "path": size.to_string() }));
            if size <= limit {
                assert_eq!(recorded.fields(call.0, call.1)["size"], size, "{limit}");
            } else {
                assert_exceeded(&recorded, call, "max_read_bytes", limit, size);
            }
        }
    }
}

/// The host reads in pieces; what the agent needs to know is how large the file is.
#[test]
fn a_file_over_the_limit_is_told_by_its_whole_size() {
    let fixture = Fixture::new();
    let size = 100 << 20;
    let file = std::fs::File::create(fixture.inputs().join("large")).unwrap();
    file.set_len(size).unwrap();
    let recorded = limited(&fixture, |_| {});
    let read = ("read_file", json!({ "path": "large" }));
    assert_exceeded(&recorded, read.clone(), "max_read_bytes", 10 << 20, size);
    let recorded = limited(&fixture, |limits| {
        limits.max_read_bytes = u64::MAX;
        limits.max_call_read_bytes = 20 << 20;
    });
    assert_exceeded(&recorded, read, "max_call_read_bytes", 20 << 20, size);
}

#[test]
fn the_read_limit_starts_anew_with_each_call() {
    let fixture = Fixture::new();
    fixture.input("t", "x".repeat(10));
    let recorded = limited(&fixture, |limits| {
        limits.max_read_bytes = 10;
        limits.max_call_read_bytes = 10;
    });
    for _ in 0..3 {
        recorded.fields("read_file", json!({ "path": "t" }));
    }
}

#[test]
fn max_call_read_bytes_is_exact_where_it_is_the_lower_limit() {
    let fixture = Fixture::new();
    fixture.input("at", "x".repeat(10));
    fixture.input("above", "x".repeat(11));
    let recorded = limited(&fixture, |limits| limits.max_call_read_bytes = 10);
    recorded.fields("read_file", json!({ "path": "at" }));
    let read = ("read_file", json!({ "path": "above" }));
    assert_exceeded(&recorded, read, "max_call_read_bytes", 10, 11);
}

/// The limit counts bytes, not characters.
#[test]
fn max_write_bytes_is_exact_and_leaves_nothing_partial() {
    let fixture = Fixture::new();
    fixture.work("old", "old");
    let recorded = limited(&fixture, |limits| limits.max_write_bytes = 10);
    for content in ["", "x", "123456789", "1234567890", "äääää"] {
        for path in ["new", "old"] {
            let arguments = json!({ "path": path, "content": content });
            recorded.fields("write_file", arguments);
            assert_eq!(fixture.workspace_text(path), content);
        }
    }
    let before = tree(fixture.base());
    for (content, actual) in [
        ("12345678901", 11),
        ("äääääx", 11),
        (&*"x".repeat(1000), 1000),
    ] {
        for path in ["newer", "a/b/newer", "old"] {
            let arguments = json!({ "path": path, "content": content });
            let write = ("write_file", arguments);
            assert_exceeded(&recorded, write, "max_write_bytes", 10, actual);
            let arguments = json!({ "file_path": path, "content": content, "overwrite": true });
            let create = ("create_file", arguments);
            assert_exceeded(&recorded, create, "max_write_bytes", 10, actual);
        }
    }
    assert_eq!(tree(fixture.base()), before);
}

/// What is copied out of the component is limited too; the answer names the limit that the
/// caller can do something about.
#[test]
fn far_more_than_may_be_written_is_the_same_limit() {
    const MIB: usize = 1 << 20;
    let fixture = Fixture::new();
    let recorded = fixture.session();
    for length in [30 * MIB, 40 * MIB] {
        let arguments = json!({ "path": "t", "content": "x".repeat(length) });
        let error = recorded.error("write_file", arguments);
        assert_eq!(error.code(), "limit-exceeded", "{length}: {error}");
        assert_eq!(
            error.details()["limit"],
            "max_write_bytes",
            "{length}: {error}"
        );
        assert_eq!(error.details()["value"], 5 * MIB, "{length}: {error}");
    }
}

#[test]
fn a_write_limit_of_zero_still_makes_empty_files() {
    let fixture = Fixture::new();
    let recorded = limited(&fixture, |limits| limits.max_write_bytes = 0);
    recorded.fields("write_file", json!({ "path": "t", "content": "" }));
    let write = ("write_file", json!({ "path": "u", "content": "x" }));
    assert_exceeded(&recorded, write, "max_write_bytes", 0, 1);
}

/// Bytes of a text inside a JSON string.
fn escaped(text: &str) -> u64 {
    Value::from(text).to_string().len() as u64 - 2
}

/// The limit is on fields and payload together, as they are sent; the component's own part of
/// the fields is learnt from a call without the limit.
#[test]
fn max_output_bytes_is_exact() {
    let fixture = Fixture::new();
    fixture.input("t", "x".repeat(1000));
    fixture.input("escapes", "a\"\\\n\u{1}é".repeat(100));
    fixture.input("binary", [0xff; 100]);
    let calls = [
        ("read_file", json!({ "path": "t" })),
        ("read_file", json!({ "path": "escapes" })),
        (
            "read_file",
            json!({ "path": "binary", "encoding": "base64" }),
        ),
        ("list_files", json!({})),
        ("file_exists", json!({ "path": "t" })),
        (
            "generate_from_template",
            json!({ "template": "{{a}}", "variables": { "a": "x".repeat(500) } }),
        ),
    ];
    for (tool, arguments) in calls {
        let output = fixture.session().call(tool, arguments.clone()).unwrap();
        // What is delivered counts, with the operator's labels in it.
        let payload = match output.content() {
            Content::None => 0,
            Content::Text(text) => escaped(text),
            Content::Bytes { data, mime_type } => {
                (data.len().div_ceil(3) * 4) as u64 + escaped(mime_type)
            }
        };
        let size = escaped(output.fields_json()) + payload;
        for limit in [size, size + 1] {
            let recorded = limited(&fixture, |limits| limits.max_output_bytes = limit);
            recorded.fields(tool, arguments.clone());
        }
        let recorded = limited(&fixture, |limits| limits.max_output_bytes = size - 1);
        let call = (tool, arguments);
        assert_exceeded(&recorded, call, "max_output_bytes", size - 1, size);
    }
}

#[test]
fn a_change_whose_answer_is_too_large_is_not_made() {
    let fixture = Fixture::new();
    let recorded = limited(&fixture, |limits| limits.max_output_bytes = 10);
    let before = tree(fixture.base());
    for (tool, arguments) in [
        ("write_file", json!({ "path": "a/t", "content": "x" })),
        ("create_directory", json!({ "dir_path": "a/b" })),
    ] {
        let error = recorded.error(tool, arguments);
        assert_eq!(error.details()["limit"], "max_output_bytes", "{tool}");
    }
    assert_eq!(tree(fixture.base()), before);
}

/// What is guessed of the default limits in documentation is what holds.
#[test]
fn the_default_limits_are_those_that_are_documented() {
    const MIB: usize = 1 << 20;
    let fixture = Fixture::new();
    fixture.input("at", vec![b'x'; 10 * MIB]);
    fixture.input("above", vec![b'x'; 10 * MIB + 1]);
    let recorded = fixture.session();
    let fields = recorded.fields("read_file", json!({ "path": "at" }));
    assert_eq!(fields["size"], 10 * MIB);
    let read = ("read_file", json!({ "path": "above" }));
    let (limit, actual) = (10 * MIB as u64, 10 * MIB as u64 + 1);
    assert_exceeded(&recorded, read, "max_read_bytes", limit, actual);
    let write = |length| {
        (
            "write_file",
            json!({ "path": "t", "content": "x".repeat(length) }),
        )
    };
    let (limit, actual) = (5 * MIB as u64, 5 * MIB as u64 + 1);
    assert_exceeded(
        &recorded,
        write(5 * MIB + 1),
        "max_write_bytes",
        limit,
        actual,
    );
    let (tool, arguments) = write(5 * MIB);
    recorded.fields(tool, arguments);
}
