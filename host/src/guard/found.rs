//! What an operation came to, for the record: the object, and where it really stands.
//!
//! On the ordinary path, without links and `..`, the path says so itself, and nothing more is
//! asked of the system.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use super::ask::Asked;
use super::state::CallState;
use crate::paths;
use crate::resolved;
use crate::walk::{ObjectId, Walked};

/// An object, and its path from the root where that is not the one that was asked.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) id: ObjectId,
    pub(crate) resolved: Option<Arc<str>>,
}

impl From<ObjectId> for Found {
    /// An object that stands where the path says.
    fn from(id: ObjectId) -> Self {
        let resolved = None;
        Self { id, resolved }
    }
}

impl Asked {
    /// Whether the path names where it leads, as long as no link is on the way.
    pub(super) fn is_straight(&self) -> bool {
        let at_root = self.base.path.is_empty();
        self.base.straight && (paths::has_only_names(&self.path) || (at_root && self.path == "."))
    }

    fn unless_asked(&self, resolved: Option<String>) -> Option<Arc<str>> {
        resolved
            .filter(|resolved| resolved != self.base.spell(&self.path).trim_end_matches('/'))
            .map(Into::into)
    }
}

impl CallState {
    /// Where a walk ended.
    pub(super) fn found(&self, asked: &Asked, walked: &Walked, id: ObjectId) -> Found {
        let resolved = if walked.straight && asked.is_straight() {
            None
        } else {
            let object = walked.handle.as_fd();
            asked.unless_asked(resolved::path_below(self.root_of(asked), object))
        };
        Found { id, resolved }
    }

    /// Where a name in a directory stands; `straight` says that no link leads there.
    pub(super) fn place_of_name(
        &self,
        asked: &Asked,
        straight: bool,
        directory: BorrowedFd<'_>,
        name: &str,
    ) -> Option<Arc<str>> {
        if straight && asked.is_straight() {
            return None;
        }
        asked.unless_asked(resolved::path_of_name(self.root_of(asked), directory, name))
    }

    fn root_of(&self, asked: &Asked) -> BorrowedFd<'_> {
        self.root(asked.base.root).handle.as_fd()
    }
}
