//! Builds the tool component and compiles it ahead of time, for the library to embed.
//!
//! | written | what |
//! |---|---|
//! | `$OUT_DIR/file-tools.wasm` | the component |
//! | `$OUT_DIR/file-tools.cwasm` | its code for the target's baseline CPU; empty when the target has another architecture than this machine |
//! | `target/rootbound/file-tools.wasm` | a copy of the component for other WASI hosts, when building from a checkout |
//! | `$OUT_DIR/template/` | the files of `rootbound new` |
//! | `ROOTBOUND_COMPONENT_SHA256` | the component's digest, for `env!` |
//!
//! `ROOTBOUND_COMPONENT=FILE` takes a ready component, which needs no wasm toolchain. A package
//! has one at `host/file-tools.wasm`; in a checkout it is not looked at.

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

/// The crate of the tools, which a checkout has.
const SOURCE: &str = "guest-tools/Cargo.toml";

/// The ready component, which a package has.
const PACKAGED: &str = "host/file-tools.wasm";

/// The example that `rootbound new` gives another name; a checkout has it.
const EXAMPLE: &str = "examples/tools/word-count";

/// The same in a package. Cargo takes a directory with a manifest for another package and
/// leaves it out, so the manifest has another name there.
const PACKAGED_EXAMPLE: &str = "host/template";
const PACKAGED_MANIFEST: &str = "manifest.toml";

/// The example's files.
const TEMPLATE: [&str; 6] = [
    "Cargo.toml",
    "README.md",
    "src/lib.rs",
    "test",
    "sample/notes.md",
    "sample/drafts/idea.md",
];

fn main() -> ExitCode {
    match embed_component().and_then(|()| embed_template()) {
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
        None if Path::new(SOURCE).exists() => build_component()?,
        None => packaged_component()?,
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

fn embed_template() -> Result<()> {
    let output = PathBuf::from(variable("OUT_DIR")?).join("template");
    let is_checkout = Path::new(EXAMPLE).exists();
    for name in TEMPLATE {
        let from = match (is_checkout, name) {
            (true, _) => Path::new(EXAMPLE).join(name),
            (false, "Cargo.toml") => Path::new(PACKAGED_EXAMPLE).join(PACKAGED_MANIFEST),
            (false, _) => Path::new(PACKAGED_EXAMPLE).join(name),
        };
        let text = fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
        let to = output.join(name);
        fs::create_dir_all(to.parent().unwrap_or(&output))?;
        write(&to, &text)?;
    }
    Ok(())
}

fn ready_component(file: &Path) -> Result<Vec<u8>> {
    println!("cargo::rerun-if-changed={}", file.display());
    fs::read(file).with_context(|| format!("ROOTBOUND_COMPONENT names {}", file.display()))
}

fn packaged_component() -> Result<Vec<u8>> {
    fs::read(PACKAGED).context(
        "this is neither a checkout, from which the component could be built, nor a package of \
         `scripts/package`, which has it: set ROOTBOUND_COMPONENT to a ready `file-tools.wasm`",
    )
}

fn build_component() -> Result<Vec<u8>> {
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
    if !Path::new(SOURCE).exists() {
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
    // Cargo takes what is not there for changed, and a package has not all of these.
    let paths = [
        "guest-tools/src",
        "guest-tools/Cargo.toml",
        "guest-tools/Cargo.lock",
        "host/src/patterns/characters.rs",
        "tool/src",
        "tool/Cargo.toml",
        "wit",
        "scripts/build-guest",
        "host/build.rs",
        "host/engine_config.rs",
        PACKAGED,
        EXAMPLE,
        PACKAGED_EXAMPLE,
    ];
    for path in paths.iter().filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={path}");
    }
}

fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}

fn variable(name: &str) -> Result<String> {
    env::var(name).with_context(|| format!("cargo did not set {name}"))
}
