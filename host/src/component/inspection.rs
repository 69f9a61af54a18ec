//! What can be said of a component that nobody has run.

use std::collections::BTreeSet;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::examine::{Facts, Imported, MAX_COMPONENT_BYTES, Producer, examine};
use super::fault::ComponentError;
use super::imports::{Import, Standing};
use super::loader::Origin;
use super::manifest::Manifest;
use super::{ComponentLoader, ToolComponent};
use crate::random;

/// Functions of `wasi:filesystem/types` by which content or names are changed.
const WRITING: [&str; 10] = [
    "[method]descriptor.write",
    "[method]descriptor.write-via-stream",
    "[method]descriptor.append-via-stream",
    "[method]descriptor.create-directory-at",
    "[method]descriptor.set-size",
    "[method]descriptor.unlink-file-at",
    "[method]descriptor.remove-directory-at",
    "[method]descriptor.rename-at",
    "[method]descriptor.symlink-at",
    "[method]descriptor.link-at",
];
/// The function by which a file is created, and emptied.
const OPENING: &str = "[method]descriptor.open-at";
/// Functions by which content and names are read.
const READING: [&str; 3] = [
    "[method]descriptor.read",
    "[method]descriptor.read-via-stream",
    "[method]descriptor.read-directory",
];
/// What every other function begins with that tells, if only by its failure, what there is.
const OF_A_DESCRIPTOR: &str = "[method]descriptor.";
/// Those that tell nothing: of what is open already, what a program knows that opened it.
const SILENT: [&str; 6] = [
    "[method]descriptor.advise",
    "[method]descriptor.get-flags",
    "[method]descriptor.get-type",
    "[method]descriptor.is-same-object",
    "[method]descriptor.sync",
    "[method]descriptor.sync-data",
];

/// What a file is, what it asks for, and whether it would be loaded. Nothing of it was run.
///
/// # Examples
///
/// ```
/// use rootbound::{ComponentLoader, Inspection};
///
/// let inspection = Inspection::of(&ComponentLoader::default(), b"\0asm\x01\0\0\0");
/// assert_eq!(inspection.problems[0].code(), "core-module");
/// ```
#[derive(Debug)]
pub struct Inspection {
    /// Bytes of the file.
    pub size: u64,
    /// SHA-256 of the file, 64 lower-case hexadecimal digits; absent where it was not read.
    pub sha256: Option<String>,
    /// What it imports.
    pub imports: Vec<Imported>,
    /// The names of what it exports.
    pub exports: Vec<String>,
    /// What made it, by its own word.
    pub producers: BTreeSet<Producer>,
    /// What it declares that it needs.
    pub manifest: Option<Manifest>,
    /// Why it would not be loaded as the loader is set up; empty when it would.
    pub problems: Vec<ComponentError>,
    component: Option<ToolComponent>,
}

impl Inspection {
    /// Looks at a file that the operator names.
    #[must_use]
    pub fn of_file(loader: &ComponentLoader, file: impl AsRef<Path>) -> Self {
        match Origin::read(file.as_ref()) {
            Ok(origin) => Self::of_origin(loader, &origin.bytes, origin.signature.as_deref()),
            Err(problem) => Self::unread(0, None, problem),
        }
    }

    /// Looks at a component. Digest and signature come first, where the loader asks for them; then
    /// it is read, and compiled if nothing stands against loading it.
    #[must_use]
    pub fn of(loader: &ComponentLoader, bytes: &[u8]) -> Self {
        Self::of_origin(loader, bytes, None)
    }

    /// What is not who it has to be from is not even read, here as where it is loaded.
    fn of_origin(loader: &ComponentLoader, bytes: &[u8], signature: Option<&[u8]>) -> Self {
        let size = bytes.len() as u64;
        let sha256 = match loader.check_origin(bytes, signature) {
            Ok(sha256) => sha256,
            Err(problem) => return Self::unread(size, digest_of(bytes), problem),
        };
        let facts = match examine(bytes) {
            Ok(facts) => facts,
            Err(problem) => return Self::unread(size, Some(sha256), problem),
        };
        let mut inspection = Self {
            size,
            sha256: Some(sha256.clone()),
            imports: facts.imports.clone(),
            exports: facts.exports.clone(),
            producers: facts.producers.clone(),
            manifest: facts.manifest.clone(),
            problems: facts.problems.clone(),
            component: None,
        };
        inspection.problems.extend(loader.missing(&facts));
        inspection.try_to_load(loader, bytes, sha256, facts);
        inspection
    }

