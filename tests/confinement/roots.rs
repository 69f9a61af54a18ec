//! Several roots: each is a place of its own, and a path means what it means in the root
//! in which it is looked up.

use std::fs;

use rootbound::{Consent, Session};
use serde_json::json;

use super::layout::Layout;
use crate::support::Recorded;

/// A layout whose root holds two directories that are granted.
fn side_by_side(setup: &str) -> (Layout, Recorded) {
    let layout = Layout::on_disk(setup);
    let builder = Session::builder()
        .read_root(layout.root().join("in"))
        .write_root(layout.root().join("out"));
    let recorded = Recorded::build(builder.overwrite(Consent::Allow).delete(Consent::Allow));
    (layout, recorded)
}

#[test]
fn a_link_from_one_root_into_another_is_an_escape() {
    let (layout, recorded) = side_by_side("in/f=x; out/f=y; in/l -> ../out; out/l -> ../in");
    for (tool, arguments) in [
        ("read_file", json!({ "path": "l/f" })),
        ("list_files", json!({ "path": "l" })),
        ("file_exists", json!({ "path": "l/f" })),
        ("write_file", json!({ "path": "l/f", "content": "new" })),
        (
            "create_file",
            json!({ "file_path": "l/n", "content": "new" }),
        ),
        ("create_directory", json!({ "dir_path": "l/n" })),
        ("delete_file", json!({ "path": "l/f" })),
    ] {
        assert!(
            fs::exists(layout.root().join("in/l/f")).unwrap(),
            "the link leads there"
        );
        assert_eq!(recorded.error(tool, arguments).code(), "escape", "{tool}");
    }
    assert_eq!(fs::read_to_string(layout.root().join("in/f")).unwrap(), "x");
}

#[test]
fn the_write_root_is_not_read_and_the_read_root_is_not_written() {
    let (layout, recorded) = side_by_side("in/f=x; out/g=secret");
    assert_eq!(
        recorded.error("read_file", json!({ "path": "g" })).code(),
        "not-found"
    );
    assert_eq!(
        recorded.error("delete_file", json!({ "path": "f" })).code(),
        "not-found"
    );
    recorded.fields("write_file", json!({ "path": "f", "content": "new" }));
    assert_eq!(fs::read_to_string(layout.root().join("in/f")).unwrap(), "x");
    assert_eq!(
        fs::read_to_string(layout.root().join("out/f")).unwrap(),
        "new"
    );
}

#[test]
fn a_root_inside_another_is_a_boundary_of_its_own() {
    let layout = Layout::on_disk("t=x; in/f=y; in/up -> ..");
    let builder = Session::builder()
        .read_root(layout.root())
        .write_root(layout.root().join("in"));
    let recorded = Recorded::build(builder.overwrite(Consent::Allow).delete(Consent::Allow));
    let read = recorded
        .call("read_file", json!({ "path": "in/up/t" }))
        .unwrap();
    assert_eq!(read.text(), Some("x"));
    for arguments in [
        json!({ "path": "up/t", "content": "new" }),
        json!({ "path": "up/in/f", "content": "new" }),
    ] {
        assert_eq!(recorded.error("write_file", arguments).code(), "escape");
    }
    let above = recorded.error("write_file", json!({ "path": "../t", "content": "new" }));
    assert_eq!(above.reason(), Some("traversal"));
    recorded.fields("write_file", json!({ "path": "f", "content": "new" }));
    assert_eq!(
        fs::read_to_string(layout.root().join("in/f")).unwrap(),
        "new"
    );
}

#[test]
fn only_absence_moves_on_to_the_next_root() {
    let layout = Layout::on_disk(
        "1/l -> ../2; 1/d/; 1/p -> p; fifo 1/q; 2/l/s=x; 2/d=x; 2/p=x; 2/q=x; 2/r=x",
    );
    let builder = Session::builder()
        .read_root(layout.root().join("1"))
        .read_root(layout.root().join("2"));
    let recorded = Recorded::build(builder);
    for (path, code) in [
        ("l/s", "escape"),
        ("d", "not-a-file"),
        ("p", "not-a-file"),
        ("q", "not-a-file"),
        ("../r", "invalid-path"),
    ] {
        assert_eq!(
            recorded.error("read_file", json!({ "path": path })).code(),
            code,
            "{path}"
        );
    }
    let found = recorded.call("read_file", json!({ "path": "r" })).unwrap();
    assert_eq!(found.text(), Some("x"));
}

#[test]
fn a_root_that_is_replaced_stays_the_directory_that_was_granted() {
    let layout = Layout::on_disk("f=x; OUT/f=secret");
    let builder = Session::builder()
        .read_root(layout.root())
        .write_root(layout.root());
    let recorded = Recorded::build(builder);
    fs::rename(layout.root(), layout.base().join("moved")).unwrap();
    std::os::unix::fs::symlink("OUT", layout.root()).unwrap();
    let by_name = fs::read_to_string(layout.root().join("f")).unwrap();
    assert_eq!(by_name, "secret", "the name leads outside now");

    let read = recorded.call("read_file", json!({ "path": "f" })).unwrap();
    assert_eq!(read.text(), Some("x"));
    recorded.fields("create_file", json!({ "file_path": "n", "content": "new" }));
    assert!(layout.base().join("moved/n").exists());
    assert!(!layout.base().join("OUT/n").exists());
}

#[test]
fn a_base_directory_takes_absolute_paths_inside_it_and_no_others() {
    let layout = Layout::on_disk("t=x; d/; l -> ../OUT; OUT/s=secret; ^ROOT-evil/s=secret");
    let recorded = Recorded::build(Session::builder().base_dir(layout.root()));
    let root = layout.root().display().to_string();
    for path in [
        "t".to_owned(),
        format!("{root}/t"),
        format!("{root}/d/../t"),
    ] {
        let read = recorded.call("read_file", json!({ "path": path })).unwrap();
        assert_eq!(read.text(), Some("x"), "{path}");
    }
    for (path, answer) in [
        (format!("{root}-evil/s"), "absolute"),
        (format!("{root}/../OUT/s"), "traversal"),
        (format!("{root}/d/../../OUT/s"), "traversal"),
        (format!("/{root}/t"), "unc"),
        ("/etc/passwd".to_owned(), "absolute"),
        ("../OUT/s".to_owned(), "traversal"),
    ] {
        let error = recorded.error("read_file", json!({ "path": path }));
        assert_eq!(error.reason(), Some(answer), "{path}");
    }
    let error = recorded.error("read_file", json!({ "path": format!("{root}/l/s") }));
    assert_eq!(error.code(), "escape");
}

#[test]
fn strict_paths_refuse_every_parent_step() {
    let layout = Layout::on_disk("a/; t=x");
    let inside = json!({ "path": "a/../t" });
    let lenient = Recorded::build(Session::builder().read_root(layout.root()));
    assert!(lenient.call("read_file", inside.clone()).is_ok());
    let strict = Session::builder()
        .read_root(layout.root())
        .strict_paths(true);
    let error = Recorded::build(strict).error("read_file", inside);
    assert_eq!(error.reason(), Some("traversal"));
}
