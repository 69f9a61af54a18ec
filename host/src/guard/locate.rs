//! From a path to the directory that holds its last name.

use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::fs::Stat;
use rustix::io::Errno;

use super::ask::Asked;
use super::fault::Fault;
use super::state::CallState;
use crate::bindings::filesystem::ErrorCode;
use crate::error::CallError;
use crate::paths;
use crate::transaction::{Place, Slot};
use crate::walk::{self, ObjectId};

impl CallState {
    /// Opens the directory that holds the last name of the path. The path has passed the
    /// check for targets, so it has a last name.
    pub(crate) fn locate(&self, asked: &Asked) -> Result<Place, Fault> {
        let Some((parent, name)) = paths::split_last(&asked.path) else {
            return Err(asked.errno(Errno::INVAL));
        };
        let (directory, id) = if parent == "." {
            (Arc::clone(&asked.base.handle), asked.base.id)
        } else {
            let boundary = self.root(asked.base.root).boundary;
            let handle = walk::open_directory(asked.base.fd(), parent, boundary)
                .map_err(|errno| asked.errno(errno))?;
            let id = ObjectId::of(&rustix::fs::fstat(&handle)?);
            let shared = self.transaction.handle_of(id);
            (shared.unwrap_or_else(|| Arc::new(handle)), id)
        };
        // A directory that was removed still has a handle, and takes files that can never
        // get a name.
        if rustix::fs::fstat(&directory)?.st_nlink == 0 {
            return Err(Fault::errno(Errno::NOENT));
        }
        let place = Place {
            root: asked.base.root,
            path: asked.base.spell(&asked.path),
            directory,
            slot: Slot {
                parent: id,
                name: name.to_owned(),
            },
        };
        self.refuse_through_pending(asked, &place)?;
        Ok(place)
    }

    /// Opens the directory of a name that will be changed. Every pending change holds
    /// descriptors of the host, so there are at most as many as the guest may hold.
    pub(crate) fn locate_target(&mut self, asked: &Asked) -> Result<Place, Fault> {
        let limit = self.shared.policy.limits.max_handles as usize;
        if self.transaction.changes() >= limit {
            let error = CallError::limit("max_handles", limit as u64, limit as u64 + 1);
            return Err(asked.refuse(ErrorCode::Quota, error));
        }
        self.locate(asked)
    }

    /// The place that a lookup is about, when pending changes could matter to it.
    pub(crate) fn locate_pending(&self, asked: &Asked) -> Result<Option<Place>, Fault> {
        if !self.transaction.has_pending() || paths::split_last(&asked.path).is_none() {
            return Ok(None);
        }
        self.locate(asked).map(Some)
    }

    /// What stands at a place on the disk, without following a link.
    pub(crate) fn look(&self, asked: &Asked, place: &Place) -> Result<Option<Stat>, Fault> {
        match walk::look(place.directory(), place.name()) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(asked.errno(errno)),
        }
    }

    /// Refuses a link as the target of a change; says `escape` where it leads out.
    pub(crate) fn refuse_symlink(&self, asked: &Asked) -> Fault {
        use rustix::fs::{Mode, OFlags};
        let boundary = self.root(asked.base.root).boundary;
        match walk::open(
            asked.base.fd(),
            &asked.path,
            boundary,
            OFlags::PATH,
            Mode::empty(),
        ) {
            Err(Errno::XDEV) => asked.errno(Errno::XDEV),
            _ => asked.symlink(),
        }
    }

    /// A path may not lead through a directory whose removal or renaming is pending: it
    /// would mean another object after the commit.
    fn refuse_through_pending(&self, asked: &Asked, place: &Place) -> Result<(), Fault> {
        for (_, moving) in self.transaction.directories_in_motion() {
            if walk::lies_within(place.directory.as_fd(), moving)? {
                return Err(asked.pending());
            }
        }
        Ok(())
    }
}
