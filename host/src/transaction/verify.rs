//! Whether everything is still as it was when the guest asked, under locks that all
//! processes of this program take.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::perform::open_to_sync;
use super::tree::is_unchanged;
use super::{Before, Effect, Place, Transaction};
use crate::errno::{self, changed, changed_or};
use crate::error::{CallError, code};
use crate::expected::{Expected, stale};
use crate::paths;
use crate::roots::Roots;
use crate::walk::{self, ObjectId};

/// How long a commit waits for another process's commit in the same directories.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// Locks the directories of all targets in an order that all processes keep, so that two
/// commits never wait for each other.
pub(super) fn lock_directories(transaction: &Transaction) -> Result<Vec<OwnedFd>, CallError> {
    let mut places = BTreeMap::new();
    for effect in &transaction.effects {
        for place in std::iter::once(&effect.place).chain(&effect.to) {
            places.entry(place.slot.parent).or_insert(place);
        }
    }
    let give_up = Instant::now() + LOCK_PATIENCE;
    let mut locks = Vec::with_capacity(places.len());
    for place in places.into_values() {
        let handle = match open_to_sync(place) {
            // A directory that may be written but not read cannot be locked.
            Err(Errno::ACCESS) => continue,
            other => other.map_err(errno::explain)?,
        };
        lock(&handle, give_up)?;
        locks.push(handle);
    }
    Ok(locks)
}

fn lock(directory: &OwnedFd, give_up: Instant) -> Result<(), CallError> {
    let mut pause = Duration::from_micros(50);
    loop {
        match rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if Instant::now() < give_up => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(2));
            }
            Err(Errno::WOULDBLOCK) => {
                return Err(CallError::new(
                    code::CONFLICT,
                    "another process holds the lock of the directory",
                )
                .reason_of("locked")
                .hint_of("try again later"));
            }
            Err(Errno::INTR) => {}
            // Some file systems have no locks, or none for directories (`EBADF` over NFS);
            // the exchange itself is still atomic.
            Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::BADF) => {
                return Ok(());
            }
            other => return other.map_err(errno::explain),
        }
    }
}

pub(super) fn verify_all(transaction: &Transaction, roots: &Roots) -> Result<(), CallError> {
    for effect in &transaction.effects {
        for place in std::iter::once(&effect.place).chain(&effect.to) {
            verify_directory(place, roots)?;
        }
        if let Some(before) = effect.before {
            verify(&effect.place, before)?;
        }
        if let (Some(to), Some(replaced)) = (&effect.to, effect.replaced) {
            verify(to, replaced)?;
        }
        if let (Some(tree), Some(before)) = (&effect.tree, effect.before)
            && !is_unchanged(tree, &effect.place, before.object).map_err(changed_or)?
        {
            return Err(changed());
        }
    }
    Ok(())
}

/// The directory must still be where the path leads: a handle alone would follow a
/// directory that was moved out of the root while someone thought about the question.
fn verify_directory(place: &Place, roots: &Roots) -> Result<(), CallError> {
    let root = roots.get(place.root);
    let parent = paths::split_last(&place.path).map_or(".", |(parent, _)| parent);
    let found = walk::open_directory(root.handle.as_fd(), parent, root.boundary)
        .and_then(rustix::fs::fstat)
        .map(|stat| ObjectId::of(&stat));
    match found {
        Ok(found) if found == place.slot.parent => Ok(()),
        Ok(_) => Err(changed()),
        Err(errno) => Err(changed_or(errno)),
    }
}

fn verify(place: &Place, before: Before) -> Result<(), CallError> {
    match walk::look(place.directory(), place.name()) {
        Ok(stat) if Before::of(&stat) == before => Ok(()),
        Ok(_) => Err(changed()),
        Err(errno) => Err(changed_or(errno)),
    }
}

/// Holds the caller to what it says it has seen.
pub(crate) fn verify_expected(
    transaction: &Transaction,
    expected: &Expected,
    max_bytes: u64,
) -> Result<(), CallError> {
    let mut found = false;
    for (place, before) in transaction.effects.iter().flat_map(existing) {
        if !expected.is_about(&place.path) {
            return Err(stale("other-target"));
        }
        if expected.wants_content() && before.size > max_bytes {
            let error = CallError::limit("max_read_bytes", max_bytes, before.size);
            // What is expected of a file may be asked also where it may not be read.
            let error = error.without_actual();
            return Err(error.hint_of("give `expected_version` instead, for which nothing is read"));
        }
        let version = before.version.to_string();
        let mut unreadable = None;
        let content = || {
            let read = read_whole(place, before);
            read.unwrap_or_else(|errno| {
                unreadable = Some(errno);
                None
            })
        };
        if !expected.agrees(&version, content) {
            return Err(unreadable.map_or_else(|| stale("changed"), changed_or));
        }
        found = true;
    }
    if found { Ok(()) } else { Err(stale("absent")) }
}

/// What an effect changes that was there before: its object, and what a rename replaces.
fn existing(effect: &Effect) -> impl Iterator<Item = (&Place, Before)> {
    let own = effect.before.map(|before| (&effect.place, before));
    let replaced = effect.to.as_ref().zip(effect.replaced);
    own.into_iter().chain(replaced)
}

/// The content of an object in a known state; nothing where it is in another state.
fn read_whole(place: &Place, before: Before) -> Result<Option<Vec<u8>>, Errno> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(place.directory(), place.name(), flags, Mode::empty())?;
    let mut bytes = vec![0; usize::try_from(before.size).map_err(|_| Errno::FBIG)?];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::io::pread(&file, &mut bytes[filled..], filled as u64) {
            Ok(0) => return Ok(None),
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    // Still the object and the state whose bytes these were to be.
    let after = rustix::fs::fstat(&file)?;
    Ok((Before::of(&after) == before).then_some(bytes))
}
