//! Where this crate keeps what decides about sessions, and that no root reaches it.

use std::path::{Path, PathBuf};

use crate::ambient;
use crate::linked::Linked;
use crate::roots::{Rights, Root, Roots};
use crate::session::AuditTarget;
use crate::walk::ObjectId;

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

impl Kept<'_> {
    /// The first root that reaches one of them, and why it must not: a tool that can reach the
    /// audit log, the approvals or the configuration could approve itself, and one that can
    /// write a component could become it.
    pub(crate) fn within<'r>(&self, roots: &'r Roots) -> Option<(&'r Root, &'static str)> {
        let programs = self.component_files.iter().flat_map(|file| names_of(file));
        let written = programs.filter_map(|file| {
            let is_written = |root: &&Root| {
                matches!(root.rights, Rights::Write) && is_inside_existing(&file, root.id)
            };
            let reason = "it can be written to, and contains a component that runs";
            Some((roots.iter().find(is_written)?, reason))
        });
        let parts = self.directories().filter_map(|directory| {
            let is_part = |root: &&Root| ambient::lies_below(&root.handle, directory);
            Some((
                roots.iter().find(is_part)?,
                "it is part of Rootbound's own state",
            ))
        });
        let holders = self.files().into_iter().filter_map(|(file, reason)| {
            let holds = |root: &&Root| is_inside_existing(&file, root.id);
            Some((roots.iter().find(holds)?, reason))
        });
        written.chain(parts).chain(holders).next()
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

/// Looks at the nearest ancestor that exists: what will be made below it is inside too.
fn is_inside_existing(file: &Path, root: ObjectId) -> bool {
    std::iter::successors(Some(file), |path| path.parent())
        .find_map(|path| ambient::is_inside(path, root).ok())
        .unwrap_or(false)
}
