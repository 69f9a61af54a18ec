//! What is not a tool component is not loaded, and the message says why.

use rootbound::ToolComponent;
use wasm_encoder::{
    ComponentImportSection, ComponentSection, ComponentTypeRef, ComponentTypeSection, InstanceType,
};
use wasmparser::{Validator, WasmFeatures};
use wasmtime::Engine;

use super::component;

#[test]
fn a_component_that_imports_more_is_not_loaded() {
    ToolComponent::from_bytes(component::bytes()).expect("without a further import it is loaded");
    for (interface, function) in [
        ("wasi:sockets/tcp-create-socket@0.2.12", "create-tcp-socket"),
        ("wasi:sockets/ip-name-lookup@0.2.12", "resolve-addresses"),
        ("wasi:http/outgoing-handler@0.2.12", "handle"),
        ("wasi:clocks/monotonic-clock@0.2.12", "now"),
        ("wasi:clocks/wall-clock@0.2.0", "now"),
        ("wasi:random/random@0.2.12", "get-random-bytes"),
        ("wasi:random/insecure-seed@0.2.12", "insecure-seed"),
        ("wasi:cli/environment@0.2.12", "get-environment"),
        ("wasi:cli/exit@0.2.12", "exit"),
        ("wasi:cli/stdout@0.2.12", "get-stdout"),
        ("wasi:filesystem/doors@0.2.12", "open"),
        ("rootbound:tools/approvals@0.1.0", "approve"),
    ] {
        let bytes = with_import(interface, function);
        Validator::new_with_features(WasmFeatures::all())
            .validate_all(&bytes)
            .expect("nothing is wrong with it but the import");
        let message = ToolComponent::from_bytes(&bytes).unwrap_err().to_string();
        assert!(message.contains(interface), "{interface}: {message}");
    }
}

#[test]
fn what_is_no_component_is_not_loaded() {
    let whole = component::bytes();
    let native = Engine::default().precompile_component(whole).unwrap();
    let empty = b"\0asm\x0d\0\x01\0";
    for (what, bytes) in [
        ("nothing", &b""[..]),
        ("text", b"(component)"),
        ("noise", &[0xa5; 4096]),
        ("a core module", b"\0asm\x01\0\0\0"),
        ("an empty component", empty),
        ("a program", b"\x7fELF\x02\x01\x01\0"),
        // Native code would run as it is, without a guard.
        ("native code", &native),
    ] {
        assert!(ToolComponent::from_bytes(bytes).is_err(), "{what}");
    }
}

#[test]
fn what_was_cut_off_or_damaged_is_not_loaded_or_does_no_harm() {
    let whole = component::bytes();
    for length in (0..whole.len()).step_by(whole.len() / 10) {
        assert!(
            ToolComponent::from_bytes(&whole[..length]).is_err(),
            "{length}"
        );
    }
    for at in (0..400).step_by(29) {
        let mut damaged = whole.to_owned();
        damaged[at] ^= 0xff;
        if let Ok(component) = ToolComponent::from_bytes(&damaged) {
            let _ = component.definitions();
        }
    }
}

/// The component with one more import.
fn with_import(interface: &str, function: &str) -> Vec<u8> {
    let mut bytes = component::bytes().to_owned();
    let types = Validator::new_with_features(WasmFeatures::all())
        .validate_all(&bytes)
        .unwrap();
    let next_type = types.as_ref().component_type_count();
    let mut instance = InstanceType::new();
    let no_parameters: [(&str, wasm_encoder::ComponentValType); 0] = [];
    instance.ty().function().params(no_parameters).result(None);
    instance.export(function, ComponentTypeRef::Func(0));
    let mut section = ComponentTypeSection::new();
    section.instance(&instance);
    append(&mut bytes, &section);
    let mut imports = ComponentImportSection::new();
    imports.import(interface, ComponentTypeRef::Instance(next_type));
    append(&mut bytes, &imports);
    bytes
}

fn append(bytes: &mut Vec<u8>, section: &impl ComponentSection) {
    bytes.push(section.id());
    section.encode(bytes);
}
