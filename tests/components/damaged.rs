//! Files that are no tool components: each has its code, and nothing of them is run or kept.

use std::fs;

use serde_json::Value;
use wasm_encoder::{
    Component, ComponentImportSection, ComponentTypeRef, ComponentTypeSection, InstanceType,
};

use super::guest;
use crate::support::cli::{Cli, Run};

/// A component that imports an interface with one function.
pub fn importing(interface: &str) -> Vec<u8> {
    let mut instance = InstanceType::new();
    let none: [(&str, wasm_encoder::ComponentValType); 0] = [];
    instance.ty().function().params(none).result(None);
    instance.export("now", ComponentTypeRef::Func(0));
    let mut types = ComponentTypeSection::new();
    types.instance(&instance);
    let mut imports = ComponentImportSection::new();
    imports.import(interface, ComponentTypeRef::Instance(0));
    let mut component = Component::new();
    component.section(&types).section(&imports);
    component.finish()
}

/// The first problem's code, and that the file is not taken by `call` either.
#[test]
fn each_has_a_code_and_nothing_is_kept_of_it() {
    let cli = Cli::new();
    let whole = guest::plain();
    let manifest = br#"{"manifest":1}"#;
    let mut twice = guest::with_section("rootbound:manifest", manifest);
    let more = guest::with_section("rootbound:manifest", manifest);
    twice.extend(&more[whole.len()..]);
    let rows: Vec<(&str, Vec<u8>)> = vec![
        ("not-wasm", Vec::new()),
        ("not-wasm", b"(component)".to_vec()),
        ("not-wasm", b"\x7fELF\x02\x01\x01\0".to_vec()),
        ("core-module", b"\0asm\x01\0\0\0".to_vec()),
        ("truncated", b"\0asm".to_vec()),
        ("truncated", whole[..whole.len() / 2].to_vec()),
        ("malformed", b"\0asm\x0d\0\x01\0\x63\x01\0".to_vec()),
        ("foreign-world", Component::new().finish()),
        (
            "wasi-version",
            importing("wasi:clocks/monotonic-clock@0.3.0"),
        ),
        (
            "wasi-version",
            importing("wasi:filesystem/types@0.2.0-rc-2023-11-10"),
        ),
        ("import-refused", importing("wasi:keyvalue/store@0.2.0")),
        (
            "import-refused",
            importing("rootbound:tools/approvals@0.1.0"),
        ),
        ("too-many", guest::with_exports(10_000)),
        ("too-many", guest::with_functions(200_001, 0)),
        ("too-large", guest::with_functions(1, 1 << 20)),
        ("too-large", guest::with_functions(68, 1_000_000)),
        ("too-large", guest::with_types(6_000_000)),
        ("too-large", guest::with_joins()),
        ("too-large", guest::with_values()),
        ("too-large", guest::with_carried_values()),
        ("too-large", guest::with_loops_in_loops()),
        ("too-large", guest::with_values_around_loops()),
        ("too-many", guest::instantiating(10_000, "x", 900)),
        (
            "too-many",
            guest::instantiating(20, &"x".repeat(99_000), 900),
        ),
        ("too-many", guest::doubling(60)),
        ("too-many", guest::instances_in_instances(900)),
        ("too-many", guest::nested(100_000, 0x41)),
        ("too-many", guest::nested(100_000, 0x42)),
        (
            "manifest-malformed",
            guest::with_section("rootbound:manifest", b"{}"),
        ),
        (
            "manifest-too-large",
            guest::with_section("rootbound:manifest", &[b' '; 20_000]),
        ),
        ("manifest-duplicate", twice),
    ];
    for (code, bytes) in rows {
        let file = guest::file(cli.state(), "file.wasm", &bytes);
        let run = Run::of(cli.command(["inspect", "--json"]).arg(&file));
        assert_eq!(run.status, Some(1), "{code}: {run:?}");
        assert_eq!(run.json()["problems"][0]["code"], code, "{run:?}");
        let run = Run::of(cli.command(["call", "trap", "--component"]).arg(&file));
        assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{run:?}");
        assert!(run.stderr.contains(code), "{code}: {run:?}");
    }
    let kept = cli.state().join("cache/rootbound/components");
    assert_eq!(fs::read_dir(kept).map_or(0, Iterator::count), 0);
}

/// Our own component takes longer than a millisecond.
#[test]
fn what_takes_too_long_to_compile_is_refused_and_not_kept() {
    let cli = Cli::new();
    let file = guest::file(cli.state(), "file.wasm", guest::plain());
    let patience = ["--compile-timeout-ms", "1"];
    let run = Run::of(cli.command(["inspect", "--json"]).arg(&file).args(patience));
    assert_eq!(run.status, Some(1), "{run:?}");
    assert_eq!(
        run.json()["problems"][0]["code"],
        "compile-timeout",
        "{run:?}"
    );
    let mut call = cli.command(["call", "trap", "--component"]);
    let run = Run::of(call.arg(&file).args(patience));
    assert_eq!((run.status, &*run.stdout), (Some(2), ""), "{run:?}");
    assert!(run.stderr.contains("compile-timeout"), "{run:?}");
    let kept = cli.state().join("cache/rootbound/components");
    assert_eq!(fs::read_dir(kept).map_or(0, Iterator::count), 0);
}

#[test]
fn a_file_of_200_megabytes_is_not_even_read() {
    let cli = Cli::new();
    let file = cli.state().join("large.wasm");
    fs::File::create(&file)
        .unwrap()
        .set_len(200_000_000)
        .unwrap();
    let run = Run::of(cli.command(["inspect", "--json"]).arg(&file));
    let json: Value = run.json();
    assert_eq!(json["problems"][0]["code"], "too-large");
    assert_eq!(json["sha256"], Value::Null);
}

#[test]
fn a_pipe_and_an_absent_file_are_unreadable() {
    let cli = Cli::new();
    crate::support::pipe(&cli.state().join("pipe.wasm"));
    for name in ["pipe.wasm", "absent.wasm"] {
        let file = cli.state().join(name);
        let run = Run::of(cli.command(["inspect", "--json"]).arg(&file));
        assert_eq!(run.json()["problems"][0]["code"], "unreadable", "{run:?}");
    }
}
