//! Who decides which of strangers' components to take lets the right ones through: the loop in
//! `docs/components.md`, over fifty files and what is no file at all.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use wasm_encoder::{
    Component, ComponentImportSection, ComponentTypeRef, ComponentTypeSection, InstanceType,
};

use super::damaged::importing;
use super::declaring::built_in;
use super::guest;
use super::signing::{Signer, minisign};
use crate::hostile::component::with_listing;
use crate::support::cli::{Cli, PROGRAM};

/// Kilobytes of address space for each look: a file must not make it take more.
const MEMORY: u32 = 1 << 20;

/// A file, and the code of its first problem; none for what is let through.
type Row = (&'static str, Vec<u8>, Option<&'static str>);

fn manifest(json: &[u8]) -> Vec<u8> {
    guest::with_section("rootbound:manifest", json)
}

fn behind(mut bytes: Vec<u8>, more: &[u8]) -> Vec<u8> {
    bytes.extend(more);
    bytes
}

/// One list of functions with long names, imported under many names: a file of 200 kB whose
/// names would be 100 MB.
fn names_without_end() -> Vec<u8> {
    let mut instance = InstanceType::new();
    let none: [(&str, wasm_encoder::ComponentValType); 0] = [];
    instance.ty().function().params(none).result(None);
    for number in 0..100 {
        let name = format!("{}n{number}", "long-".repeat(400));
        instance.export(&name, ComponentTypeRef::Func(0));
    }
    let mut types = ComponentTypeSection::new();
    types.instance(&instance);
    let mut imports = ComponentImportSection::new();
    for number in 0..500 {
        let name = format!("wasi:keyvalue/store{number}@0.2.0");
        imports.import(&name, ComponentTypeRef::Instance(0));
    }
    let mut component = Component::new();
    component.section(&types).section(&imports);
    component.finish()
}

