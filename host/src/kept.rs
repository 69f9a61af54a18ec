//! Where this crate keeps what decides about sessions, and that no root reaches it.

use std::path::{Path, PathBuf};

use crate::ambient;
use crate::linked::Linked;
use crate::place::Place;
use crate::roots::Rights;
use crate::session::AuditTarget;

/// The places that a session and others depend on.
pub(crate) struct Kept<'a> {
    pub(crate) own: Option<&'a Path>,
    pub(crate) audit: &'a AuditTarget,
    pub(crate) approvals: Option<&'a Path>,
    pub(crate) key: Option<&'a Path>,
    pub(crate) configuration: &'a [PathBuf],
    pub(crate) secrets: &'a [PathBuf],
    pub(crate) caches: Vec<PathBuf>,
    pub(crate) component_files: &'a [PathBuf],
}

/// A directory that is to be a root, also before it is made.
pub(crate) struct Candidate {
    /// As the operator named it.
    pub(crate) path: PathBuf,
    pub(crate) label: String,
    pub(crate) rights: Rights,
    pub(crate) place: Place,
}

/// Why a directory of Rootbound's own is no root.
const STATE: &str = "it is part of Rootbound's own state";

impl Kept<'_> {
    /// The first root that reaches one of them, and why it must not: a tool that can reach the
    /// audit log, the approvals or the configuration could approve itself, and one that can
    /// write a component could become it.
    pub(crate) fn within<'r>(
        &self,
        roots: &'r [Candidate],
    ) -> Option<(&'r Candidate, &'static str)> {
        let programs = self.component_files.iter().flat_map(|file| names_of(file));
        let written = programs.filter_map(|file| {
            let place = place_of(&file)?;
            let is_written =
                |root: &&Candidate| root.rights == Rights::Write && place.lies_in(&root.place);
            let reason = "it can be written to, and contains a component that runs";
            Some((roots.iter().find(is_written)?, reason))
        });
        let parts = self.directories().filter_map(|directory| {
            let directory = Place::of(directory).ok()?;
            let is_part = |root: &&Candidate| root.place.lies_in(&directory);
            Some((roots.iter().find(is_part)?, STATE))
        });
        let holders = self.files().into_iter().filter_map(|(file, reason)| {
            let place = place_of(&file)?;
            let holds = |root: &&Candidate| place.lies_in(&root.place);
            Some((roots.iter().find(holds)?, reason))
        });
        written.chain(parts).chain(holders).next()
    }

    /// Why a directory may not be the base of sessions' own ones. Those are new and reach nothing
    /// that stands beside them; so it may hold directories of ours further down. Our files are
    /// not to be mixed with theirs.
    pub(crate) fn reaches_base(&self, base: &Place) -> Option<&'static str> {
        let is_part =
            |directory: &Path| Place::of(directory).is_ok_and(|outer| base.lies_in(&outer));
        if self.directories().any(is_part) {
            return Some(STATE);
        }
        let mut files = self.files().into_iter();
        let holds = |file: &Path| place_of(file).is_some_and(|place| place.is(base));
        files.find_map(|(file, reason)| holds(&file).then_some(reason))
    }

    /// Those of its files that have more names than one: what none of them may stand in is a
    /// root, too.
    pub(crate) fn linked(&self) -> Vec<Linked> {
        let files = self.files().into_iter();
        files
            .filter_map(|(file, reason)| Linked::of(&file, reason))
            .collect()
    }

    fn directories(&self) -> impl Iterator<Item = &Path> {
        let caches = self.caches.iter().map(PathBuf::as_path);
        self.own.into_iter().chain(self.approvals).chain(caches)
    }

    /// What no root may contain, and what it would contain then.
    fn files(&self) -> Vec<(PathBuf, &'static str)> {
        let mut files: Vec<(PathBuf, &str)> = Vec::new();
        if let Some(directory) = self.approvals {
            files.push((directory.join("lock"), "it contains the approval queue"));
        }
        // Also where it is not there yet, and with another log: staging and approvals would be
        // kept in it.
        if let Some(directory) = self.own {
            files.push((directory.join("audit"), "it contains Rootbound's own state"));
        }
        if let Some(key) = self.key {
            files.push((key.to_owned(), "it contains the key of the audit log"));
        }
        for directory in &self.caches {
            let cached = directory.join("component");
            files.push((cached, "it contains the cache of compiled components"));
        }
        for file in self.configuration.iter().flat_map(|file| names_of(file)) {
            files.push((file, "it contains the configuration"));
        }
        for file in self.secrets.iter().flat_map(|file| names_of(file)) {
            files.push((file, "it contains a key or the tokens of the server"));
        }
        match self.audit {
            AuditTarget::File(file) => files.push((file.clone(), "it contains the audit log")),
            AuditTarget::Log(log) => {
                let key = log.key_location();
                files.extend(key.map(|file| (file, "it contains the key of the audit log")));
                files.extend(
                    log.location()
                        .map(|file| (file.to_owned(), "it contains the audit log")),
                );
            }
            AuditTarget::StateDirectory => {}
        }
        files
    }
}

/// A file by the name that was given, and where that leads.
fn names_of(file: &Path) -> Vec<PathBuf> {
    let real = ambient::canonical(file).ok();
    real.into_iter().chain([file.to_owned()]).collect()
}

/// Where a file stands, or would: the place of the directory that holds it.
fn place_of(file: &Path) -> Option<Place> {
    Place::of(ambient::directory_of(file)).ok()
}
