//! Making one change, and making it last.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::{Covers, Effect, Place, Transaction};
use crate::errno::{self, changed_or};
use crate::error::CallError;
use crate::policy::{Durability, Operation};
use crate::walk::{self, Kind, ObjectId, Version};

/// Everything that can still fail without a trace: attributes and syncing of new content,
/// and the names of the directories that the call made.
pub(super) fn prepare(transaction: &Transaction, durability: Durability) -> Result<(), CallError> {
    if durability == Durability::Full {
        sync_made_directories(transaction).map_err(errno::explain)?;
    }
    for effect in &transaction.effects {
        let Some(index) = effect.staged else { continue };
        let file = &transaction.files[index];
        if effect.before.is_some() {
            let old = walk::look(effect.place.directory(), effect.place.name());
            let old = old.map_err(changed_or)?;
            let handle = open_for_attributes(&effect.place).map_err(errno::explain_change)?;
            file.keep_attributes(&old, handle.as_ref().map(OwnedFd::as_fd))
                .map_err(errno::explain)?;
        }
        file.sync(durability).map_err(errno::explain)?;
    }
    Ok(())
}

/// A file that may not be read does not show its attributes either.
fn open_for_attributes(place: &Place) -> Result<Option<OwnedFd>, Errno> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match rustix::fs::openat(place.directory(), place.name(), flags, Mode::empty()) {
        Err(Errno::ACCESS) => Ok(None),
        other => other.map(Some),
    }
}

/// What keeps a change from being made, or from being made whole.
pub(super) struct Stopped {
    pub(super) errno: Errno,
    /// What a recursive deletion had deleted by then.
    pub(super) deleted: Covers,
}

impl From<Errno> for Stopped {
    fn from(errno: Errno) -> Self {
        let deleted = Covers::default();
        Self { errno, deleted }
    }
}

pub(super) fn perform(transaction: &mut Transaction, effect: &Effect) -> Result<(), Stopped> {
    let place = &effect.place;
    let done = match (effect.operation, effect.staged, &effect.to) {
        (Operation::Create, Some(index), _) => {
            transaction.files[index].publish(place.directory(), place.name())
        }
        (Operation::Change | Operation::Replace, Some(index), _) => {
            transaction.files[index].replace(place.directory(), place.name())
        }
        (Operation::Rename, _, Some(to)) => {
            let flags = match effect.replaced {
                Some(_) => RenameFlags::empty(),
                None => RenameFlags::NOREPLACE,
            };
            rustix::fs::renameat_with(
                place.directory(),
                place.name(),
                to.directory(),
                to.name(),
                flags,
            )
        }
        (Operation::Delete, ..) => {
            let directory = effect
                .before
                .is_some_and(|before| before.kind == Kind::Directory);
            let flags = if directory {
                AtFlags::REMOVEDIR
            } else {
                AtFlags::empty()
            };
            rustix::fs::unlinkat(place.directory(), place.name(), flags)
        }
        (Operation::DeleteTree, ..) => match &effect.tree {
            Some(tree) => {
                let mut deleted = Covers::default();
                return tree
                    .delete(place, &mut deleted)
                    .map_err(|errno| Stopped { errno, deleted });
            }
            None => Err(Errno::INVAL),
        },
        _ => Err(Errno::INVAL),
    };
    done.map_err(Stopped::from)
}

/// Syncs the directories in which the call made directories.
fn sync_made_directories(transaction: &Transaction) -> Result<(), Errno> {
    let mut synced = BTreeSet::new();
    let places = transaction.directories.iter().map(|made| &made.place);
    places
        .filter(|place| synced.insert(place.slot.parent))
        .try_for_each(sync_directory)
}

/// Syncs the directories whose names changed.
pub(super) fn sync_names(effect: &Effect, durability: Durability) -> Result<(), Errno> {
    if durability == Durability::Fast {
        return Ok(());
    }
    std::iter::once(&effect.place)
        .chain(&effect.to)
        .try_for_each(sync_directory)
}

pub(super) fn open_to_sync(place: &Place) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(place.directory(), ".", flags, Mode::empty())
}

fn sync_directory(place: &Place) -> Result<(), Errno> {
    let handle = match open_to_sync(place) {
        // Without read permission a directory cannot be opened, and so not synced.
        Err(Errno::ACCESS) => return Ok(()),
        other => other?,
    };
    match rustix::fs::fsync(handle) {
        // File systems that keep no directory buffers say that there is nothing to sync.
        Err(Errno::INVAL) => Ok(()),
        other => other,
    }
}

/// What stands at the effect's place now; nothing after a deletion.
pub(super) fn state_after(effect: &Effect) -> Option<(ObjectId, Version)> {
    if matches!(effect.operation, Operation::Delete | Operation::DeleteTree) {
        return None;
    }
    let place = effect.to.as_ref().unwrap_or(&effect.place);
    let stat = walk::look(place.directory(), place.name()).ok()?;
    Some((ObjectId::of(&stat), Version::of(&stat)))
}
