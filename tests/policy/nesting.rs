//! One directory granted both ways, and roots that lie inside one another: each grant keeps
//! its own rights, and a path means what it means in the root it was looked up in.

use std::fs;
use std::path::Path;

use rootbound::{Consent, Session, SessionBuilder};
use serde_json::json;

use crate::support::{Fixture, Recorded};

fn write(recorded: &Recorded, path: &str, content: &str) {
    let fields = recorded.fields("write_file", json!({ "path": path, "content": content }));
    assert_eq!(fields["path"], path);
}

fn read(recorded: &Recorded, path: &str) -> String {
    let output = recorded.call("read_file", json!({ "path": path })).unwrap();
    output.text().unwrap().to_owned()
}

#[test]
fn a_work_root_is_read_and_written_under_one_name() {
    let fixture = Fixture::new();
    let builder = Session::builder().work_root(fixture.workspace());
    let recorded = Recorded::build(builder.overwrite(Consent::Allow));
    write(&recorded, "d/t", "one");
    assert_eq!(read(&recorded, "d/t"), "one");
    write(&recorded, "d/t", "two");
    assert_eq!(read(&recorded, "d/t"), "two");
    let listed = recorded.fields("list_files", json!({ "path": "d" }));
    assert_eq!(listed["root"], "workspace");
    assert_eq!(listed["entries"][0]["name"], "t");
    let roots = recorded.entries_of("outcome");
    assert!(roots.iter().all(|entry| entry["root"] == "workspace"));
}

/// `work_root` widens where, never what: nothing may be overwritten or deleted unasked.
#[test]
fn a_work_root_keeps_the_default_policy() {
    let fixture = Fixture::new();
    fixture.work("t", "old");
    let recorded = Recorded::build(Session::builder().work_root(fixture.workspace()));
    let error = recorded.error("write_file", json!({ "path": "t", "content": "new" }));
    assert_eq!(error.code(), "overwrite-denied");
    let error = recorded.error("delete_file", json!({ "path": "t" }));
    assert_eq!(error.code(), "approval-required");
    assert_eq!(fixture.workspace_text("t"), "old");
}

#[test]
fn a_write_root_inside_a_read_root_is_read_through_the_outer_one() {
    let fixture = Fixture::new();
    let drafts = fixture.inputs().join("drafts");
    fs::create_dir(&drafts).unwrap();
    let builder = Session::builder().read_root(fixture.inputs());
    let recorded = Recorded::build(builder.write_root(&drafts));
    write(&recorded, "t", "new");
    assert_eq!(fs::read_to_string(drafts.join("t")).unwrap(), "new");
    assert_eq!(read(&recorded, "drafts/t"), "new");
    // In the read root that path leads elsewhere.
    let error = recorded.error("read_file", json!({ "path": "t" }));
    assert_eq!(error.code(), "not-found");
    // And writing by the outer root's path makes something else.
    write(&recorded, "drafts/t", "other");
    assert!(drafts.join("drafts/t").is_file());
    // Beside the inner root the outer one grants no writing.
    let error = recorded.error("write_file", json!({ "path": "../t", "content": "x" }));
    assert_eq!(error.reason(), Some("traversal"));
}

#[test]
fn a_read_root_inside_a_write_root_shows_its_own_part_only() {
    let fixture = Fixture::new();
    fixture.work("public/t", "shown");
    fixture.work("private/t", "hidden");
    let builder = Session::builder().read_root(fixture.workspace().join("public"));
    let recorded = Recorded::build(builder.write_root(fixture.workspace()));
    assert_eq!(read(&recorded, "t"), "shown");
    for path in ["private/t", "public/t"] {
        let error = recorded.error("read_file", json!({ "path": path }));
        assert_eq!(error.code(), "not-found", "{path}");
    }
    write(&recorded, "public/new", "new");
    assert_eq!(read(&recorded, "new"), "new");
}