    fn unread(size: u64, sha256: Option<String>, problem: ComponentError) -> Self {
        Self {
            size,
            sha256,
            imports: Vec::new(),
            exports: Vec::new(),
            producers: BTreeSet::new(),
            manifest: None,
            problems: vec![problem],
            component: None,
        }
    }

    fn try_to_load(
        &mut self,
        loader: &ComponentLoader,
        bytes: &[u8],
        sha256: String,
        facts: Facts,
    ) {
        if !self.problems.is_empty() {
            return;
        }
        match loader.compile(bytes, sha256, facts) {
            Ok(component) => self.component = Some(component),
            Err(problem) => self.problems.push(problem),
        }
    }

    /// Whether it would be loaded.
    #[must_use]
    pub fn loads(&self) -> bool {
        self.component.is_some()
    }

    /// The component, where it would be loaded. To list its tools is to run it.
    #[must_use]
    pub fn component(&self) -> Option<&ToolComponent> {
        self.component.as_ref()
    }

    /// The imports that it asks for and that are granted by name, granted or not.
    #[must_use]
    pub fn wants(&self) -> BTreeSet<Import> {
        let wanted = self.imports.iter().map(|imported| imported.standing);
        wanted
            .filter_map(|standing| match standing {
                Standing::Optional(import) => Some(import),
                _ => None,
            })
            .collect()
    }

    /// What it asks for and is never given.
    pub fn never_given(&self) -> impl Iterator<Item = &Imported> {
        self.imports
            .iter()
            .filter(|imported| imported.standing == Standing::Never)
    }

    /// What it could do with which grant, in sentences; none where it could not be read.
    #[must_use]
    pub fn in_words(&self) -> Vec<String> {
        if self.exports.is_empty() && self.imports.is_empty() {
            return Vec::new();
        }
        let mut words = vec![self.about_reading(), self.about_writing()];
        for import in self.wants() {
            let what = import.in_words();
            words.push(format!("with `--import {import}`: {what}"));
        }
        for imported in self.never_given() {
            words.push(format!("`{}` is never given to it", imported.name));
        }
        words.push("no network, no other program, and no file outside what is granted".to_owned());
        words
    }

    fn about_reading(&self) -> String {
        let may = match (self.reach(), self.declares(|it| it.read)) {
            (Reach::Nothing, _) => "nothing: it has no way to read files",
            (_, false) => "nothing: it declares that it does not read",
            (Reach::Facts, true) => {
                "it can look up what there is below DIR, and tell it to whoever calls it, and has no way to read files"
            }
            (Reach::Content, true) => {
                "it can read, list and look up everything below DIR, and tell it to whoever calls it"
            }
        };
        format!("with `--read DIR`: {may}")
    }

    fn about_writing(&self) -> String {
        let opens = self.calls(|name| name == OPENING);
        let writes = self.calls(|name| WRITING.contains(&name));
        let may = match (writes || opens, self.declares(|it| it.write)) {
            (false, _) => "nothing: it has no way to write files",
            (true, false) => "nothing: it declares that it does not write",
            (true, true) if !writes => {
                "it can create empty files below DIR, and empty what is there as far as `--overwrite` and whoever approves allow, and has no way to write into them"
            }
            (true, true) => {
                "it can create files below DIR, and change or delete what is there as far as `--overwrite`, `--delete` and whoever approves allow"
            }
        };
        format!("with `--write DIR`: {may}")
    }

    /// What it can learn of files.
    fn reach(&self) -> Reach {
        let tells = |name: &str| name.starts_with(OF_A_DESCRIPTOR) && !SILENT.contains(&name);
        match (
            self.calls(|name| READING.contains(&name)),
            self.calls(tells),
        ) {
            (true, _) => Reach::Content,
            (false, true) => Reach::Facts,
            (false, false) => Reach::Nothing,
        }
    }

    fn declares(&self, what: impl Fn(&Manifest) -> bool) -> bool {
        self.manifest.as_ref().is_none_or(what)
    }

    fn calls(&self, is_one: impl Fn(&str) -> bool) -> bool {
        let files = |imported: &&Imported| imported.standing == Standing::Files;
        let mut named = (self.imports.iter().filter(files)).flat_map(|it| &it.functions);
        named.any(|name| is_one(name))
    }
}

/// What a component can learn of the files that it is granted.
#[derive(Clone, Copy)]
enum Reach {
    Nothing,
    /// What there is, and how large it is.
    Facts,
    Content,
}

/// The digest of bytes that are no larger than a component may be.
fn digest_of(bytes: &[u8]) -> Option<String> {
    let is_small = bytes.len() as u64 <= MAX_COMPONENT_BYTES;
    is_small.then(|| random::hex_of(&Sha256::digest(bytes)))
}
