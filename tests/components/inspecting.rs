//! `rootbound inspect` says what a file is, without running it.

use rootbound::{ComponentLoader, Inspection};
use serde_json::{Value, json};
use wasm_encoder::{
    Component, ComponentImportSection, ComponentTypeRef, ComponentTypeSection, ComponentValType,
    InstanceType, TypeBounds,
};

use super::guest;
use crate::hostile::component::with_listing;
use crate::support::cli::{Cli, Run};

struct Desk {
    cli: Cli,
}

impl Desk {
    fn new() -> Self {
        Self { cli: Cli::new() }
    }

    fn inspect(&self, bytes: &[u8], options: &[&str]) -> Run {
        let file = guest::file(self.cli.state(), "file.wasm", bytes);
        let mut command = self.cli.command(["inspect"]);
        Run::of(command.arg(file).args(options))
    }

    fn json(&self, bytes: &[u8], options: &[&str]) -> (Option<i32>, Value) {
        let run = self.inspect(bytes, &[&["--json"], options].concat());
        (run.status, run.json())
    }
}

#[test]
fn a_tool_component_would_be_loaded_and_is_not_run() {
    let desk = Desk::new();
    // Its list of tools never ends, which nobody notices who does not ask for it.
    let (status, json) = desk.json(&with_listing(b'h'), &[]);
    assert_eq!((status, &json["loads"]), (Some(0), &json!(true)), "{json}");
    assert_eq!(json["world"], "rootbound:tools/tool-component@0.1.0");
    assert_eq!(json["problems"], json!([]));
    assert_eq!(json["never_given"], json!([]));
    assert_eq!(json["sha256"], crate::support::sha256(with_listing(b'h')));
    assert!(json["producers"]["processed-by"].is_array(), "{json}");
}

#[test]
fn its_tools_are_listed_where_that_is_asked_for() {
    let (status, json) = Desk::new().json(guest::plain(), &["--tools"]);
    assert_eq!(status, Some(0), "{json}");
    assert!(json["tools"].as_array().unwrap().len() > 3, "{json}");
}

#[test]
fn a_list_of_tools_that_lies_is_found_out() {
    let desk = Desk::new();
    for letter in [b'c', b'd', b'e', b'g', b'h', b'i', b'j'] {
        let (status, json) = desk.json(&with_listing(letter), &["--tools"]);
        assert_eq!(status, Some(1), "{json}");
        assert_eq!(json["problems"][0]["code"], "tools-invalid", "{json}");
    }
}

#[test]
fn what_it_asks_for_is_said_with_who_gives_it() {
    let desk = Desk::new();
    let (status, json) = desk.json(guest::importing(), &[]);
    assert_eq!((status, &json["loads"]), (Some(1), &json!(false)));
    let all: Vec<&str> = guest::ALL.split(',').collect();
    assert_eq!(json["loads_with"], json!(all), "{json}");
    let (status, json) = desk.json(guest::importing(), &["--import", guest::ALL]);
    assert_eq!((status, &json["loads"]), (Some(0), &json!(true)), "{json}");
}

#[test]
fn people_are_told_in_sentences() {
    let run = Desk::new().inspect(guest::plain(), &[]);
    assert_eq!(run.status, Some(0), "{run:?}");
    for words in [
        "it would be loaded",
        "with `--read DIR`: it can read",
        "no network",
        "wasi:filesystem/types@0.2.12",
    ] {
        assert!(run.stdout.contains(words), "{words}: {run:?}");
    }
}

/// A component that calls one function of WASI's file system.
fn calling(function: &str) -> Vec<u8> {
    let mut instance = InstanceType::new();
    let resource = ComponentTypeRef::Type(TypeBounds::SubResource);
    instance.export("descriptor", resource);
    instance.ty().defined_type().borrow(0);
    let own = [("self", ComponentValType::Type(1))];
    instance.ty().function().params(own).result(None);
    let name = format!("[method]descriptor.{function}");
    instance.export(name.as_str(), ComponentTypeRef::Func(2));
    let mut types = ComponentTypeSection::new();
    types.instance(&instance);
    let mut imports = ComponentImportSection::new();
    let instance = ComponentTypeRef::Instance(0);
    imports.import("wasi:filesystem/types@0.2.6", instance);
    let mut component = Component::new();
    component.section(&types).section(&imports);
    component.finish()
}

/// A function, and how the sentences about reading and writing go on.
const SENTENCES: [(&str, &str, &str); 8] = [
    ("read", "it can read, list", "nothing: it has no way"),
    (
        "read-directory",
        "it can read, list",
        "nothing: it has no way",
    ),
    (
        "open-at",
        "it can look up",
        "it can create empty files below DIR, and empty what",
    ),
    (
        "metadata-hash-at",
        "it can look up",
        "nothing: it has no way",
    ),
    ("readlink-at", "it can look up", "nothing: it has no way"),
    ("stat", "it can look up", "nothing: it has no way"),
    (
        "unlink-file-at",
        "it can look up",
        "it can create files below DIR, and change or",
    ),
    (
        "get-type",
        "nothing: it has no way",
        "nothing: it has no way",
    ),
];

#[test]
fn what_a_component_could_do_follows_from_the_functions_that_it_calls() {
    for (function, reading, writing) in SENTENCES {
        let words = Inspection::of(&ComponentLoader::default(), &calling(function)).in_words();
        let reading = format!("with `--read DIR`: {reading}");
        let writing = format!("with `--write DIR`: {writing}");
        assert!(words[0].starts_with(&reading), "{function}: {words:?}");
        assert!(words[1].starts_with(&writing), "{function}: {words:?}");
    }
}

#[test]
fn other_names_of_tools_are_shown_and_that_there_are_no_tools() {
    let desk = Desk::new();
    let run = desk.inspect(&with_listing(b'u'), &["--tools"]);
    let words = "\n    also called by: read_file, other_name\n";
    assert!(run.stdout.contains(words), "{run:?}");
    let run = desk.inspect(&with_listing(b'v'), &["--tools"]);
    let words = "it would be loaded, and lists no tools";
    assert!(run.stdout.contains(words), "{run:?}");
}

#[test]
fn a_name_in_the_file_cannot_command_the_terminal() {
    let section = [&b"\x01\x08language\x01"[..], b"\x07\x1b]0;x\x07y\x011"].concat();
    let run = Desk::new().inspect(&guest::with_section("producers", &section), &[]);
    assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
}

#[test]
fn a_wrong_command_line_is_status_2() {
    let cli = Cli::new();
    for arguments in [
        &["inspect"][..],
        &["inspect", "x.wasm", "--import", "sockets"],
        &["inspect", "x.wasm", "--trusted-key", "RWnothing"],
    ] {
        assert_eq!(cli.run(arguments).status, Some(2), "{arguments:?}");
    }
}
