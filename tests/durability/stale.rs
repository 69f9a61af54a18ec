//! `expected_version` and `expected_sha256`: the host holds the caller to what it has seen.

use std::fs;
use std::os::unix::fs::symlink;

use rootbound::{CallOptions, Consent, Session};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded, sha256};

const OLD: &str = "the old content";

/// A session that may change everything, over a file, a directory and links to both.
struct Desk {
    fixture: Fixture,
    recorded: Recorded,
}

impl Desk {
    fn new() -> Self {
        let fixture = Fixture::new();
        fixture.work("a.txt", OLD);
        fixture.work("d/a.txt", OLD);
        symlink("d", fixture.workspace().join("link")).unwrap();
        let builder = Session::builder().work_root(fixture.workspace());
        let builder = builder.overwrite(Consent::Allow).delete(Consent::Allow);
        let recorded = Recorded::build(builder);
        Self { fixture, recorded }
    }

    fn version(&self, path: &str) -> String {
        let fields = self.recorded.fields("file_exists", json!({ "path": path }));
        fields["version"].as_str().unwrap().to_owned()
    }

    /// Whether both files hold what they held.
    fn is_untouched(&self) -> bool {
        let holds = |path| fs::read_to_string(self.fixture.workspace().join(path)).ok();
        [holds("a.txt"), holds("d/a.txt")]
            .iter()
            .flatten()
            .all(|text| text == OLD)
            && self.fixture.workspace().join("a.txt").exists()
            && self.fixture.workspace().join("d/a.txt").exists()
    }
}

