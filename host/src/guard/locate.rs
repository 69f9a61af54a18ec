//! From a path to the directory that holds its last name.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;

use super::ask::Asked;
use super::fault::Fault;
use super::state::CallState;
use crate::bindings::filesystem::ErrorCode;
use crate::error::CallError;
use crate::paths;
use crate::patterns::Subject;
use crate::transaction::{Pending, Place, Slot};
use crate::walk::{self, Kind, ObjectId};

impl CallState {
    /// Opens the directory that holds the last name of the path. The path has passed the
    /// check for targets, so it has a last name.
    pub(crate) fn locate(&self, asked: &Asked) -> Result<Place, Fault> {
        let Some((parent, name)) = paths::split_last(&asked.path) else {
            return Err(asked.errno(Errno::INVAL));
        };
        let (directory, id, straight) = if parent == "." {
            (Arc::clone(&asked.base.handle), asked.base.id, true)
        } else {
            let walked = self.walk_judged(asked, parent, OFlags::PATH | OFlags::DIRECTORY)?;
            let id = ObjectId::of(&rustix::fs::fstat(&walked.handle)?);
            let shared = self.transaction.handle_of(id);
            let handle = shared.unwrap_or_else(|| Arc::new(walked.handle));
            (handle, id, walked.straight)
        };
        // A directory that was removed still has a handle, and takes files that can never
        // get a name.
        if rustix::fs::fstat(&directory)?.st_nlink == 0 {
            return Err(Fault::errno(Errno::NOENT));
        }
        let place = Place {
            root: asked.base.root,
            // A `/` at its end says what the name is to be, and is no part of it.
            path: asked.base.spell(asked.path.trim_end_matches('/')),
            resolved: self.place_of_name(asked, straight, directory.as_fd(), name),
            directory,
            slot: Slot {
                parent: id,
                name: name.to_owned(),
            },
        };
        self.judge_place(asked, &place, Subject::Directory)?;
        self.refuse_through_pending(asked, &place)?;
        Ok(place)
    }

    /// Opens the directory of a name that will be changed. Every pending change holds
    /// descriptors of the host, so there are at most as many as the guest may hold.
    pub(crate) fn locate_target(&mut self, asked: &Asked) -> Result<Place, Fault> {
        let limit = u64::from(self.shared.policy.limits.max_handles);
        let changes = self.transaction.changes() as u64;
        if changes >= limit {
            let error = CallError::limit("max_handles", limit, changes + 1);
            return Err(asked.refuse(ErrorCode::Quota, error));
        }
        self.locate(asked)
    }

    /// The place that a lookup is about, when pending changes could matter to it.
    pub(crate) fn locate_pending(&self, asked: &Asked) -> Result<Option<Place>, Fault> {
        if !self.transaction.has_pending() || paths::split_last(&asked.path).is_none() {
            return Ok(None);
        }
        let place = self.locate(asked)?;
        let is_file = match self.transaction.pending(&place.slot) {
            Some(Pending::File(_)) => true,
            Some(Pending::Moved(_, before)) => before.kind == Kind::File,
            _ => false,
        };
        if is_file && paths::asks_for_directory(&asked.path) {
            return Err(Fault::errno(Errno::NOTDIR));
        }
        Ok(Some(place))
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
        // Where its way may not be gone, it is not told either whether that leads out.
        if self.judge_way(asked, &asked.path, true).is_err() {
            return asked.symlink();
        }
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
        // A link that goes may have been the way; its name alone is enough to be careful.
        let (above, _) = paths::split_last(&asked.path).unwrap_or_default();
        if self
            .transaction
            .links_that_go()
            .any(|link| above.split('/').any(|name| name == link))
        {
            return Err(asked.pending());
        }
        let moving: Vec<ObjectId> = self.transaction.directories_in_motion().collect();
        if moving.is_empty() {
            return Ok(());
        }
        // A way that goes down and up again may have led through one.
        let turns = asked.path.split('/').any(|name| name == "..");
        if turns || self.lies_within_any(place.directory(), &moving)? {
            return Err(asked.pending());
        }
        Ok(())
    }

    /// Whether a directory is one of `outer` or lies somewhere below one. A directory can
    /// lie deeper than any path is long, so the deadline holds on the way up as well.
    pub(crate) fn lies_within_any(
        &self,
        directory: BorrowedFd<'_>,
        outer: &[ObjectId],
    ) -> Result<bool, Fault> {
        for id in walk::upwards(directory)? {
            self.check_deadline()?;
            if outer.contains(&id?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the test needs a directory that is deep enough"
)]
mod tests {
    use std::fs::File;
    use std::time::Instant;

    use super::*;
    use crate::audit::AuditLog;
    use crate::component::ToolComponent;
    use crate::policy::Policy;
    use crate::shared::Shared;

    #[test]
    fn the_way_up_ends_at_the_deadline() {
        let component = ToolComponent::file_tools().unwrap();
        let shared = Shared::without_grants(component, Policy::default(), AuditLog::none());
        let mut state = CallState::new(shared, String::new(), "", None);
        let directory = tempfile::tempdir().unwrap();
        let handle = File::open(directory.path()).unwrap();
        let (device, inode) = (u64::MAX, 0);
        let nowhere = [ObjectId { device, inode }];
        let found = state.lies_within_any(handle.as_fd(), &nowhere);
        assert!(matches!(found, Ok(false)));
        state.deadline = Instant::now();
        let late = state.lies_within_any(handle.as_fd(), &nowhere);
        assert!(matches!(late, Err(Fault::Late)));
    }
}
