//! What `check` says about the directories.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::support::cli::{Cli, Run, open_to_everyone};
use crate::support::{Fixture, pipe};

fn roots(run: &Run) -> Vec<Value> {
    run.success()["roots"].as_array().unwrap().clone()
}

#[test]
fn each_root_is_told_with_what_may_be_done_there() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let mut command = cli.command(["check", "--json", "--read"]);
    let run = Run::of(
        command
            .arg(fixture.inputs())
            .arg("--write")
            .arg(fixture.workspace()),
    );
    let told = roots(&run);
    assert_eq!(told.len(), 2);
    for (root, rights) in told.iter().zip(["read", "write"]) {
        assert_eq!(root["rights"], rights);
        assert_eq!(root["obstacles"], json!([]));
        assert_eq!(root["inside"], Value::Null);
        assert!(root["mode"].as_str().unwrap().starts_with('0'));
    }
    let mut command = cli.command(["check", "--read"]);
    let text = Run::of(command.arg(fixture.inputs())).stdout;
    assert!(text.contains("tools may: read, list and look up"), "{text}");
}

#[test]
fn what_stands_in_the_way_is_counted_on_request() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    fixture.input("d/a", "a");
    fs::hard_link(fixture.inputs().join("d/a"), fixture.inputs().join("b")).unwrap();
    symlink("../outside", fixture.inputs().join("out")).unwrap();
    symlink("/etc/passwd", fixture.inputs().join("d/absolute")).unwrap();
    symlink("d", fixture.inputs().join("in")).unwrap();
    pipe(&fixture.inputs().join("pipe"));
    let run = |format: &str| {
        let mut command = cli.command(["check", "--look-inside", "--format", format, "--read"]);
        Run::of(command.arg(fixture.inputs()))
    };
    let inside = &roots(&run("json"))[0]["inside"];
    let expected = json!({
        "objects": 7, "links_out": 2, "mounts": 0, "hard_links": 2, "special": 1, "closed": 0,
        "complete": true,
    });
    assert_eq!(*inside, expected);
    let text = run("text").stdout;
    assert!(text.contains("inside: 2 links lead out"), "{text}");
}

#[test]
fn a_directory_that_may_not_be_used_is_told() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    for directory in [fixture.base(), &fixture.inputs(), &fixture.workspace()] {
        open_to_everyone(directory);
    }
    let closed = fixture.inputs().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o311)).unwrap();
    fs::set_permissions(fixture.workspace(), Permissions::from_mode(0o555)).unwrap();
    let arguments = ["check", "--json", "--look-inside", "--read"];
    let mut command = match rustix::process::geteuid().is_root() {
        true => cli.command_as_nobody(arguments),
        false => cli.command(arguments),
    };
    command.arg(fixture.inputs()).arg("--read").arg(&closed);
    let told = roots(&Run::of(command.arg("--write").arg(fixture.workspace())));
    assert_eq!(told[0]["inside"]["closed"], 1, "{told:?}");
    assert_eq!(told[1]["obstacles"], json!(["this user may not list it"]));
    assert_eq!(
        told[2]["obstacles"],
        json!(["this user may not make or remove names in it"])
    );
    // Where nothing can be made, it is not known.
    assert_eq!(told[2]["unnamed_files"], Value::Null);
}
