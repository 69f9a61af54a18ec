//! `rootbound pull`: a component from a registry, by its digest.
//!
//! Nothing that was pulled is run here, and nothing is kept that is not what was asked for.

mod manifest;
mod problem;
mod reference;
mod registry;

use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use rootbound::{PulledFiles, begins_as_component, write_output_file};
use serde_json::json;

use super::args::PullArgs;
use super::{Exit, Failure, print};
use manifest::Layer;
use problem::Problem;
use reference::{Digest, Reference, Version};
use registry::Registry;

pub(super) fn run(args: &PullArgs) -> Result<Exit, Failure> {
    let reference = Reference::parse(&args.reference)
        .with_context(|| format!("`{}` is no reference", args.reference.escape_debug()))?;
    ensure_usable(args, &reference)?;
    let answer = match (&reference.version, args.resolve) {
        (Version::Digest(digest), false) => pull(args, &reference, digest),
        (Version::Digest(digest), true) => resolve(args, &reference, &digest.to_string()),
        (Version::Tag(tag), true) => resolve(args, &reference, tag),
        (Version::Tag(_), false) => return Err(unpinned(&args.reference).into()),
    };
    answer.or_else(|problem| Ok(problem.report()))
}

fn ensure_usable(args: &PullArgs, reference: &Reference) -> anyhow::Result<()> {
    ensure!(
        !args.plain_http || reference.is_loopback(),
        "`--plain-http` is for registries on this machine, such as `oci://127.0.0.1:5000/…`: \
         whoever stands between could read and change what others send"
    );
    Ok(())
}

fn unpinned(reference: &str) -> anyhow::Error {
    anyhow!(
        "`{reference}` has no digest, and whoever can push there decides what it means: \
         `rootbound pull --resolve` prints it with the digest that it has now"
    )
}

/// Prints the reference with the digest of what it means.
fn resolve(args: &PullArgs, reference: &Reference, version: &str) -> Result<Exit, Problem> {
    let manifest = registry(args, reference).manifest(version)?;
    Layer::of(&manifest)?;
    print::text(&reference.pinned(&Digest::of(&manifest)));
    Ok(Exit::Success)
}

fn pull(args: &PullArgs, reference: &Reference, digest: &Digest) -> Result<Exit, Problem> {
    let cache = PulledFiles::open().map_err(|error| Problem::cache(&error))?;
    let mut registry = (!args.offline).then(|| registry(args, reference));
    let held = |digest: &Digest| {
        cache
            .get(digest.hex())
            .map_err(|error| Problem::cache(&error))
    };

    let (manifest, held_manifest) = match held(digest)? {
        Some(manifest) => (manifest, true),
        None => (
            checked_manifest(registry.as_mut().ok_or_else(offline)?, digest)?,
            false,
        ),
    };
    let layer = Layer::of(&manifest)?;
    let (component, held_component) = match held(&layer.digest)? {
        Some(component) => (component, true),
        None => (
            registry.as_mut().ok_or_else(offline)?.component(&layer)?,
            false,
        ),
    };
    if !begins_as_component(&component) {
        return Err(Problem::no_component(
            "the layer is no WebAssembly component",
        ));
    }

    let keep = |digest: &Digest, bytes: &[u8], held: bool| match held {
        true => Ok(()),
        false => cache
            .put(digest.hex(), bytes)
            .map_err(|error| Problem::cache(&error)),
    };
    keep(&layer.digest, &component, held_component)?;
    keep(digest, &manifest, held_manifest)?;
    let file = match &args.output {
        None => cache.path(layer.digest.hex()),
        Some(output) => {
            let written = write_output_file(output, &component, begins_as_component);
            written.map_err(|error| Problem::output(output, &error))?;
            output.clone()
        }
    };
    let pulled = json!({
        "component": file.display().to_string(),
        "size": component.len(),
        "sha256": layer.digest.hex(),
        "cached": held_component,
    });
    print::json(&pulled.to_string());
    Ok(Exit::Success)
}

fn registry<'a>(args: &PullArgs, reference: &'a Reference) -> Registry<'a> {
    let timeout = Duration::from_millis(args.timeout_ms);
    Registry::new(reference, args.plain_http, timeout)
}

fn checked_manifest(registry: &mut Registry<'_>, digest: &Digest) -> Result<Vec<u8>, Problem> {
    let manifest = registry.manifest(&digest.to_string())?;
    match Digest::of(&manifest) {
        got if got == *digest => Ok(manifest),
        got => Err(Problem::other_bytes("manifest", digest, &got)),
    }
}

fn offline() -> Problem {
    Problem::new(
        "not-found",
        "it is not in the cache, and `--offline` was given",
        "pull it once without `--offline`",
    )
}
