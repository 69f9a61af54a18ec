//! `rootbound pack`: a component of a module.

use std::path::Path;

use anyhow::{Context, anyhow, ensure};
use rootbound::{nests_deeply, read_input_file};
use serde_json::json;
use wasmparser::{Parser, Payload, Validator, WasmFeatures};
use wit_component::{ComponentEncoder, DecodedWasm};

use super::args::PackArgs;
use super::{Exit, Failure, output, print};

/// Larger than any tool; what is packed is held in memory twice.
const MOST_BYTES: u64 = 256 << 20;

/// What a tool component exports, as in `wit/world.wit`.
const TOOLS: &str = "rootbound:tools/provider@0.1.0";

pub(super) fn run(args: &PackArgs) -> Result<Exit, Failure> {
    let component = component_of(&args.module)?;
    let sha256 = output::component(&args.output, &component)?;
    let written = json!({
        "component": args.output.display().to_string(),
        "size": component.len(),
        "sha256": sha256,
    });
    print::json(&written.to_string());
    Ok(Exit::Success)
}

fn component_of(file: &Path) -> anyhow::Result<Vec<u8>> {
    let module = read_input_file(file, MOST_BYTES)
        .with_context(|| format!("cannot read `{}`", file.display()))?;
    check(&module).with_context(|| format!("`{}` is no module of a tool", file.display()))?;
    let component = ComponentEncoder::default()
        .validate(true)
        .module(&module)
        .and_then(|mut encoder| encoder.encode())
        // The causes go on for a page; the first says what is wrong.
        .map_err(|error| anyhow!("`{}` is no module of a tool: {error}", file.display()))?;
    ensure!(
        has_tools(&component),
        "`{}` is no module of a tool: it does not export `{TOOLS}`",
        file.display()
    );
    Ok(component)
}

/// The encoder takes a module for whole, and what describes its types for sane.
fn check(module: &[u8]) -> anyhow::Result<()> {
    Validator::new_with_features(WasmFeatures::all()).validate_all(module)?;
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CustomSection(section) = payload?
            && section.name().starts_with("component-type")
        {
            ensure!(
                !nests_deeply(section.data()),
                "its types are nested too deeply"
            );
        }
    }
    Ok(())
}

fn has_tools(component: &[u8]) -> bool {
    let Ok(DecodedWasm::Component(resolve, world)) = wit_component::decode(component) else {
        return false;
    };
    let mut exports = resolve.worlds[world].exports.keys();
    exports.any(|key| resolve.name_world_key(key) == TOOLS)
}
