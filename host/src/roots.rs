//! The directories a session was granted, and the names by which others know them.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::walk::{Boundary, ObjectId};

/// Which root, in the order of the preopens.
pub(crate) type RootIndex = usize;

/// What may be done below a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Open for reading, list, look up.
    Read,
    /// Create, write, delete, make directories; no reading.
    Write,
}

/// A directory handle that the user opened, and what may be done there.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub(crate) label: String,
    pub(crate) preopen: String,
    pub(crate) rights: Rights,
    pub(crate) boundary: Boundary,
    pub(crate) handle: Arc<OwnedFd>,
    pub(crate) id: ObjectId,
}

/// The roots of a session: the read roots in their order, then the write root.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roots(Vec<Root>);

impl Roots {
    /// Adds a root.
    pub(crate) fn push(
        &mut self,
        label: String,
        rights: Rights,
        boundary: Boundary,
        handle: Arc<OwnedFd>,
        id: ObjectId,
    ) {
        let preopen = match rights {
            Rights::Read => format!("/read/{}", self.0.len()),
            Rights::Write => "/write".to_owned(),
        };
        self.0.push(Root {
            label,
            preopen,
            rights,
            boundary,
            handle,
            id,
        });
    }

    /// The same roots, with another directory as the write root, or none.
    pub(crate) fn with_write_root(&self, directory: Option<(OwnedFd, ObjectId)>) -> Self {
        let mut roots = self.0.clone();
        match directory {
            Some((handle, id)) => {
                let handle = Arc::new(handle);
                for root in roots.iter_mut().filter(|root| root.rights == Rights::Write) {
                    root.handle = Arc::clone(&handle);
                    root.id = id;
                }
            }
            None => roots.retain(|root| root.rights == Rights::Read),
        }
        Self(roots)
    }

    /// Takes away what a component declares that it does not need.
    pub(crate) fn narrow(&mut self, reads: bool, writes: bool) {
        self.0.retain(|root| match root.rights {
            Rights::Read => reads,
            Rights::Write => writes,
        });
    }

    /// A label that no other directory has, nor an operator gave to one. One directory
    /// granted both ways keeps one label.
    pub(crate) fn unique_label(
        &self,
        wanted: String,
        id: Option<ObjectId>,
        given: &[&str],
    ) -> String {
        let own = |label: &str| {
            self.0
                .iter()
                .any(|root| root.label == label && Some(root.id) == id)
        };
        let taken = |label: &str| {
            !own(label) && (given.contains(&label) || self.0.iter().any(|root| root.label == label))
        };
        if !taken(&wanted) {
            return wanted;
        }
        (2..)
            .map(|n| format!("{wanted}-{n}"))
            .find(|label| !taken(label))
            .unwrap_or(wanted)
    }

    pub(crate) fn get(&self, index: RootIndex) -> &Root {
        &self.0[index]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Root> {
        self.0.iter()
    }

    pub(crate) fn label(&self, index: RootIndex) -> &str {
        &self.0[index].label
    }
}

/// A grant as `check` and the audit log describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The name by which results, messages and the audit log know the directory.
    pub label: String,
    /// What may be done there.
    pub rights: Rights,
}
