//! The component that imports everything, built once per run of the tests; and files to give
//! to the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rootbound::{ComponentLoader, Import, ToolComponent};
use wasm_encoder::{
    Component, ComponentExportKind, ComponentExportSection, ComponentSection, CustomSection,
    Section,
};

use crate::hostile::component::{bytes as hostile, encode};

/// All names under which something can be granted, as the command line takes them.
pub const ALL: &str = "environment,stdio,clocks,random,exit,deny-network";

/// The component that imports everything.
pub fn importing() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| encode(&std::fs::read(build()).unwrap()))
}

/// The same, with everything granted.
pub fn with_everything() -> ToolComponent {
    static LOADED: OnceLock<ToolComponent> = OnceLock::new();
    let load = || {
        let loader = ComponentLoader::default();
        let loader = Import::ALL
            .into_iter()
            .fold(loader, ComponentLoader::import);
        loader.load(importing()).unwrap()
    };
    LOADED.get_or_init(load).clone()
}

/// A component that imports only files.
pub fn plain() -> &'static [u8] {
    hostile()
}

/// A component with a custom section more, put there by hand.
pub fn with_section(name: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = plain().to_owned();
    let section = CustomSection {
        name: name.into(),
        data: data.into(),
    };
    bytes.push(Section::id(&section));
    wasm_encoder::Encode::encode(&section, &mut bytes);
    bytes
}

/// A component that exports its first instance so many times more.
pub fn with_exports(count: usize) -> Vec<u8> {
    let mut bytes = plain().to_owned();
    let mut exports = ComponentExportSection::new();
    for number in 0..count {
        let name = format!("more{number}");
        exports.export(name.as_str(), ComponentExportKind::Instance, 0, None);
    }
    bytes.push(ComponentSection::id(&exports));
    wasm_encoder::Encode::encode(&exports, &mut bytes);
    bytes
}

/// A component of types inside types: of components (0x41) or of instances (0x42).
pub fn nested(levels: usize, kind: u8) -> Vec<u8> {
    let mut types = vec![1];
    types.extend([kind, 1, 1].repeat(levels));
    types.extend([kind, 0]);
    let mut bytes = Component::new().finish();
    bytes.push(7);
    wasm_encoder::Encode::encode(&*types, &mut bytes);
    bytes
}

/// Writes a component into a directory.
pub fn file(directory: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let file = directory.join(name);
    std::fs::write(&file, bytes).unwrap();
    file
}

fn build() -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let built = Command::new(repository.join("scripts/build-guest"))
        .arg("--manifest-path")
        .arg(repository.join("tests/optional_guest/Cargo.toml"))
        .arg("--target-dir")
        .arg(target.join("guest"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(built.status.success(), "the optional guest does not build");
    PathBuf::from(String::from_utf8(built.stdout).unwrap().trim_end())
}