fn let_through() -> Vec<Row> {
    let ours = fs::read(built_in()).unwrap();
    let declared = br#"{"manifest":1,"read":true,"limits":{"max_depth":3}}"#;
    vec![
        ("plain", guest::plain().to_vec(), None),
        ("ours", ours, None),
        ("declared", manifest(declared), None),
        ("declares nothing", manifest(br#"{"manifest":1}"#), None),
        ("says escapes", with_listing(b'o'), None),
    ]
}

/// What is no component, or none of ours.
fn foreign() -> Vec<Row> {
    let whole = guest::plain();
    let cut = |at: usize| whole[..at].to_vec();
    vec![
        ("empty", Vec::new(), Some("not-wasm")),
        ("text", b"a letter\n".to_vec(), Some("not-wasm")),
        ("source", b"(component)".to_vec(), Some("not-wasm")),
        (
            "program",
            b"\x7fELF\x02\x01\x01\0".to_vec(),
            Some("not-wasm"),
        ),
        ("zip", b"PK\x03\x04".to_vec(), Some("not-wasm")),
        ("page", b"<!doctype html>".to_vec(), Some("not-wasm")),
        ("zeros", vec![0; 1 << 20], Some("not-wasm")),
        (
            "no module",
            b"\0asm\x01\0\0\0".to_vec(),
            Some("core-module"),
        ),
        ("module", guest::module().to_vec(), Some("core-module")),
        ("cut at 3", cut(3), Some("truncated")),
        ("cut at 4", cut(4), Some("truncated")),
        ("cut at half", cut(whole.len() / 2), Some("truncated")),
        ("cut at last", cut(whole.len() - 1), Some("truncated")),
        (
            "no section",
            behind(cut(8), b"\x63\x01\0"),
            Some("malformed"),
        ),
        (
            "text behind",
            behind(whole.to_vec(), b"text"),
            Some("truncated"),
        ),
        ("twice", behind(whole.to_vec(), whole), Some("malformed")),
        (
            "version 99",
            b"\0asm\x63\0\x01\0".to_vec(),
            Some("malformed"),
        ),
        (
            "nothing in it",
            Component::new().finish(),
            Some("foreign-world"),
        ),
        (
            "10,000 exports",
            guest::with_exports(10_000),
            Some("too-many"),
        ),
        (
            "types in types",
            guest::nested(100_000, 0x41),
            Some("too-many"),
        ),
        ("names", names_without_end(), Some("too-many")),
    ]
}

/// Components that ask for what they do not get, or say what cannot be.
fn greedy() -> Vec<Row> {
    let import = |interface: &str| importing(interface);
    let twice = behind(
        manifest(br#"{"manifest":1}"#),
        &manifest(br#"{"manifest":1}"#)[guest::plain().len()..],
    );
    vec![
        (
            "network",
            guest::importing().to_vec(),
            Some("import-not-granted"),
        ),
        (
            "wasi 0.3",
            import("wasi:clocks/monotonic-clock@0.3.0"),
            Some("wasi-version"),
        ),
        (
            "wasi rc",
            import("wasi:io/poll@0.2.0-rc-2023-11-10"),
            Some("wasi-version"),
        ),
        (
            "store",
            import("wasi:keyvalue/store@0.2.0"),
            Some("import-refused"),
        ),
        (
            "host",
            import("rootbound:tools/approvals@0.1.0"),
            Some("import-refused"),
        ),
        ("a function", import("print"), Some("import-refused")),
        ("an array", manifest(b"[1]"), Some("manifest-malformed")),
        ("no format", manifest(b"{}"), Some("manifest-malformed")),
        (
            "a null",
            manifest(br#"{"manifest":1,"read":null}"#),
            Some("manifest-malformed"),
        ),
        (
            "unknown",
            manifest(br#"{"manifest":1,"net":true}"#),
            Some("manifest-malformed"),
        ),
        (
            "large",
            manifest(&[b' '; 20_000]),
            Some("manifest-too-large"),
        ),
        ("two manifests", twice, Some("manifest-duplicate")),
    ]
}

/// Components whose lists of tools are none, by their letters in the guest's `listing.rs`.
fn liars() -> Vec<Row> {
    let liar = |name, letter| (name, with_listing(letter), Some("tools-invalid"));
    vec![
        liar("100 MB of words", b'b'),
        liar("a name with a line end", b'c'),
        liar("two of one name", b'd'),
        liar("no schema", b'e'),
        liar("a list for a schema", b'g'),
        liar("no end", b'h'),
        liar("a panic", b'i'),
        liar("a long name", b'j'),
        liar("100,000 tools", b'k'),
        liar("no name", b'n'),
    ]
}

/// What is no file with bytes in it, and its code.
fn put_what_is_no_file(incoming: &Path) -> [(&'static str, &'static str); 7] {
    let at = |name: &str| incoming.join(format!("{name}.wasm"));
    fs::create_dir(at("directory")).unwrap();
    crate::support::pipe(&at("pipe"));
    // The name stays when nobody listens.
    drop(UnixListener::bind(at("socket")).unwrap());
    symlink("/dev/zero", at("device")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    symlink("loop.wasm", at("loop")).unwrap();
    let sparse = fs::File::create(at("200 MB")).unwrap();
    sparse.set_len(200_000_000).unwrap();
    [
        ("directory", "unreadable"),
        ("pipe", "unreadable"),
        ("socket", "unreadable"),
        ("device", "unreadable"),
        ("dangling", "unreadable"),
        ("loop", "unreadable"),
        ("200 MB", "too-large"),
    ]
}

/// The loop that the documentation shows.
fn documented() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/components.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = page.split("```sh\n").skip(1);
    let mut blocks = blocks.map(|rest| rest.split("```").next().unwrap());
    let shown = blocks.find(|block| block.starts_with("for file in incoming/"));
    shown.expect("docs/components.md shows a gate").to_owned()
}

fn run_the_gate(signer: &Signer) {
    let directory = signer.cli.state();
    let program = Path::new(PROGRAM).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut gate = Command::new("bash");
    let script = format!("ulimit -v {MEMORY}\n{}", documented());
    gate.args(["-c", &script]).current_dir(directory);
    gate.env("PATH", format!("{}:{path}", program.display()))
        .env("KEY", signer.key("one"))
        .env("XDG_STATE_HOME", directory)
        .env("XDG_CACHE_HOME", directory.join("cache"));
    let output = gate.output().unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_gate_lets_the_right_ones_of_fifty_files_through() {
    let signer = Signer::new();
    let incoming = signer.cli.state().join("incoming");
    let accepted = signer.cli.state().join("accepted");
    fs::create_dir(&incoming).unwrap();
    fs::create_dir(&accepted).unwrap();
    let rows = [let_through(), foreign(), greedy(), liars()].concat();
    let names: Vec<String> = rows.iter().map(|row| format!("{}.wasm", row.0)).collect();
    for (name, (_, bytes, _)) in names.iter().zip(&rows) {
        guest::file(&incoming, name, bytes);
    }
    sign(&incoming, "../one.key", &names);
    let mut expected: Vec<(&str, Option<&str>)> =
        rows.iter().map(|(name, _, code)| (*name, *code)).collect();
    let strangers = [
        ("by a stranger", "signature-unknown-key"),
        ("unsigned", "signature-missing"),
        ("signed for another", "signature-invalid"),
    ];
    for (name, _) in strangers {
        guest::file(&incoming, &format!("{name}.wasm"), guest::plain());
    }
    sign(&incoming, "../two.key", &["by a stranger.wasm".to_owned()]);
    let other = incoming.join("ours.wasm.minisig");
    fs::copy(other, incoming.join("signed for another.wasm.minisig")).unwrap();
    let no_files = put_what_is_no_file(&incoming);
    let refused = strangers.into_iter().chain(no_files);
    expected.extend(refused.map(|(name, code)| (name, Some(code))));
    assert!(expected.len() >= 50, "{}", expected.len());

    run_the_gate(&signer);

    let mut wrong = Vec::new();
    for (name, code) in expected {
        let said = fs::read_to_string(incoming.join(format!("{name}.wasm.json"))).unwrap();
        let said: Value = serde_json::from_str(&said).unwrap();
        let file = format!("{name}.wasm");
        let is_right = said["problems"][0]["code"].as_str() == code
            && said["loads"] == code.is_none()
            && accepted.join(&file).exists() == code.is_none()
            && incoming.join(&file).symlink_metadata().is_ok() == code.is_some();
        if !is_right {
            wrong.push(format!("{name}, not {code:?}: {}", said["problems"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn sign(directory: &Path, key: &str, files: &[String]) {
    let arguments = ["-S", "-W", "-s", key, "-m"];
    let files = files.iter().map(String::as_str);
    let arguments: Vec<&str> = arguments.into_iter().chain(files).collect();
    minisign(directory, &arguments);
}

/// What is signed by nobody who is trusted is not even read: a file that could harm a reader
/// would not reach it.
#[test]
fn a_file_is_not_read_before_its_signature_is_verified() {
    let cli = Cli::new();
    for bytes in [Vec::new(), b"text".to_vec(), guest::nested(100_000, 0x41)] {
        let file = guest::file(cli.state(), "file.wasm", &bytes);
        for command in [
            &["inspect", "--json", "--require-signature"][..],
            &["call", "x", "--require-signature", "--component"],
            &["tools", "--require-signature", "--component"],
            &["check", "--require-signature", "--component"],
            &["mcp", "--require-signature", "--component"],
            &["lock", "--require-signature", "--component"],
        ] {
            let run = crate::support::cli::Run::of(cli.command(command).arg(&file));
            let said = format!("{}{}", run.stdout, run.stderr);
            assert!(said.contains("signature-missing"), "{command:?}: {run:?}");
            assert_ne!(run.status, Some(0), "{command:?}");
            for code in ["not-wasm", "too-many"] {
                assert!(!said.contains(code), "{command:?}: {run:?}");
            }
        }
    }
}
