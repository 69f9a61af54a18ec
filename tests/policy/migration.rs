//! What programs that come from older toolkits are given: a base directory, or no
//! confinement at all.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rootbound::{Consent, Limits, Session};
use serde_json::json;

use crate::support::tree::tree;
use crate::support::{Fixture, Recorded, pipe};

fn base_dir(directory: impl AsRef<Path>) -> Recorded {
    Recorded::build(Session::builder().base_dir(directory))
}

fn spelled(path: impl AsRef<Path>) -> String {
    path.as_ref().to_str().unwrap().to_owned()
}

#[test]
fn absolute_paths_inside_a_base_directory_are_understood() {
    let fixture = Fixture::new();
    fixture.work("d/t", "hello");
    let recorded = base_dir(fixture.workspace());
    let base = spelled(fixture.workspace());
    for path in [
        "d/t".to_owned(),
        format!("{base}/d/t"),
        format!("{base}//d/t"),
        format!("{base}/d/../d/t"),
    ] {
        let output = recorded.call("read_file", json!({ "path": path })).unwrap();
        assert_eq!(output.text(), Some("hello"), "{path}");
    }
    for path in [
        base.clone(),
        format!("{base}/"),
        format!("{base}/."),
        ".".to_owned(),
    ] {
        let fields = recorded.fields("list_files", json!({ "path": path }));
        assert_eq!(fields["entries"][0]["name"], "d", "{path}");
    }
    let new = format!("{base}/new/t");
    recorded.fields("create_file", json!({ "file_path": new, "content": "x" }));
    recorded.fields(
        "create_directory",
        json!({ "dir_path": format!("{base}/e") }),
    );
    assert_eq!(fixture.workspace_text("new/t"), "x");
    assert!(fixture.workspace().join("e").is_dir());
}

