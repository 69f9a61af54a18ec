//! A component that does not list its tools as it should: no start, said with the file and why,
//! and the others are as they were.

use std::fs;

use rootbound::{ComponentLoader, ToolComponent, ToolHost, code};
use serde_json::json;

use super::guest;
use crate::hostile::component::with_listing;
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

#[test]
fn no_command_starts_with_it_beside_others_or_alone() {
    let cli = Cli::new();
    let file = guest::file(cli.state(), "twins.wasm", &with_listing(b'd'));
    for arguments in [
        &["call", "trap"][..],
        &["call", "read_file", "--component", "built-in"],
        &["tools"],
        &["tools", "--component", "built-in"],
        &["check"],
        &["mcp", "--component", "built-in"],
    ] {
        let run = Run::of(cli.command(arguments).arg("--component").arg(&file));
        assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{run:?}");
        for words in [
            "twins.wasm",
            "tools-invalid",
            "two of its tools have the name `twin`",
        ] {
            assert!(run.stderr.contains(words), "{arguments:?}: {run:?}");
        }
    }
    let kept = cli.state().join("cache/rootbound/components");
    assert_eq!(fs::read_dir(kept).map_or(0, Iterator::count), 0);
}

#[test]
fn one_that_traps_or_never_answers_is_refused_alike() {
    let cli = Cli::new();
    for (letter, words) in [(b'h', "longer than 1000 ms"), (b'i', "stopped abnormally")] {
        let file = guest::file(cli.state(), "list.wasm", &with_listing(letter));
        let run = Run::of(cli.command(["check", "--component"]).arg(&file));
        assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{run:?}");
        assert!(run.stderr.contains("tools-invalid"), "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
    }
}

#[test]
fn a_host_goes_on_with_what_it_has() {
    let (host, fixture) = (ToolHost::default(), Fixture::new());
    fixture.input("notes.md", "hello");
    host.load("files", ToolComponent::file_tools().unwrap())
        .unwrap();
    let tenant = host.tenant(fixture.session().session);
    for letter in [b'd', b'h', b'i'] {
        let loader = ComponentLoader::default();
        let bad = loader.load(&with_listing(letter)).unwrap();
        let error = host.load("bad", bad.clone()).unwrap_err().to_string();
        assert!(
            error.contains("`bad`") && error.contains("tools-invalid"),
            "{error}"
        );
        host.replace("files", bad).unwrap_err();
        let read = tenant.call("read_file", json!({"path": "notes.md"}));
        assert_eq!(read.unwrap().text(), Some("hello"));
    }
    let unknown = tenant.call("bad__twin", "{}").unwrap_err();
    assert_eq!(unknown.code(), code::UNKNOWN_TOOL);
}
