//! Special files and special attributes, beyond what one row of a table can say.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::layout::Layout;
use super::trial::session;
use super::verdict::Policy;

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

/// The program under a ceiling for its memory (`prlimit` of util-linux), with the limits on
/// reading out of the way.
fn read_under_ceiling(layout: &Layout, path: &str, ceiling: &str) -> Value {
    let state = tempfile::tempdir().unwrap();
    let output = Command::new("prlimit")
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
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_terabyte_costs_no_more_memory_than_the_guest_may_have() {
    let layout = Layout::on_disk("sparse big 1099511627776");
    let answer = read_under_ceiling(&layout, "big", "536870912");
    assert_eq!(answer["error"]["code"], "limit-exceeded");
    assert_eq!(answer["error"]["limit"], "max_memory");
}

#[test]
fn the_ceiling_of_the_test_above_would_be_felt() {
    let layout = Layout::on_disk("sparse big 1099511627776");
    let answer = read_under_ceiling(&layout, "big", "134217728");
    assert_eq!(answer["error"]["code"], "trapped");
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

/// The program where another file system is mounted inside the root, in a mount namespace
/// of its own.
#[test]
fn a_file_system_mounted_inside_the_root_is_part_of_it() {
    let layout = Layout::on_disk("d/hidden; t; l -> d/up; OUT/s=secret");
    let script = r#"
        set -e
        mount -t tmpfs none "$1/d"
        echo mounted > "$1/d/f"
        ln -s ../t "$1/d/up"
        ln -s ../../OUT/s "$1/d/out"
        call() { "$2" call "$3" "$4" --read "$1" --write "$1" --audit none \
            --overwrite allow --delete allow --durability fast 2>/dev/null || true; }
        call "$1" "$2" list_files '{"path":"d","details":false}'
        call "$1" "$2" read_file '{"path":"d/f"}'
        call "$1" "$2" read_file '{"path":"l"}'
        call "$1" "$2" read_file '{"path":"d/out"}'
        call "$1" "$2" write_file '{"path":"d/f","content":"new"}'
        call "$1" "$2" create_file '{"file_path":"d/n/m","content":"new"}'
        call "$1" "$2" delete_file '{"path":"d/up"}'
        cat "$1/d/f" "$1/d/n/m"
    "#;
    let state = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .arg(layout.root())
        .arg(env!("CARGO_BIN_EXE_rootbound"))
        .env("XDG_STATE_HOME", state.path())
        .output()
        .expect("`unshare` of util-linux makes a mount namespace");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        lines.len(),
        8,
        "a mount takes root and CAP_SYS_ADMIN: {errors}"
    );
    let answers: Vec<Value> = lines[..7]
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers[0]["count"], 3);
    assert_eq!(answers[1]["content"], "mounted\n");
    assert_eq!(answers[2]["content"], "t");
    assert_eq!(answers[3]["error"]["code"], "escape");
    assert_eq!(answers[4]["created"], false);
    assert_eq!(answers[5]["created"], true);
    assert_eq!(answers[6]["deleted"], true);
    assert_eq!(lines[7], "newnew");
}
