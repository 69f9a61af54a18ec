//! Special files and special attributes, beyond what one row of a table can say.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::layout::Layout;
use super::trial::session;
use super::verdict::Policy;
use crate::support::mounts::Mount;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn permissions_outlive_a_replacement_and_the_set_user_id_bit_does_not() {
    let layout = Layout::on_disk(
        "x=old; mode x 0755; s=old; mode s 4755; g=old; mode g 2750; p=old; mode p 0600",
    );
    let recorded = session(&layout, Policy::Everything);
    for (name, kept) in [("x", 0o755), ("s", 0o755), ("g", 0o750), ("p", 0o600)] {
        recorded.fields("write_file", json!({ "path": name, "content": "new" }));
        assert_eq!(mode(&layout.root().join(name)), kept, "{name}");
    }
}

#[test]
fn a_replacement_leaves_the_other_names_of_a_file_alone() {
    let layout = Layout::on_disk("OUT/s=secret; h == ../OUT/s");
    let recorded = session(&layout, Policy::Everything);
    let refused = recorded.error("write_file", json!({ "path": "h", "content": "new" }));
    assert_eq!(refused.code(), "hard-link");
    recorded.fields("delete_file", json!({ "path": "h" }));
    recorded.fields("write_file", json!({ "path": "h", "content": "new" }));
    let outside = layout.base().join("OUT/s");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "secret");
    assert_eq!(fs::metadata(outside).unwrap().nlink(), 1);
}

/// The program under a ceiling for its memory (`prlimit` of util-linux) and a watchdog, with
/// the limits on reading out of the way.
///
/// Nothing, when the program did not survive.
fn read_under_ceiling(layout: &Layout, path: &str, ceiling: &str) -> Option<Value> {
    let state = tempfile::tempdir().unwrap();
    let output = Command::new("timeout")
        .args(["60", "prlimit"])
        .arg(format!("--data={ceiling}"))
        .arg(env!("CARGO_BIN_EXE_rootbound"))
        .args(["call", "read_file", &json!({ "path": path }).to_string()])
        .args([
            "--max-read-bytes",
            "4096GiB",
            "--max-call-read-bytes",
            "4096GiB",
        ])
        .args(["--audit", "none", "--read"])
        .arg(layout.root())
        .env("XDG_STATE_HOME", state.path())
        .stdin(Stdio::null())
        .output()
        .expect("`prlimit` of util-linux sets the ceiling");
    serde_json::from_slice(&output.stdout).ok()
}

#[test]
fn a_terabyte_costs_no_more_memory_than_the_guest_may_have() {
    let layout = Layout::on_disk("sparse big 1099511627776");
    let answer = read_under_ceiling(&layout, "big", "536870912").unwrap();
    assert_eq!(answer["error"]["code"], "limit-exceeded");
    assert_eq!(answer["error"]["limit"], "max_memory");
}

#[test]
fn the_ceiling_of_the_test_above_would_be_felt() {
    let layout = Layout::on_disk("sparse big 1099511627776");
    let answer = read_under_ceiling(&layout, "big", "134217728");
    assert!(answer.is_none_or(|answer| answer["error"]["code"] == "trapped"));
}

#[test]
fn file_systems_of_the_kernel_are_no_roots() {
    let layout = Layout::on_disk("proc -> /proc; dev -> /dev; d/");
    for root in [
        "/",
        "/proc",
        "/proc/self",
        "/proc/self/fd",
        "/sys",
        "/dev",
        "/dev/fd",
        "/etc",
    ] {
        let built = rootbound::Session::builder().read_root(root).build();
        assert!(built.is_err(), "{root} was granted");
    }
    for link in ["proc", "dev"] {
        let built = rootbound::Session::builder()
            .write_root(layout.root().join(link))
            .build();
        assert!(built.is_err(), "a link to /{link} was granted");
    }
}

#[test]
fn a_file_system_mounted_inside_the_root_is_part_of_it() {
    let layout = Layout::on_disk("d/hidden; t; l -> d/up; OUT/s=secret");
    let inside = layout.root().join("d");
    let _mount = Mount::memory("1m", &inside);
    fs::write(inside.join("f"), "mounted").unwrap();
    symlink("../t", inside.join("up")).unwrap();
    symlink("../../OUT/s", inside.join("out")).unwrap();
    let recorded = session(&layout, Policy::Everything);

    let listed = recorded.fields("list_files", json!({ "path": "d" }));
    assert_eq!(listed["count"], 3, "what the mount hides is not listed");
    for (path, text) in [("d/f", "mounted"), ("d/up", "t"), ("l", "t")] {
        let read = recorded.call("read_file", json!({ "path": path })).unwrap();
        assert_eq!(read.text(), Some(text), "{path}");
    }
    for path in ["d/out", "d/../d/out"] {
        let error = recorded.error("read_file", json!({ "path": path }));
        assert_eq!(error.code(), "escape", "{path}");
    }
    recorded.fields("write_file", json!({ "path": "d/f", "content": "new" }));
    recorded.fields(
        "create_file",
        json!({ "file_path": "d/n/m", "content": "new" }),
    );
    recorded.fields("delete_file", json!({ "path": "d/up" }));
    assert_eq!(fs::read_to_string(inside.join("f")).unwrap(), "new");
    assert_eq!(fs::read_to_string(inside.join("n/m")).unwrap(), "new");
    assert!(!inside.join("up").is_symlink());
}
