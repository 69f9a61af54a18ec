//! The hostile component: built once per run of the tests, and its variants.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rootbound::ToolComponent;
use wit_component::ComponentEncoder;

/// What stands in the component before the letter of the list of tools.
const LISTING: &[u8] = b"which-list-of-tools-is=";

/// The component as bytes.
pub fn bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| encode(&std::fs::read(build()).unwrap()))
}

/// The component, compiled.
pub fn compiled() -> ToolComponent {
    static COMPILED: OnceLock<ToolComponent> = OnceLock::new();
    let compile = || ToolComponent::from_bytes(bytes()).unwrap();
    COMPILED.get_or_init(compile).clone()
}

/// The component with another list of tools; `listing.rs` of the guest says which.
pub fn with_listing(letter: u8) -> Vec<u8> {
    let mut bytes = bytes().to_owned();
    let at = (bytes.windows(LISTING.len()))
        .position(|window| window == LISTING)
        .expect("the guest marks where its list is chosen");
    bytes[at + LISTING.len()] = letter;
    bytes
}

/// Makes a component of a core module that carries the world it was built for.
pub fn encode(module: &[u8]) -> Vec<u8> {
    let encoder = ComponentEncoder::default().validate(true).module(module);
    encoder.and_then(|mut encoder| encoder.encode()).unwrap()
}

/// Builds the guest beside the built-in one, so that the standard library is built once.
fn build() -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let built = Command::new(repository.join("scripts/build-guest"))
        .arg("--manifest-path")
        .arg(repository.join("tests/hostile_guest/Cargo.toml"))
        .arg("--target-dir")
        .arg(target.join("guest"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(built.status.success(), "the hostile guest does not build");
    PathBuf::from(String::from_utf8(built.stdout).unwrap().trim_end())
}
