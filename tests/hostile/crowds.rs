//! Components with more parts than one: the limits are for all parts together.

use rootbound::{CallError, ComponentError, Output, Session, ToolComponent};

use super::component;
use crate::support::{Fixture, Recorded};

/// A core module with a memory of 200 MiB (3,200 pages).
const MEMORY_OF_200_MIB: &[u8] = b"\0asm\x01\0\0\0\x05\x04\x01\x00\x80\x19";
/// A core module with a memory of 255 MiB (4,080 pages).
const MEMORY_OF_255_MIB: &[u8] = b"\0asm\x01\0\0\0\x05\x04\x01\x00\xf0\x1f";
/// A core module with a table of 19,000 functions.
const TABLE_OF_19_000: &[u8] = b"\0asm\x01\0\0\0\x04\x06\x01\x70\x00\xb8\x94\x01";

#[test]
fn all_memories_of_a_component_count_together() {
    assert!(answer(MEMORY_OF_200_MIB, 1).is_ok(), "256 MiB are allowed");
    for (module, parts) in [
        (MEMORY_OF_255_MIB, 1),
        (MEMORY_OF_200_MIB, 2),
        (MEMORY_OF_200_MIB, 10),
        (MEMORY_OF_200_MIB, 100),
    ] {
        assert!(answer(module, parts).is_err(), "{parts} memories");
    }
}

#[test]
fn all_tables_of_a_component_count_together() {
    assert!(
        answer(TABLE_OF_19_000, 4).is_ok(),
        "100,000 elements are allowed"
    );
    for parts in [6, 10, 100] {
        assert!(answer(TABLE_OF_19_000, parts).is_err(), "{parts} tables");
    }
}

#[test]
fn a_component_of_many_parts_leaves_room_for_others() {
    const EMPTY: &[u8] = b"\0asm\x01\0\0\0";
    for parts in [1, 200, 5000] {
        let _ = answer(EMPTY, parts);
        let fixture = Fixture::new();
        fixture.input("notes.md", "the notes");
        let arguments = serde_json::json!({"path": "notes.md"});
        let output = fixture.session().call("read_file", arguments).unwrap();
        assert_eq!(output.text(), Some("the notes"), "{parts}");
    }
}

/// Why a component could not be used, or a call was not answered.
#[derive(Debug)]
#[expect(dead_code, reason = "shown when a test fails")]
enum Refusal {
    Component(ComponentError),
    Call(CallError),
}

/// The answer of the component with further parts.
fn answer(module: &[u8], parts: usize) -> Result<Output, Refusal> {
    let bytes = with_parts(module, parts);
    let component = ToolComponent::from_bytes(&bytes).map_err(Refusal::Component)?;
    component.definitions().map_err(Refusal::Component)?;
    let recorded = Recorded::build(Session::builder().component(component));
    recorded
        .session
        .call("say_deleted", "{}")
        .map_err(Refusal::Call)
}

/// The component with a further core module, instantiated so often.
fn with_parts(module: &[u8], parts: usize) -> Vec<u8> {
    let mut bytes = component::bytes().to_owned();
    let index = core_modules(&bytes);
    section(&mut bytes, 1, module);
    for _ in 0..parts {
        // One instance: instantiate that module with no arguments.
        section(&mut bytes, 2, &[1, 0, index, 0]);
    }
    bytes
}

/// Appends a section of the binary format.
fn section(bytes: &mut Vec<u8>, id: u8, content: &[u8]) {
    bytes.push(id);
    let mut size = content.len();
    while size >= 0x80 {
        bytes.push(size as u8 | 0x80);
        size >>= 7;
    }
    bytes.push(size as u8);
    bytes.extend(content);
}

/// How many core modules a component has.
fn core_modules(bytes: &[u8]) -> u8 {
    let is_module = |payload: &wasmparser::Result<wasmparser::Payload<'_>>| {
        matches!(payload, Ok(wasmparser::Payload::ModuleSection { .. }))
    };
    let payloads = wasmparser::Parser::new(0).parse_all(bytes);
    payloads.filter(is_module).count() as u8
}
