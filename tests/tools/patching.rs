//! `apply_patch`: all of a patch or nothing, and only where it fits.

use std::fs;
use std::os::unix::fs::symlink;

use rootbound::{CallOptions, Consent, Session};
use serde_json::{Value, json};

use crate::support::tree::names;
use crate::support::{Fixture, Recorded};

fn allowing(fixture: &Fixture) -> Recorded {
    let builder = Session::builder().work_root(fixture.workspace());
    Recorded::build(builder.overwrite(Consent::Allow).delete(Consent::Allow))
}

fn patch(text: &str) -> Value {
    json!({ "patch": text })
}

/// Four files, one of each thing that a patch can do.
const EVERYTHING: &str = "\
diff --git a/changed b/changed
--- a/changed
+++ b/changed
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
diff --git a/new/file b/new/file
new file mode 100644
--- /dev/null
+++ b/new/file
@@ -0,0 +1 @@
+new
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/from b/to
similarity index 100%
rename from from
rename to to
";

fn everything() -> Fixture {
    let fixture = Fixture::new();
    fixture.work("changed", "one\r\ntwo\r\nthree\r\n");
    fixture.work("gone", "gone\n");
    fixture.work("from", "moved");
    fixture
}

#[test]
fn several_files_are_changed_in_one_transaction() {
    let fixture = everything();
    let output = allowing(&fixture)
        .call("apply_patch", patch(EVERYTHING))
        .unwrap();
    assert_eq!(
        names(&fixture.workspace()),
        ["changed", "new", "new/file", "to"]
    );
    assert_eq!(fixture.workspace_text("changed"), "one\r\nTWO\r\nthree\r\n");
    assert_eq!(fixture.workspace_text("new/file"), "new\n");
    assert_eq!(fixture.workspace_text("to"), "moved");
    assert_eq!(
        output.fields()["files"],
        json!([
            { "path": "changed", "operation": "change" },
            { "path": "new/file", "operation": "create" },
            { "path": "gone", "operation": "delete" },
            { "path": "from", "operation": "rename", "to": "to" },
        ])
    );
    assert_eq!(output.receipt().unwrap().effects.len(), 5);
}

/// Whatever the host says, of which of the files it says it.
#[test]
fn a_refusal_names_the_file_of_the_patch() {
    let fixture = everything();
    fixture.work("secret", "one\n");
    let builder = Session::builder().work_root(fixture.workspace());
    let builder = builder.overwrite(Consent::Allow).deny("secret");
    let recorded = Recorded::build(builder.delete(Consent::Deny));
    let change = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-one\n+two\n");
    for (section, path, code) in [
        (change("absent"), "absent", "not-found"),
        (change("../up"), "../up", "invalid-path"),
        (change("secret"), "secret", "pattern-denied"),
        (change("no/such/file"), "no/such/file", "not-found"),
        (
            "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n".to_owned(),
            "gone",
            "delete-denied",
        ),
        (
            "diff --git a/none b/to\nrename from none\nrename to to\n".to_owned(),
            "none",
            // It takes a name away, whether anything has it or not.
            "delete-denied",
        ),
    ] {
        let first = "--- /dev/null\n+++ b/first\n@@ -0,0 +1 @@\n+new\n";
        let error = recorded.error("apply_patch", patch(&format!("{first}{section}")));
        assert_eq!(error.code(), code, "{path}: {error}");
        assert_eq!(error.details()["path"], path, "{error}");
        assert!(error.message().contains(&format!("`{path}`")), "{error}");
    }
}

#[test]
fn one_hunk_that_does_not_fit_leaves_all_as_it_was() {
    let fixture = everything();
    let before = names(&fixture.workspace());
    let failing = format!("{EVERYTHING}--- a/last\n+++ b/last\n@@ -1 +1 @@\n-not there\n+x\n");
    fixture.work("last", "something else\n");
    let error = allowing(&fixture).error("apply_patch", patch(&failing));
    assert_eq!(error.code(), "no-match");
    let details = error.details();
    assert_eq!(
        (&details["path"], &details["hunk"]),
        (&json!("last"), &json!(1))
    );
    assert_eq!(
        details["line"],
        failing
            .lines()
            .position(|line| line == "-not there")
            .unwrap()
    );
    assert_eq!(
        names(&fixture.workspace()),
        [before, vec!["last".to_owned()]].concat()
    );
    assert_eq!(fixture.workspace_text("changed"), "one\r\ntwo\r\nthree\r\n");
    assert_eq!(fixture.workspace_text("gone"), "gone\n");
}