/// Every tool that can destroy, with the path argument that is guarded.
/// A tool, and its arguments for a path.
type Destruction = (&'static str, fn(&str) -> Value);

const TOOLS: [Destruction; 3] = [
    ("write_file", |path| json!({"path": path, "content": "new"})),
    (
        "create_file",
        |path| json!({"file_path": path, "content": "new", "overwrite": true}),
    ),
    ("delete_file", |path| json!({ "path": path })),
];

/// What the caller says, and the code of the answer; none where the change is made.
type Word = (
    &'static str,
    fn(&Desk) -> (&'static str, Value),
    Option<&'static str>,
);

const WORDS: [Word; 17] = [
    (
        "the right version",
        |desk| ("expected_version", json!(desk.version("a.txt"))),
        None,
    ),
    (
        "the right hash",
        |_| ("expected_sha256", json!(sha256(OLD))),
        None,
    ),
    (
        "the right version in capitals",
        |desk| {
            (
                "expected_version",
                json!(desk.version("a.txt").to_uppercase()),
            )
        },
        None,
    ),
    (
        "the right hash in capitals",
        |_| ("expected_sha256", json!(sha256(OLD).to_uppercase())),
        None,
    ),
    (
        "nothing, spelled out",
        |_| ("expected_version", Value::Null),
        None,
    ),
    (
        "the version of another file",
        |desk| ("expected_version", json!(desk.version("d/a.txt"))),
        Some("conflict"),
    ),
    (
        "a wrong version",
        |_| ("expected_version", json!("0".repeat(32))),
        Some("conflict"),
    ),
    (
        "a wrong hash",
        |_| ("expected_sha256", json!("0".repeat(64))),
        Some("conflict"),
    ),
    (
        "the hash of the new content",
        |_| ("expected_sha256", json!(sha256("new"))),
        Some("conflict"),
    ),
    (
        "a version that is too short",
        |desk| ("expected_version", json!(desk.version("a.txt")[..31])),
        Some("invalid-arguments"),
    ),
    (
        "a version with something behind it",
        |desk| ("expected_version", json!(desk.version("a.txt") + " ")),
        Some("invalid-arguments"),
    ),
    (
        "no digits",
        |_| ("expected_version", json!("g".repeat(32))),
        Some("invalid-arguments"),
    ),
    (
        "an empty version",
        |_| ("expected_version", json!("")),
        Some("invalid-arguments"),
    ),
    (
        "a number",
        |_| ("expected_version", json!(1)),
        Some("invalid-arguments"),
    ),
    (
        "a list",
        |_| ("expected_sha256", json!([])),
        Some("invalid-arguments"),
    ),
    (
        "a version where the hash belongs",
        |desk| ("expected_sha256", json!(desk.version("a.txt"))),
        Some("invalid-arguments"),
    ),
    (
        "a word that is not known",
        |_| ("expected_hash", json!("0".repeat(64))),
        Some("invalid-arguments"),
    ),
];

#[test]
fn a_change_is_made_only_where_the_caller_knows_what_it_changes() {
    for (what, word, code) in WORDS {
        for (tool, arguments) in TOOLS {
            let desk = Desk::new();
            let (name, value) = word(&desk);
            let mut arguments = arguments("a.txt");
            arguments[name] = value;
            let answer = desk.recorded.call(tool, arguments);
            let answered = answer.err().map(|error| error.code().to_owned());
            assert_eq!(answered.as_deref(), code, "{tool}: {what}");
            assert_eq!(desk.is_untouched(), code.is_some(), "{tool}: {what}");
        }
    }
}

#[test]
fn both_words_must_be_right() {
    for (version_is_right, hash_is_right) in [(true, true), (true, false), (false, true)] {
        for (tool, arguments) in TOOLS {
            let desk = Desk::new();
            let mut arguments = arguments("a.txt");
            let wrong =
                |right: bool, word: String| if right { word } else { "0".repeat(word.len()) };
            arguments["expected_version"] = json!(wrong(version_is_right, desk.version("a.txt")));
            arguments["expected_sha256"] = json!(wrong(hash_is_right, sha256(OLD)));
            let answer = desk.recorded.call(tool, arguments);
            assert_eq!(answer.is_ok(), version_is_right && hash_is_right, "{tool}");
        }
    }
}

#[test]
fn a_stale_caller_changes_nothing() {
    type Touch = fn(&Desk);
    let touches: [(&str, Touch); 4] = [
        ("other content", |desk| {
            drop(desk.fixture.work("a.txt", "someone else's"))
        }),
        ("the same content again", |desk| {
            drop(desk.fixture.work("a.txt", OLD))
        }),
        ("another file with the same content", |desk| {
            let other = desk.fixture.work("other", OLD);
            fs::rename(other, desk.fixture.workspace().join("a.txt")).unwrap();
        }),
        ("nothing", |desk| {
            fs::remove_file(desk.fixture.workspace().join("a.txt")).unwrap()
        }),
    ];
    for (what, touch) in touches {
        for (tool, arguments) in TOOLS {
            let desk = Desk::new();
            let mut arguments = arguments("a.txt");
            arguments["expected_version"] = json!(desk.version("a.txt"));
            touch(&desk);
            let before = fs::read(desk.fixture.workspace().join("a.txt")).ok();
            let code = desk.recorded.error(tool, arguments).code().to_owned();
            // Deleting what is not there is not found before anybody compares.
            let expected = match (what, tool) {
                ("nothing", "delete_file") => "not-found",
                _ => "conflict",
            };
            assert_eq!(code, expected, "{tool} over {what}");
            let after = fs::read(desk.fixture.workspace().join("a.txt")).ok();
            assert_eq!(after, before, "{tool} over {what}");
        }
    }
}

#[test]
fn an_absent_target_is_a_conflict_and_leaves_no_directory() {
    for (tool, arguments) in &TOOLS[..2] {
        for word in [("expected_version", 32), ("expected_sha256", 64)] {
            let desk = Desk::new();
            let mut arguments = arguments("made/deep/new.txt");
            arguments[word.0] = json!("0".repeat(word.1));
            let error = desk.recorded.error(tool, arguments);
            assert_eq!((error.code(), error.reason()), ("conflict", Some("absent")));
            assert!(!desk.fixture.workspace().join("made").exists());
        }
    }
}

#[test]
fn a_key_spelled_with_escapes_is_the_same_key() {
    for key in [
        r"expected_versio\u006e",
        r"\u0065xpected_version",
        r"expected\u005fversion",
    ] {
        for (version, code) in [(None, Some("conflict")), (Some("a.txt"), None)] {
            let desk = Desk::new();
            let version = version.map_or("0".repeat(32), |path| desk.version(path));
            let text = format!(r#"{{"path": "a.txt", "content": "new", "{key}": "{version}"}}"#);
            let answer = desk.recorded.session.call("write_file", text);
            let answered = answer.err().map(|error| error.code().to_owned());
            assert_eq!(answered.as_deref(), code, "{key}");
        }
    }
}

#[test]
fn a_key_given_twice_is_refused() {
    let desk = Desk::new();
    let right = desk.version("a.txt");
    let wrong = "0".repeat(32);
    for (first, second) in [(&right, &wrong), (&wrong, &right)] {
        let text = format!(
            r#"{{"path": "a.txt", "content": "new", "expected_version": "{first}", "expected_version": "{second}"}}"#
        );
        let error = desk.recorded.session.call("write_file", text).unwrap_err();
        assert_eq!(error.code(), "invalid-arguments");
        assert!(desk.is_untouched());
    }
}

#[test]
fn other_spellings_of_the_path_are_guarded_too() {
    for path in [
        "./a.txt",
        "././a.txt",
        "d/../a.txt",
        "d//a.txt",
        "d/./a.txt",
        "link/a.txt",
    ] {
        for (tool, arguments) in TOOLS {
            for is_right in [false, true] {
                let desk = Desk::new();
                let mut arguments = arguments(path);
                let right = desk.version(path);
                let version = if is_right { right } else { "0".repeat(32) };
                arguments["expected_version"] = json!(version);
                let answer = desk.recorded.call(tool, arguments);
                let answered = answer.err().map(|error| error.code().to_owned());
                let expected = (!is_right).then_some("conflict");
                assert_eq!(answered.as_deref(), expected, "{tool} {path}");
                assert_eq!(desk.is_untouched(), !is_right, "{tool} {path}");
            }
        }
    }
}

#[test]
fn a_directory_that_changed_is_not_deleted() {
    let desk = Desk::new();
    let delete = |version: String| {
        let arguments = json!({"path": "d", "recursive": true, "expected_version": version});
        desk.recorded.call("delete_file", arguments)
    };
    let version = desk.version("d");
    desk.fixture.work("d/appeared.txt", "someone else's");
    assert_eq!(delete(version).unwrap_err().code(), "conflict");
    assert!(desk.is_untouched());
    delete(desk.version("d")).unwrap();
    assert!(!desk.fixture.workspace().join("d").exists());
}

#[test]
fn the_version_of_the_receipt_is_what_the_next_change_expects() {
    let desk = Desk::new();
    let mut version = desk.version("a.txt");
    for round in 0..5 {
        let write = json!({
            "path": "a.txt", "content": round.to_string(), "expected_version": version,
        });
        let output = desk.recorded.call("write_file", write).unwrap();
        let effect = &output.receipt().unwrap().effects[0];
        version = effect.version.unwrap().to_string();
        assert_eq!(version, desk.version("a.txt"));
    }
}

#[test]
fn a_dry_run_says_that_the_caller_is_stale() {
    let desk = Desk::new();
    for (tool, arguments) in TOOLS {
        let mut arguments = arguments("a.txt");
        arguments["expected_version"] = json!("0".repeat(32));
        let options = CallOptions {
            dry_run: true,
            ..Default::default()
        };
        let answer = desk.recorded.session.call_with(tool, arguments, options);
        assert_eq!(answer.unwrap_err().code(), "conflict", "{tool}");
    }
}
