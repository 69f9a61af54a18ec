//! A declaration takes away from what was granted, and adds nothing.

use rootbound::{ComponentLoader, Import, Manifest, Session, ToolComponent};
use serde_json::json;

use super::guest;
use crate::support::cli::{Cli, Run};
use crate::support::{Fixture, Recorded};

fn declaring(manifest: &str) -> ToolComponent {
    let bytes = std::fs::read(built_in()).unwrap();
    let with_manifest = Manifest::add_to(&bytes, manifest.as_bytes()).unwrap();
    ToolComponent::from_bytes(&with_manifest).unwrap()
}

/// Our own component, as another's file.
pub fn built_in() -> std::path::PathBuf {
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap();
    target.join("rootbound/file-tools.wasm")
}

fn session(fixture: &Fixture, manifest: &str) -> Recorded {
    let builder = Session::builder()
        .read_root(fixture.inputs())
        .write_root(fixture.workspace())
        .component(declaring(manifest));
    Recorded::build(builder)
}

#[test]
fn what_is_not_declared_is_not_given() {
    let fixture = Fixture::new();
    fixture.input("notes.md", "hello");
    let write = json!({"path": "new.md", "content": "x"});
    let read = json!({"path": "notes.md"});

    let reader = session(&fixture, r#"{"manifest":1,"read":true}"#);
    assert_eq!(reader.session.grants().len(), 1);
    reader.fields("read_file", read.clone());
    assert_eq!(
        reader.error("write_file", write.clone()).code(),
        "not-granted"
    );

    let writer = session(&fixture, r#"{"manifest":1,"write":true}"#);
    writer.fields("write_file", write);
    assert_eq!(writer.error("read_file", read).code(), "not-granted");

    let nothing = session(&fixture, r#"{"manifest":1}"#);
    assert!(nothing.session.grants().is_empty());
}

/// Nobody is asked for a grant that could not help; who is asked for one that could, is.
#[test]
fn what_is_not_declared_is_told_as_such() {
    let fixture = Fixture::new();
    fixture.input("notes.md", "hello");
    let write = || json!({"path": "new.md", "content": "x"});
    let read = || json!({"path": "notes.md"});
    let (reads, writes, nothing) = (
        r#"{"manifest":1,"read":true}"#,
        r#"{"manifest":1,"write":true}"#,
        r#"{"manifest":1}"#,
    );
    for (manifest, tool, arguments, without) in [
        (reads, "write_file", write(), "granted for writing"),
        (reads, "delete_file", read(), "granted for writing"),
        (writes, "read_file", read(), "granted for reading"),
        (writes, "list_files", json!({}), "granted for reading"),
        (nothing, "read_file", read(), "granted for reading"),
        (nothing, "write_file", write(), "granted for writing"),
    ] {
        let error = session(&fixture, manifest).error(tool, arguments);
        assert_eq!(error.code(), "not-granted", "{manifest} {tool}: {error}");
        let hint = error.hint();
        assert!(hint.contains("declares that it does not need"), "{hint}");
        assert!(
            hint.contains(without) && !hint.contains("ask the"),
            "{hint}"
        );
    }
    let nothing_to_write = Session::builder()
        .read_root(fixture.inputs())
        .component(declaring(r#"{"manifest":1,"write":true}"#));
    let error = Recorded::build(nothing_to_write).error("write_file", write());
    assert!(error.hint().contains("ask the user to grant"), "{error:?}");
}

#[test]
fn a_declared_limit_is_the_lower_of_both() {
    let fixture = Fixture::new();
    fixture.input("large", vec![b'x'; 5000]);
    let declared =
        r#"{"manifest":1,"read":true,"limits":{"max_read_bytes":1000,"max_handles":999999}}"#;
    let recorded = session(&fixture, declared);
    let error = recorded.error("read_file", json!({"path": "large"}));
    assert_eq!(error.details()["value"], 1000);
    assert_eq!(recorded.session.policy().limits.max_handles, 256);
    let genesis = &recorded.entries_of("genesis")[0];
    assert_eq!(genesis["policy"]["max_read_bytes"], 1000);
}

#[test]
fn an_import_that_is_granted_and_not_declared_is_not_given() {
    let manifest = br#"{"manifest":1,"imports":["environment"]}"#;
    let bytes = Manifest::add_to(guest::importing(), manifest).unwrap();
    let loader = ComponentLoader::default();
    let loader = Import::ALL
        .into_iter()
        .fold(loader, ComponentLoader::import);
    assert_eq!(
        loader.load(&bytes).unwrap_err().code(),
        "import-not-declared"
    );
}

#[test]
fn a_manifest_is_added_once_and_shown() {
    let cli = Cli::new();
    let component = guest::file(cli.state(), "tool.wasm", guest::plain());
    let manifest = guest::file(cli.state(), "m.json", br#"{"manifest":1,"read":true}"#);
    let output = cli.state().join("declared.wasm");

    let none = Run::of(cli.command(["manifest", "show"]).arg(&component));
    assert_eq!(none.status, Some(1), "{none:?}");

    let mut add = cli.command(["manifest", "add"]);
    add.arg(&component).arg(&manifest).arg("-o").arg(&output);
    assert_eq!(Run::of(&mut add).status, Some(0));

    let shown = Run::of(cli.command(["manifest", "show"]).arg(&output));
    assert_eq!(shown.success()["read"], true);
    let inspected = Run::of(cli.command(["inspect", "--json"]).arg(&output));
    assert_eq!(inspected.success()["manifest"]["write"], false);

    let mut again = cli.command(["manifest", "add"]);
    again
        .arg(&output)
        .arg(&manifest)
        .arg("-o")
        .arg(cli.state().join("twice.wasm"));
    let again = Run::of(&mut again);
    assert!(again.stderr.contains("manifest-duplicate"), "{again:?}");
}

#[test]
fn a_file_that_is_no_manifest_is_blamed_and_not_the_component() {
    let cli = Cli::new();
    let tool = guest::file(cli.state(), "tool.wasm", guest::plain());
    let large = vec![b'{'; 20_000];
    for (code, manifest) in [
        ("manifest-malformed", &b"{}"[..]),
        ("manifest-too-large", &large),
    ] {
        let manifest = guest::file(cli.state(), "m.json", manifest);
        let mut add = cli.command(["manifest", "add"]);
        let run = Run::of(add.arg(&tool).arg(&manifest).arg("-o").arg(&tool));
        assert_eq!(run.status, Some(2), "{run:?}");
        let words = format!("m.json` is no manifest: {code}");
        assert!(run.stderr.contains(&words), "{run:?}");
    }
}