#[test]
fn a_dry_run_shows_all_effects_and_makes_none() {
    let fixture = everything();
    let before = names(&fixture.workspace());
    let options = CallOptions {
        dry_run: true,
        ..CallOptions::default()
    };
    let output = allowing(&fixture)
        .session
        .call_with("apply_patch", patch(EVERYTHING), options);
    assert_eq!(output.unwrap().dry_run().unwrap().len(), 5);
    assert_eq!(names(&fixture.workspace()), before);
}

#[test]
fn a_patch_destroys_nothing_that_it_does_not_know() {
    let fixture = Fixture::new();
    fixture.work("exists", "mine\n");
    fixture.work("more", "one\ntwo\n");
    let recorded = allowing(&fixture);
    for (text, code) in [
        (
            "--- /dev/null\n+++ b/exists\n@@ -0,0 +1 @@\n+theirs\n",
            "exists",
        ),
        (
            "--- a/more\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n",
            "no-match",
        ),
        (
            "diff --git a/more b/exists\nrename from more\nrename to exists\n",
            "exists",
        ),
        (
            "--- a/absent\n+++ b/absent\n@@ -1 +1 @@\n-a\n+b\n",
            "not-found",
        ),
        ("no patch at all", "invalid-arguments"),
    ] {
        assert_eq!(
            recorded.error("apply_patch", patch(text)).code(),
            code,
            "{text}"
        );
    }
    assert_eq!(fixture.workspace_text("exists"), "mine\n");
    assert_eq!(fixture.workspace_text("more"), "one\ntwo\n");
}

/// The paths are no arguments, and are judged all the same.
#[test]
fn paths_inside_a_patch_reach_no_further_than_others() {
    let fixture = Fixture::new();
    fs::write(fixture.outside().join("f"), "a\n").unwrap();
    symlink("../outside", fixture.workspace().join("out")).unwrap();
    fixture.work("f", "a\n");
    let recorded = allowing(&fixture);
    let absolute = fixture.outside().join("f");
    for (path, code) in [
        ("../outside/f", "invalid-path"),
        ("out/f", "escape"),
        (absolute.to_str().unwrap(), "invalid-path"),
        ("C:/f", "invalid-path"),
    ] {
        for text in [
            format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n"),
            format!("--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+b\n"),
            format!("--- {path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
            format!("diff --git x y\nrename from f\nrename to {path}\n"),
            format!("diff --git x y\nrename from {path}\nrename to g\n"),
        ] {
            recorded.forget();
            let error = recorded.error("apply_patch", patch(&text));
            assert_eq!(error.code(), code, "{text}");
            assert_eq!(recorded.entries_of("refusal").len(), 1, "{text}");
        }
    }
    assert_eq!(names(&fixture.outside()), ["f"]);
    assert_eq!(fs::read(fixture.outside().join("f")).unwrap(), b"a\n");
}

#[test]
fn a_patch_is_held_to_grants_and_policy() {
    let fixture = Fixture::new();
    fixture.work("f", "a\n");
    let change = patch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n");
    let denying = Recorded::build(Session::builder().work_root(fixture.workspace()));
    assert_eq!(
        denying.error("apply_patch", change.clone()).code(),
        "overwrite-denied"
    );
    let unread = fixture.session_with(|builder| builder.overwrite(Consent::Allow));
    assert_eq!(unread.error("apply_patch", change).code(), "not-granted");
    assert_eq!(fixture.workspace_text("f"), "a\n");
}

#[test]
fn a_blank_at_the_end_of_a_name_is_part_of_the_name() {
    let fixture = Fixture::new();
    fixture.work("x ", "one\n");
    fixture.work("x", "one\n");
    let builder = Session::builder().work_root(fixture.workspace());
    let recorded = Recorded::build(builder.overwrite(Consent::Allow));
    let patch = "--- a/x \n+++ b/x \n@@ -1 +1 @@\n-one\n+two\n";
    recorded
        .call("apply_patch", json!({ "patch": patch }))
        .unwrap();
    assert_eq!(fixture.workspace_text("x "), "two\n");
    assert_eq!(fixture.workspace_text("x"), "one\n");
}