/// What lies outside, how an absolute path says so, and the reason that is given.
#[test]
fn absolute_paths_outside_a_base_directory_are_refused() {
    let fixture = Fixture::new();
    let secrets = [
        fixture.outside().join("t"),
        fixture.base().join("workspace-2/t"),
        fixture.base().join("work"),
    ];
    for secret in &secrets {
        fs::create_dir_all(secret.parent().unwrap()).unwrap();
        fs::write(secret, "secret").unwrap();
    }
    let recorded = base_dir(fixture.workspace());
    let base = spelled(fixture.workspace());
    let [outside, sibling, prefix] = secrets.map(spelled);
    // The control: unconfined, these are ways to a secret.
    for path in [&outside, &sibling, &prefix, &format!("{base}/../outside/t")] {
        assert_eq!(fs::read_to_string(path).unwrap(), "secret", "{path}");
    }
    for (path, reason) in [
        (outside, "absolute"),
        (sibling, "absolute"),
        (prefix, "absolute"),
        (spelled(fixture.base()), "absolute"),
        (format!("{base}/../outside/t"), "traversal"),
        (format!("{base}-2/t"), "absolute"),
        (format!("/{base}/d/t"), "unc"),
        (format!("file://{base}/t"), "absolute"),
        ("../outside/t".to_owned(), "traversal"),
    ] {
        let before = tree(fixture.base());
        for (tool, arguments) in [
            ("read_file", json!({ "path": path })),
            ("file_exists", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": "x" })),
            ("delete_file", json!({ "path": path })),
        ] {
            let error = recorded.error(tool, arguments);
            assert_eq!(error.reason(), Some(reason), "{tool} {path}");
            assert!(!error.message().contains(&base), "{}", error.message());
        }
        assert_eq!(tree(fixture.base()), before, "{path}");
    }
}

#[test]
fn a_base_directory_is_known_by_the_spelling_it_was_given_and_by_its_real_one() {
    let fixture = Fixture::new();
    fixture.work("t", "hello");
    let link = fixture.base().join("link");
    symlink("workspace", &link).unwrap();
    let recorded = base_dir(&link);
    for path in [link.join("t"), fixture.workspace().join("t")] {
        let path = spelled(path);
        let output = recorded.call("read_file", json!({ "path": path })).unwrap();
        assert_eq!(output.text(), Some("hello"), "{path}");
    }
}

#[test]
fn only_paths_are_respelled() {
    let fixture = Fixture::new();
    let recorded = base_dir(fixture.workspace());
    let base = spelled(fixture.workspace());
    let content = format!("{base}/t is a path");
    recorded.fields("write_file", json!({ "path": "t", "content": content }));
    assert_eq!(fixture.workspace_text("t"), content);
    let output = recorded
        .call(
            "generate_from_template",
            json!({ "template": "{{path}}", "variables": { "path": base } }),
        )
        .unwrap();
    assert_eq!(output.text(), Some(&*base));
    // A number keeps its form, as it does without a base directory.
    let arguments = r#"{"template": "{{n}}", "variables": {"n": 1.50}}"#;
    let output = recorded.session.call("generate_from_template", arguments);
    assert_eq!(output.unwrap().text(), Some("1.50"));
}

#[test]
fn a_base_directory_allows_overwriting_and_still_asks_before_deleting() {
    let fixture = Fixture::new();
    fixture.work("t", "old");
    let recorded = base_dir(fixture.workspace());
    assert_eq!(recorded.session.policy().overwrite, Consent::Allow);
    recorded.fields("write_file", json!({ "path": "t", "content": "new" }));
    assert_eq!(fixture.workspace_text("t"), "new");
    fixture.work("theirs", "old");
    let error = recorded.error("delete_file", json!({ "path": "theirs" }));
    assert_eq!(error.code(), "approval-required");
}

#[test]
fn a_base_directory_is_made_where_it_is_missing() {
    let fixture = Fixture::new();
    let directory = fixture.base().join("new/base");
    let recorded = base_dir(&directory);
    recorded.fields("write_file", json!({ "path": "t", "content": "x" }));
    assert_eq!(fs::read_to_string(directory.join("t")).unwrap(), "x");
}

#[test]
fn without_a_base_directory_an_absolute_path_into_a_root_is_refused() {
    let fixture = Fixture::new();
    let input = spelled(fixture.input("t", "hello"));
    let error = fixture
        .session()
        .error("read_file", json!({ "path": input }));
    assert_eq!(error.reason(), Some("absolute"));
}

#[test]
fn unrestricted_reaches_the_whole_file_system() {
    let fixture = Fixture::new();
    let outside = fs::write(fixture.outside().join("t"), "found").map(|()| fixture.outside());
    let target = spelled(outside.unwrap().join("t"));
    symlink(&target, fixture.inputs().join("link")).unwrap();
    let recorded = Recorded::build(Session::builder().unrestricted());
    for path in [
        target.clone(),
        spelled(fixture.inputs().join("link")),
        spelled(fixture.inputs().join("../outside/t")),
    ] {
        let output = recorded.call("read_file", json!({ "path": path })).unwrap();
        assert_eq!(output.text(), Some("found"), "{path}");
    }
    recorded.fields("write_file", json!({ "path": target, "content": "new" }));
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    recorded.fields("delete_file", json!({ "path": target }));
    assert!(!Path::new(&target).exists());
    let warnings = recorded.session.warnings();
    assert!(warnings.iter().any(|w| w.contains("whole file system")));
}

/// Tests run in the directory of the package.
#[test]
fn unrestricted_takes_relative_paths_from_the_working_directory() {
    let recorded = Recorded::build(Session::builder().unrestricted());
    for path in ["Cargo.toml", "tests/../Cargo.toml"] {
        let output = recorded.call("read_file", json!({ "path": path })).unwrap();
        let expected = fs::read_to_string("Cargo.toml").unwrap();
        assert_eq!(output.text(), Some(&*expected), "{path}");
    }
    let listed = recorded.fields("list_files", json!({}));
    let entries = listed["entries"].as_array().unwrap();
    assert!(entries.iter().any(|entry| entry["name"] == "Cargo.toml"));
}

#[test]
fn unrestricted_keeps_limits_records_and_its_hands_off_pipes() {
    let fixture = Fixture::new();
    pipe(&fixture.inputs().join("pipe"));
    let large = spelled(fixture.input("large", [b'x'; 11]));
    let limits = Limits {
        max_read_bytes: 10,
        ..Limits::default()
    };
    let recorded = Recorded::build(Session::builder().unrestricted().limits(limits));
    let path = spelled(fixture.inputs().join("pipe"));
    let error = recorded.error("read_file", json!({ "path": path }));
    assert_eq!(error.reason(), Some("special"));
    let error = recorded.error("read_file", json!({ "path": large }));
    assert_eq!(error.code(), "limit-exceeded");
    assert_eq!(recorded.entries_of("refusal").len(), 2);
}
