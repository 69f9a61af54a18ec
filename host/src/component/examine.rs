//! Reading a component without running or compiling it: what it is, and what it asks for.
//!
//! The same reading decides whether a component is loaded and what `rootbound inspect` says, so
//! that the two cannot disagree.

use std::collections::BTreeSet;

use wasmparser::component_types::{ComponentAnyTypeId, ComponentEntityType};
use wasmparser::types::{Types, TypesRef};
use wasmparser::{
    BinaryReader, ComponentExternalKind, CustomSectionReader, Encoding, Parser, Payload,
    ProducersSectionReader, ValidPayload, Validator, WasmFeatures,
};

use super::fault::{ComponentError, component_code as code};
use super::imports::{Items, PROVIDER, Standing, standing};
use super::manifest::{self, Manifest};
use super::outline::Outline;

/// Bytes of a component. An interpreter with its standard library takes a quarter.
pub(crate) const MAX_COMPONENT_BYTES: u64 = 128 << 20;
/// Imports and exports, each, of a component: all interfaces of WASI 0.2 are fewer than fifty.
const MAX_NAMES: usize = 1000;
/// Bytes of the names of all exports, imports and their functions. Those of all of WASI 0.2 have
/// 30,000; one list of functions can be imported under many names.
const MAX_NAME_BYTES: usize = 1 << 20;
/// Modules and components inside a component; an interpreter that is linked of libraries has
/// some dozens.
const MAX_INNER: usize = 1000;
/// Types inside types: a reader takes about 4 KiB of its stack for each level, and threads have
/// 2 MiB.
const MAX_NESTED: usize = 200;
/// Bytes of all that is neither code nor data nor custom: what is kept of it in memory can be
/// thirty times as large. An interpreter has half a megabyte.
const MAX_OUTLINE: usize = 16 << 20;
/// Producers that are remembered.
const MAX_PRODUCERS: usize = 64;
/// Bytes of a producer's name or version that are remembered.
const MAX_PRODUCER_BYTES: usize = 128;

/// Something that a component imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The name of the import, with its version.
    pub name: String,
    /// The functions that the component names, whether it calls them or not.
    pub functions: Vec<String>,
    /// Who gets it.
    pub standing: Standing,
}

/// A tool or language that had part in making a component, by its own word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Producer {
    /// `language`, `sdk` or `processed-by`.
    pub field: String,
    /// Its name.
    pub name: String,
    /// Its version; may be empty.
    pub version: String,
}

/// What a component says about itself, without a word that was checked by running it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) imports: Vec<Imported>,
    pub(crate) exports: Vec<String>,
    pub(crate) producers: BTreeSet<Producer>,
    pub(crate) manifest: Option<Manifest>,
    /// What keeps it from being loaded whatever is granted.
    pub(crate) problems: Vec<ComponentError>,
}

/// Reads a component. Problems that leave nothing to be said about it are errors; others are
/// collected.
pub(crate) fn examine(bytes: &[u8]) -> Result<Facts, ComponentError> {
    check_beginning(bytes)?;
    let mut examination = Examination::default();
    let types = examination.read(bytes)?;
    let mut facts = examination.facts;
    let mut left = MAX_NAME_BYTES;
    for name in &facts.exports {
        take(&mut left, name)?;
    }
    for (name, kind) in examination.imports {
        facts.add_import(name, kind, types.as_ref(), &mut left)?;
    }
    facts.check_exports();
    Ok(facts)
}

fn check_beginning(bytes: &[u8]) -> Result<(), ComponentError> {
    if bytes.len() as u64 > MAX_COMPONENT_BYTES {
        return Err(too_large());
    }
    if bytes.is_empty() || !bytes.starts_with(&b"\0asm"[..bytes.len().min(4)]) {
        return Err(ComponentError::new(code::NOT_WASM, "it is not WebAssembly")
            .hint_of("give a file that a toolchain for components made"));
    }
    Ok(())
}

pub(crate) fn too_large() -> ComponentError {
    ComponentError::new(
        code::TOO_LARGE,
        format!("it is larger than {} MiB", MAX_COMPONENT_BYTES >> 20),
    )
}

