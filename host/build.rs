//! Builds the tool component and compiles it ahead of time, for the library to embed.
//!
//! | written | what |
//! |---|---|
//! | `$OUT_DIR/file-tools.wasm` | the component |
//! | `$OUT_DIR/file-tools.cwasm` | its code for the target's baseline CPU; empty when the target has another architecture than this machine |
//! | `target/rootbound/file-tools.wasm` | a copy of the component for other WASI hosts, when building from a checkout |
//! | `ROOTBOUND_COMPONENT_SHA256` | the component's digest, for `env!` |
//!
//! `ROOTBOUND_COMPONENT=FILE` takes a ready component, which needs no wasm toolchain.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script works on host paths, and nothing of it is in the program"
)]
#![expect(
    clippy::print_stderr,
    reason = "cargo shows the script's stderr when the build fails"
)]

mod engine_config;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use anyhow::{Context, Result, anyhow, bail, ensure};
use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wit_component::{ComponentEncoder, DecodedWasm};

/// The interface that the host calls, as in `wit/world.wit`.
const EXPORT: &str = "rootbound:tools/provider@0.1.0";

/// The packages that a component may import, as in `wit/world.wit`.
const IMPORTS: [&str; 2] = ["wasi:filesystem/", "wasi:io/"];

/// The interface that a component may import for its types: `wasi:filesystem` uses them.
const IMPORTED_TYPES: &str = "wasi:clocks/wall-clock@";

fn main() -> ExitCode {
    match embed_component() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={}", format!("{error:#}").replace('\n', "; "));
            ExitCode::FAILURE
        }
    }
}

fn embed_component() -> Result<()> {
    rerun_when_changed();
    let component = match env::var_os("ROOTBOUND_COMPONENT") {
        Some(file) => ready_component(Path::new(&file))?,
        None => build_component()?,
    };
    check_contract(&component)?;
    let output = PathBuf::from(variable("OUT_DIR")?);
    write(&output.join("file-tools.wasm"), &component)?;
    write(&output.join("file-tools.cwasm"), &compile(&component)?)?;
    publish(&component)?;
    println!(
        "cargo::rustc-env=ROOTBOUND_COMPONENT_SHA256={:x}",
        Sha256::digest(&component)
    );
    Ok(())
}

fn ready_component(file: &Path) -> Result<Vec<u8>> {
    println!("cargo::rerun-if-changed={}", file.display());
    fs::read(file).with_context(|| format!("ROOTBOUND_COMPONENT names {}", file.display()))
}

fn build_component() -> Result<Vec<u8>> {
    ensure!(
        Path::new("guest-tools/Cargo.toml").exists(),
        "this is not a checkout, so the component cannot be built: \
         set ROOTBOUND_COMPONENT to a ready `file-tools.wasm`"
    );
    let module = fs::read(build_guest()?)?;
    ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .and_then(|mut encoder| encoder.encode())
        .context("the guest is not a tool component")
}

/// Returns the path of the guest's core module.
fn build_guest() -> Result<PathBuf> {
    let script = Command::new("scripts/build-guest")
        .arg("--target-dir")
        .arg(target_directory().join("guest"))
        .output()
        .context("scripts/build-guest does not start")?;
    let messages = String::from_utf8_lossy(&script.stderr);
    eprint!("{messages}");
    if !script.status.success() {
        let sentence = messages.lines().next_back().unwrap_or_default();
        bail!(
            "the guest was not built: {}",
            sentence.trim_start_matches("build-guest: ")
        );
    }
    Ok(PathBuf::from(String::from_utf8(script.stdout)?.trim_end()))
}

/// A component that imports more than the host links could not be instantiated; better to
/// hear it now, with the name of what crept in.
fn check_contract(component: &[u8]) -> Result<()> {
    let decoded = wit_component::decode(component).context("this is not a component")?;
    let DecodedWasm::Component(resolve, world) = decoded else {
        bail!("this is a WIT package, not a component");
    };
    let calls = |import: &str| {
        let named = |id| resolve.id_of(id).is_some_and(|name| name == import);
        (resolve.interfaces.iter()).any(|(id, it)| named(id) && !it.functions.is_empty())
    };
    let world = &resolve.worlds[world];
    for import in world.imports.keys().map(|key| resolve.name_world_key(key)) {
        let only_types = import.starts_with(IMPORTED_TYPES) && !calls(&import);
        ensure!(
            only_types || IMPORTS.iter().any(|package| import.starts_with(package)),
            "the component imports `{import}`, and may import nothing but wasi:filesystem, \
             wasi:io and the types of wasi:clocks/wall-clock"
        );
    }
    ensure!(
        (world.exports.keys()).any(|key| resolve.name_world_key(key) == EXPORT),
        "the component does not export `{EXPORT}`"
    );
    Ok(())
}

/// Returns the component's code for the baseline CPU of the target: naming a target keeps the
/// features of the building machine's CPU out of it.
fn compile(component: &[u8]) -> Result<Vec<u8>> {
    if variable("CARGO_CFG_TARGET_ARCH")? != env::consts::ARCH {
        return Ok(Vec::new());
    }
    let mut config = engine_config::engine_config();
    config
        .target(&variable("TARGET")?)
        .and_then(|config| Engine::new(config))
        .and_then(|engine| engine.precompile_component(component))
        .map_err(|error| anyhow!("the component does not compile: {error:#}"))
}

fn publish(component: &[u8]) -> Result<()> {
    if !Path::new("guest-tools").exists() {
        return Ok(());
    }
    let directory = target_directory().join("rootbound");
    fs::create_dir_all(&directory)?;
    write(&directory.join("file-tools.wasm"), component)
}

/// Returns the workspace's target directory, which cargo does not tell its build scripts.
fn target_directory() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

fn rerun_when_changed() {
    println!("cargo::rerun-if-env-changed=ROOTBOUND_COMPONENT");
    for path in [
        "guest-tools/src",
        "guest-tools/Cargo.toml",
        "guest-tools/Cargo.lock",
        "tool/src",
        "tool/Cargo.toml",
        "wit",
        "scripts/build-guest",
        "host/build.rs",
        "host/engine_config.rs",
    ] {
        println!("cargo::rerun-if-changed={path}");
    }
}

fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}

fn variable(name: &str) -> Result<String> {
    env::var(name).with_context(|| format!("cargo did not set {name}"))
}
