//! `rootbound manifest`: what a component declares that it needs.

use std::path::Path;

use anyhow::{Context, anyhow};
use rootbound::{Manifest, read_component};

use super::components::{ManifestArgs, ManifestCommand, unusable};
use super::{Exit, Failure, output, print};

pub(super) fn run(args: &ManifestArgs) -> Result<Exit, Failure> {
    match &args.command {
        ManifestCommand::Show { file } => show(file),
        ManifestCommand::Add {
            file,
            manifest,
            output,
        } => Ok(add(file, manifest, output)?),
    }
}

fn show(file: &Path) -> Result<Exit, Failure> {
    let manifest = read_component(file).and_then(|bytes| Manifest::of(&bytes));
    match manifest {
        Ok(Some(manifest)) => {
            print::json(&manifest.to_json().to_string());
            Ok(Exit::Success)
        }
        Ok(None) => Ok(refused(file, "it has no manifest")),
        Err(error) => Ok(refused(file, &error.to_string())),
    }
}

fn refused(file: &Path, why: &str) -> Exit {
    let why = rootbound::escaped(why);
    print::to_stderr(&format!("error: `{}`: {why}", file.display()));
    Exit::Refused
}

fn add(file: &Path, manifest: &Path, output: &Path) -> anyhow::Result<Exit> {
    let bytes = read_component(file).map_err(|error| unusable(file, &error))?;
    let json = rootbound::read_configuration(manifest)
        .with_context(|| format!("`{}` cannot be read", manifest.display()))?;
    let json = json.trim().as_bytes();
    Manifest::parse(json).map_err(|error| {
        let (code, message) = (error.code(), error.message());
        anyhow!("`{}` is no manifest: {code}: {message}", manifest.display())
    })?;
    let with_manifest = Manifest::add_to(&bytes, json).map_err(|error| unusable(file, &error))?;
    output::component(output, &with_manifest)?;
    Ok(Exit::Success)
}