#[derive(Default)]
struct Examination {
    facts: Facts,
    imports: Vec<(String, ComponentExternalKind)>,
    /// How deep inside the component the reading is.
    depth: usize,
    inner: usize,
    outline: usize,
}

impl Examination {
    fn read(&mut self, bytes: &[u8]) -> Result<Types, ComponentError> {
        let features = WasmFeatures::all();
        let mut validator = Validator::new_with_features(features);
        let mut parser = Parser::new(0);
        parser.set_features(features);
        let mut outline = Outline::default();
        let mut types = None;
        for payload in parser.parse_all(bytes) {
            let payload = payload?;
            self.count_outline(&payload)?;
            self.look_at(&payload, bytes)?;
            outline.add(&payload)?;
            // Bodies of functions are validated when they are compiled.
            if let ValidPayload::End(of_part) = validator.payload(&payload)? {
                types = Some(of_part);
            }
        }
        types.ok_or_else(ComponentError::truncated)
    }

    fn count_outline(&mut self, payload: &Payload<'_>) -> Result<(), ComponentError> {
        let section = match payload {
            Payload::CodeSectionStart { .. }
            | Payload::DataSection(_)
            | Payload::CustomSection(_)
            | Payload::ModuleSection { .. }
            | Payload::ComponentSection { .. } => None,
            other => other.as_section(),
        };
        self.outline += section.map_or(0, |(_, range)| range.len());
        match self.outline > MAX_OUTLINE {
            true => Err(ComponentError::outline_too_large(MAX_OUTLINE)),
            false => Ok(()),
        }
    }

    fn look_at(&mut self, payload: &Payload<'_>, bytes: &[u8]) -> Result<(), ComponentError> {
        match payload {
            Payload::ComponentTypeSection(section)
                if bytes.get(section.range()).is_none_or(nests_deeply) =>
            {
                return Err(ComponentError::too_many("types inside types", MAX_NESTED));
            }
            Payload::Version { encoding, .. } if self.depth == 0 => match encoding {
                Encoding::Component => {}
                Encoding::Module => return Err(ComponentError::core_module()),
            },
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                self.depth += 1;
                self.inner += 1;
                if self.inner > MAX_INNER {
                    return Err(ComponentError::too_many("inner modules", MAX_INNER));
                }
            }
            Payload::End(_) => self.depth = self.depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if self.depth == 0 => {
                for import in section.clone() {
                    let import = import?;
                    self.imports
                        .push((import.name.name.to_owned(), import.ty.kind()));
                    check_count(self.imports.len(), "imports")?;
                }
            }
            Payload::ComponentExportSection(section) if self.depth == 0 => {
                for export in section.clone() {
                    let export = export?;
                    self.facts.exports.push(export.name.name.to_owned());
                    check_count(self.facts.exports.len(), "exports")?;
                }
            }
            Payload::CustomSection(section) => self.custom(section),
            _ => {}
        }
        Ok(())
    }

    fn custom(&mut self, section: &CustomSectionReader<'_>) {
        match section.name() {
            "producers" => self.facts.add_producers(section.data()),
            // Of an inner component's word the outer one answers for nothing.
            manifest::SECTION if self.depth == 0 => {
                if self.facts.manifest.is_some() {
                    self.facts.problems.push(manifest::duplicate());
                }
                match Manifest::parse(section.data()) {
                    Ok(manifest) => self.facts.manifest = Some(manifest),
                    Err(error) => self.facts.problems.push(error),
                }
            }
            _ => {}
        }
    }
}

/// Whether the types in a section may be nested deeper than a reader's stack allows.
///
/// A type inside a type begins with the byte for a declared type (1) and that for the type of a
/// component or an instance (0x41, 0x42; Component Model, Binary Format). What is counted is an
/// upper bound of the depth, since these bytes may stand elsewhere too.
#[must_use]
pub fn nests_deeply(types: &[u8]) -> bool {
    let begins = |pair: &&[u8]| matches!(pair, [1, 0x41 | 0x42]);
    types.windows(2).filter(begins).count() > MAX_NESTED
}