#[test]
fn a_read_root_inside_another_is_a_root_of_its_own() {
    let fixture = Fixture::new();
    fixture.input("inner/t", "inner");
    fixture.input("t", "outer");
    let inner = fixture.inputs().join("inner");
    let outer_first = Session::builder()
        .read_root(fixture.inputs())
        .read_root(&inner);
    let inner_first = Session::builder()
        .read_root(&inner)
        .read_root(fixture.inputs());
    assert_eq!(read(&Recorded::build(outer_first), "t"), "outer");
    let recorded = Recorded::build(inner_first);
    assert_eq!(read(&recorded, "t"), "inner");
    assert_eq!(read(&recorded, "inner/t"), "inner");
    // The inner root is a boundary although the outer one would allow the way up.
    let error = recorded.error("read_file", json!({ "path": "../t" }));
    assert_eq!(error.reason(), Some("traversal"));
}

/// The version of an object does not depend on the root it is seen through.
#[test]
fn one_file_has_one_version_through_every_root() {
    let fixture = Fixture::new();
    let drafts = fixture.inputs().join("drafts");
    fs::create_dir(&drafts).unwrap();
    let builder = Session::builder().read_root(fixture.inputs());
    let recorded = Recorded::build(builder.read_root(&drafts).write_root(&drafts));
    let output = recorded
        .call("write_file", json!({ "path": "t", "content": "x" }))
        .unwrap();
    let written = output.receipt().unwrap().effects[0].version.unwrap();
    for path in ["t", "drafts/t"] {
        let fields = recorded.fields("read_file", json!({ "path": path }));
        assert_eq!(fields["version"], written.to_string(), "{path}");
    }
}

/// Whoever writes a pattern that says where in a root something is means one of the two paths.
#[test]
fn overlapping_roots_with_patterns_about_places_are_warned_of() {
    let fixture = Fixture::new();
    fixture.input("docs/private/t", "x");
    let (outer, inner) = (fixture.inputs(), fixture.inputs().join("docs"));
    let private = inner.join("private");
    let reads = |roots: &[&Path]| {
        roots
            .iter()
            .fold(Session::builder(), |builder, root| builder.read_root(root))
    };
    type Change = fn(SessionBuilder) -> SessionBuilder;
    let plain: Change = |builder| builder;
    #[rustfmt::skip]
    let rows: [(SessionBuilder, Change, Option<&str>); 14] = [
        (reads(&[&outer, &inner]),            plain,                                  None),
        (reads(&[&outer, &inner]),            |it| it.deny("/secret"),                Some("`docs` lies in `inputs`, and patterns begin at each of them: `/secret`")),
        (reads(&[&inner, &outer]),            |it| it.deny("*.key").deny("docs/private/**"), Some("`docs/private/**`")),
        (reads(&[&outer, &private]),          |it| it.allow("docs/**"),               Some("`private` lies in `inputs`, and patterns begin at each of them: `docs/**`")),
        (reads(&[&outer, &inner]),            |it| it.deny("*.key").deny("!/a.key"),  Some("`!/a.key`")),
        (reads(&[&outer, &inner]),            |it| it.deny("**/docs/private"),        Some("`**/docs/private`")),
        (reads(&[&outer]).write_root(&inner), |it| it.deny("/secret"),                Some("`docs` lies in `inputs`")),
        (reads(&[&inner]).write_root(&outer), |it| it.deny("/secret"),                Some("`docs` lies in `inputs`")),
        (reads(&[&outer, &inner]),            |it| it.deny("secret"),                 None),
        (reads(&[&outer, &inner]),            |it| it.deny("secret/").deny("**/*.key"), None),
        (reads(&[&outer, &private]),          |it| it.deny("private"),                Some("`private` lies in `inputs`, where the patterns deny it")),
        (reads(&[&outer]).work_root(fixture.workspace()), |it| it.deny("/secret"),    None),
        (Session::builder().work_root(&outer), |it| it.deny("/secret"),               None),
        (reads(&[&outer, &inner, &private]),  |it| it.deny("/secret"),                Some("`private` lies in `docs`")),
    ];
    for (number, (builder, change, expected)) in rows.into_iter().enumerate() {
        let session = Recorded::build(change(builder)).session;
        let mut warnings = session.warnings().iter();
        let told = session.warnings();
        match expected {
            None => assert!(
                !warnings.any(|it| it.contains(" lies in ")),
                "{number}: {told:?}"
            ),
            Some(words) => {
                assert!(warnings.any(|it| it.contains(words)), "{number}: {told:?}");
            }
        }
    }
}
