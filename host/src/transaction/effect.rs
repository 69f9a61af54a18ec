//! What a call is about to do, and what it has done.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::Stat;
use serde_json::{Map, Value};

use super::tree::Tree;
use crate::policy::{Operation, RiskClass};
use crate::roots::{RootIndex, Roots};
use crate::walk::{Kind, ObjectId, Version};

/// A name in a directory: what pending changes are remembered by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot {
    pub(crate) parent: ObjectId,
    pub(crate) name: String,
}

/// A slot, the handle of its directory, and how the caller spelled it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) root: RootIndex,
    pub(crate) path: String,
    /// Where that is from the root, if the path does not say so itself.
    pub(crate) resolved: Option<Arc<str>>,
    pub(crate) directory: Arc<OwnedFd>,
    pub(crate) slot: Slot,
}

impl Place {
    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    pub(crate) fn name(&self) -> &str {
        &self.slot.name
    }
}

/// The state of an object when the guest asked for a change to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) object: ObjectId,
    pub(crate) version: Version,
    pub(crate) size: u64,
    pub(crate) kind: Kind,
}

impl Before {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            object: ObjectId::of(stat),
            version: Version::of(stat),
            size: stat.st_size as u64,
            kind: Kind::of(stat),
        }
    }
}

/// Which staged file of the transaction.
pub(crate) type StagedIndex = usize;

/// One change that the commit will make.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) operation: Operation,
    pub(crate) risk: RiskClass,
    pub(crate) place: Place,
    /// Where a rename goes.
    pub(crate) to: Option<Place>,
    /// The object that is changed, deleted or renamed.
    pub(crate) before: Option<Before>,
    /// The object that a rename replaces.
    pub(crate) replaced: Option<Before>,
    /// The new content.
    pub(crate) staged: Option<StagedIndex>,
    /// What a recursive deletion covers.
    pub(crate) tree: Option<Arc<Tree>>,
    /// Whether what a recursive deletion covers may be told to the caller.
    pub(crate) readable: bool,
}

impl Effect {
    pub(crate) fn new(operation: Operation, risk: RiskClass, place: Place) -> Self {
        Self {
            operation,
            risk,
            place,
            to: None,
            before: None,
            replaced: None,
            staged: None,
            tree: None,
            readable: false,
        }
    }
}

/// How much a recursive deletion takes with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covers {
    /// Files, links and other objects that are not directories.
    pub files: u64,
    /// Directories inside the one that is deleted.
    pub directories: u64,
    /// Bytes of all regular files.
    pub bytes: u64,
}

impl Covers {
    pub(crate) fn count(&mut self, object: Before) {
        match object.kind {
            Kind::Directory => self.directories += 1,
            Kind::File => {
                self.files += 1;
                self.bytes = self.bytes.saturating_add(object.size);
            }
            _ => self.files += 1,
        }
    }

    pub(crate) fn objects(self) -> u64 {
        self.files + self.directories
    }
}

/// Hides what changes tell of objects that may not be read.
pub(crate) fn hide_unread(
    receipts: &mut [EffectReceipt],
    unread: &[(RootIndex, String)],
    roots: &Roots,
) {
    for (root, path) in unread {
        let label = roots.label(*root);
        let about = |receipt: &&mut EffectReceipt| receipt.root == label && receipt.path == *path;
        receipts
            .iter_mut()
            .filter(about)
            .for_each(EffectReceipt::hide_content);
    }
}

/// One change as the host made it, for the caller and the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectReceipt {
    /// `create`, `create-directory`, `change`, `replace`, `delete`, `delete-tree` or `rename`.
    pub operation: Operation,
    /// Label of the root.
    pub root: String,
    /// Path as the caller gave it.
    pub path: String,
    /// Where a rename went, as label and path.
    pub to: Option<(String, String)>,
    /// Size of the new content.
    pub bytes: Option<u64>,
    /// Size of the file that is changed or deleted.
    pub bytes_before: Option<u64>,
    /// What a recursive deletion covers.
    pub covers: Option<Covers>,
    /// SHA-256 of the new content, 64 lower-case hexadecimal digits.
    pub sha256: Option<String>,
    /// Version before the change; absent for what did not exist.
    pub version_before: Option<Version>,
    /// Version after the change; absent for what is gone or was not changed yet.
    pub version: Option<Version>,
}

impl EffectReceipt {
    /// Takes out what would tell how much an object holds that may not be read, and what. The
    /// audit log and the approver have it.
    fn hide_content(&mut self) {
        self.bytes = None;
        self.bytes_before = None;
        self.covers = None;
        self.sha256 = None;
    }

    /// The effect as results carry it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("operation".into(), self.operation.as_str().into());
        object.insert("root".into(), self.root.clone().into());
        object.insert("path".into(), self.path.clone().into());
        if let Some((root, path)) = &self.to {
            object.insert("to_root".into(), root.clone().into());
            object.insert("to_path".into(), path.clone().into());
        }
        if let Some(bytes) = self.bytes {
            object.insert("bytes".into(), bytes.into());
        }
        if let Some(covers) = self.covers {
            object.insert("files".into(), covers.files.into());
            object.insert("directories".into(), covers.directories.into());
            object.insert("bytes_deleted".into(), covers.bytes.into());
        }
        if let Some(sha256) = &self.sha256 {
            object.insert("sha256".into(), sha256.clone().into());
        }
        if let Some(version) = self.version {
            object.insert("version".into(), version.to_string().into());
        }
        Value::Object(object)
    }
}