fn check_count(count: usize, what: &str) -> Result<(), ComponentError> {
    match count > MAX_NAMES {
        true => Err(ComponentError::too_many(what, MAX_NAMES)),
        false => Ok(()),
    }
}

impl From<wasmparser::Error> for ComponentError {
    fn from(error: wasmparser::Error) -> Self {
        // The parser has no kind for this error.
        match error.message().starts_with("unexpected end") {
            true => Self::truncated(),
            false => Self::malformed(error.message()),
        }
    }
}

impl Facts {
    /// Adds an import, for whose names there are so many bytes left.
    fn add_import(
        &mut self,
        name: String,
        kind: ComponentExternalKind,
        types: TypesRef<'_>,
        left: &mut usize,
    ) -> Result<(), ComponentError> {
        take(left, &name)?;
        let functions = functions_of(&name, types, left)?;
        let items = Items {
            functions: functions.len(),
            resources: resources_of(&name, types),
        };
        let standing = match kind {
            ComponentExternalKind::Instance => standing(&name, items),
            _ => Ok(Standing::Never),
        };
        self.problems.extend(match &standing {
            Err(error) => Some(error.clone()),
            Ok(Standing::Never) => Some(ComponentError::never_given(&name)),
            Ok(_) => None,
        });
        let standing = standing.unwrap_or(Standing::Never);
        self.imports.push(Imported {
            name,
            functions,
            standing,
        });
        Ok(())
    }

    fn check_exports(&mut self) {
        if self.exports.iter().any(|export| export == PROVIDER) {
            return;
        }
        let (interface, _) = PROVIDER.split_once('@').unwrap_or((PROVIDER, ""));
        let other = self.exports.iter().find(|export| {
            export
                .strip_prefix(interface)
                .is_some_and(|rest| rest.starts_with('@'))
        });
        self.problems
            .push(ComponentError::foreign_world(other.map(String::as_str)));
    }

    /// Sections of producers are free text; what cannot be read of them is left out.
    fn add_producers(&mut self, data: &[u8]) {
        let Ok(section) = ProducersSectionReader::new(BinaryReader::new(data, 0)) else {
            return;
        };
        for field in section.into_iter().flatten() {
            for value in field.values.into_iter().flatten() {
                if self.producers.len() >= MAX_PRODUCERS {
                    return;
                }
                self.producers.insert(Producer {
                    field: clipped(field.name),
                    name: clipped(value.name),
                    version: clipped(value.version),
                });
            }
        }
    }
}

fn clipped(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_PRODUCER_BYTES)].to_owned()
}

fn items_of<'a>(
    name: &str,
    types: TypesRef<'a>,
) -> impl Iterator<Item = (&'a String, ComponentEntityType)> + use<'a> {
    let instance = match types.component_item_for_import(name).map(|item| item.ty) {
        Some(ComponentEntityType::Instance(id)) => types.get(id),
        _ => None,
    };
    let exports = instance.into_iter().flat_map(|instance| &instance.exports);
    exports.map(|(name, item)| (name, item.ty))
}

fn functions_of(
    name: &str,
    types: TypesRef<'_>,
    left: &mut usize,
) -> Result<Vec<String>, ComponentError> {
    items_of(name, types)
        .filter(|(_, kind)| matches!(kind, ComponentEntityType::Func(_)))
        .map(|(name, _)| take(left, name).map(|()| name.clone()))
        .collect()
}

fn take(left: &mut usize, name: &str) -> Result<(), ComponentError> {
    let too_many = || ComponentError::too_many("bytes of names", MAX_NAME_BYTES);
    *left = left.checked_sub(name.len()).ok_or_else(too_many)?;
    Ok(())
}

fn resources_of(name: &str, types: TypesRef<'_>) -> usize {
    let is_resource = |kind: &ComponentEntityType| {
        matches!(
            kind,
            ComponentEntityType::Type {
                created: ComponentAnyTypeId::Resource(_),
                ..
            }
        )
    };
    items_of(name, types)
        .filter(|(_, kind)| is_resource(kind))
        .count()
}
