//! A directory with what it holds, to be deleted as one effect.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::fs::{AtFlags, Dir, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::effect::{Before, Covers, Place};
use crate::walk::{self, Kind, ObjectId};

/// Objects that one deletion may cover; each is held in memory until the commit.
pub(crate) const MAX_OBJECTS: usize = 100_000;
/// Directories inside directories that one deletion may cover; each holds a descriptor.
pub(crate) const MAX_TREE_DEPTH: usize = 100;

/// What stood in the directory when the deletion was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    entries: Vec<TreeEntry>,
    pub(crate) covers: Covers,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TreeEntry {
    name: Vec<u8>,
    before: Before,
    /// What a directory holds.
    inside: Vec<TreeEntry>,
}

/// Why a tree cannot be deleted as a whole.
#[derive(Debug)]
pub(crate) enum TreeError {
    Errno(Errno),
    /// More than [`MAX_OBJECTS`].
    TooLarge,
    /// Deeper than [`MAX_TREE_DEPTH`].
    TooDeep,
    /// A directory became something else while it was looked into.
    Changed,
    /// The call's time is over.
    Late,
    /// Something is mounted inside.
    Mount,
}

impl From<Errno> for TreeError {
    /// Everything was looked at before it was opened, so a name that is gone, or a link
    /// where a directory was, is someone else's doing.
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Self::Changed,
            Errno::XDEV => Self::Mount,
            other => Self::Errno(other),
        }
    }
}

impl Tree {
    /// Looks at everything inside, until the deadline where there is one.
    pub(crate) fn survey(
        place: &Place,
        id: ObjectId,
        deadline: Option<Instant>,
    ) -> Result<Self, TreeError> {
        Self::survey_of(place.directory(), place.name(), id, deadline)
    }

    /// The same, by a directory and a name in it.
    pub(crate) fn survey_of(
        parent: BorrowedFd<'_>,
        name: &str,
        id: ObjectId,
        deadline: Option<Instant>,
    ) -> Result<Self, TreeError> {
        let directory = open_inside(parent, name.as_bytes())?;
        let mut survey = Survey {
            device: id.device,
            deadline,
            covers: Covers::default(),
        };
        let entries = survey.entries(&directory, 0)?;
        let covers = survey.covers;
        Ok(Self { entries, covers })
    }

    /// Whether something inside answers to a question about its path from the directory.
    pub(crate) fn any(&self, question: &impl Fn(&[u8], Kind) -> bool) -> bool {
        any(&self.entries, b"", question)
    }

    /// SHA-256 over all names and versions, so that an approval is bound to what was there.
    pub(crate) fn digest(&self) -> String {
        let mut hash = Sha256::new();
        digest(&self.entries, &mut hash);
        crate::random::hex_of(&hash.finalize())
    }

    /// Deletes what the survey saw, and only that: what has changed or appeared since
    /// stays, and with it the directories around it. Counts what is gone in `deleted`, also
    /// when it fails half-way.
    pub(crate) fn delete(&self, place: &Place, deleted: &mut Covers) -> Result<(), Errno> {
        let directory = open_inside(place.directory(), place.name().as_bytes())?;
        delete(&directory, &self.entries, deleted)?;
        rustix::fs::unlinkat(place.directory(), place.name(), AtFlags::REMOVEDIR)
    }
}

fn any(entries: &[TreeEntry], above: &[u8], question: &impl Fn(&[u8], Kind) -> bool) -> bool {
    entries.iter().any(|entry| {
        let path = match above {
            b"" => entry.name.clone(),
            _ => [above, b"/", &entry.name].concat(),
        };
        question(&path, entry.before.kind) || any(&entry.inside, &path, question)
    })
}

/// Opens a directory by its name, unless something is mounted there (`EXDEV`): bind mounts of
/// the same file system included, which have the device of what lies around them.
fn open_inside(directory: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    walk::open_on_this_mount(directory, name, flags)
}

/// A survey under way.
struct Survey {
    device: u64,
    deadline: Option<Instant>,
    covers: Covers,
}

impl Survey {
    fn entries(&mut self, directory: &OwnedFd, depth: usize) -> Result<Vec<TreeEntry>, TreeError> {
        if depth > MAX_TREE_DEPTH {
            return Err(TreeError::TooDeep);
        }
        let mut entries = Vec::new();
        for entry in Dir::read_from(directory)? {
            let name = entry?.file_name().to_bytes().to_owned();
            if name != b"." && name != b".." {
                entries.push(self.entry(directory, name, depth)?);
            }
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn entry(
        &mut self,
        directory: &OwnedFd,
        name: Vec<u8>,
        depth: usize,
    ) -> Result<TreeEntry, TreeError> {
        if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            return Err(TreeError::Late);
        }
        let stat = rustix::fs::statat(directory, &name[..], AtFlags::SYMLINK_NOFOLLOW)?;
        let before = Before::of(&stat);
        if before.object.device != self.device {
            return Err(TreeError::Mount);
        }
        self.covers.count(before);
        if self.covers.objects() > MAX_OBJECTS as u64 {
            return Err(TreeError::TooLarge);
        }
        let inside = match before.kind {
            Kind::Directory => self.entries(&open_inside(directory.as_fd(), &name)?, depth + 1)?,
            _ => Vec::new(),
        };
        Ok(TreeEntry {
            name,
            before,
            inside,
        })
    }
}

fn digest(entries: &[TreeEntry], hash: &mut Sha256) {
    hash.update((entries.len() as u64).to_le_bytes());
    for entry in entries {
        hash.update((entry.name.len() as u64).to_le_bytes());
        hash.update(&entry.name);
        hash.update(entry.before.version.to_string());
        digest(&entry.inside, hash);
    }
}

fn delete(directory: &OwnedFd, entries: &[TreeEntry], deleted: &mut Covers) -> Result<(), Errno> {
    for entry in entries {
        let stat = match rustix::fs::statat(directory, &entry.name[..], AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => continue,
            other => other?,
        };
        if entry.before.kind != Kind::Directory {
            if Before::of(&stat) == entry.before {
                rustix::fs::unlinkat(directory, &entry.name[..], AtFlags::empty())?;
                deleted.count(entry.before);
            }
            continue;
        }
        if ObjectId::of(&stat) != entry.before.object {
            continue;
        }
        let inside = match open_inside(directory.as_fd(), &entry.name) {
            // Something was mounted there since; it stays.
            Err(Errno::XDEV) => continue,
            other => other?,
        };
        if ObjectId::of(&rustix::fs::fstat(&inside)?) != entry.before.object {
            continue;
        }
        delete(&inside, &entry.inside, deleted)?;
        match rustix::fs::unlinkat(directory, &entry.name[..], AtFlags::REMOVEDIR) {
            Ok(()) => deleted.count(entry.before),
            // Something appeared inside; it stays.
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether nothing has changed since the survey.
pub(crate) fn is_unchanged(tree: &Tree, place: &Place, id: ObjectId) -> Result<bool, Errno> {
    let stat = walk::look(place.directory(), place.name())?;
    if ObjectId::of(&stat) != id {
        return Ok(false);
    }
    match Tree::survey(place, id, None) {
        Ok(now) => Ok(now == *tree),
        Err(TreeError::Errno(errno)) => Err(errno),
        Err(_) => Ok(false),
    }
}
