//! What the operator's patterns exclude, asked about the object that an operation came to.
//!
//! Where there are no patterns, nothing here asks the system for anything. A name that is
//! excluded is refused before any look at the disk, so that the answer does not tell whether
//! anything has it; what is reached through links or `..` is judged by where it stands.

use std::borrow::Cow;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::ask::Asked;
use super::fault::Fault;
use super::remove::not_as_a_whole;
use super::state::{CallState, Directory};
use crate::bindings::filesystem::ErrorCode;
use crate::error::{CallError, code};
use crate::patterns::{Judge, Subject};
use crate::policy::Operation;
use crate::resolved;
use crate::roots::{Rights, Root};
use crate::transaction::{Place, Tree};
use crate::walk::{self, Kind, Walked};

/// Links that are followed to where nothing is, to judge that place: as many as the kernel
/// follows (path_resolution(7)).
const MAX_DANGLING: usize = 40;

impl From<Kind> for Subject {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Directory => Self::Directory,
            _ => Self::File,
        }
    }
}

impl CallState {
    /// Judges a path by its text, before anything is looked at. Only a directory's rights
    /// are asked for: what it is, is not known yet.
    pub(super) fn judge_text(&self, asked: &Asked) -> Result<(), Fault> {
        let Some(judge) = &self.shared.judge else {
            return Ok(());
        };
        let spelled = asked.base.spell(&asked.path);
        let mut names: Vec<&str> = Vec::new();
        for name in spelled.split('/').filter(|name| !matches!(*name, "" | ".")) {
            if name != ".." {
                names.push(name);
                continue;
            }
            self.admit(judge, asked, names.join("/").as_bytes(), Subject::Directory)?;
            names.pop();
        }
        self.admit(judge, asked, names.join("/").as_bytes(), Subject::Directory)
    }

    /// Judges what a walk came to.
    pub(super) fn judge_walked(
        &self,
        asked: &Asked,
        walked: &Walked,
        kind: Kind,
    ) -> Result<(), Fault> {
        let Some(judge) = &self.shared.judge else {
            return Ok(());
        };
        let straight = walked.straight && asked.is_straight();
        let path = self.path_of(asked, straight, walked.handle.as_fd())?;
        self.admit(judge, asked, &path, kind.into())
    }

    /// Judges a name in the directory that the operation starts from.
    pub(super) fn judge_entry(&self, asked: &Asked, kind: Kind) -> Result<(), Fault> {
        let Some(judge) = &self.shared.judge else {
            return Ok(());
        };
        let path = self.path_of_entry(asked, asked.is_straight(), asked.base.fd(), &asked.path)?;
        self.admit(judge, asked, &path, kind.into())
    }

    /// Judges a place that a name was located at: as a directory as long as it is not known
    /// what stands there.
    pub(super) fn judge_place(
        &self,
        asked: &Asked,
        place: &Place,
        subject: Subject,
    ) -> Result<(), Fault> {
        let Some(judge) = &self.shared.judge else {
            return Ok(());
        };
        let path = self.path_of_entry(asked, false, place.directory(), place.name())?;
        self.admit(judge, asked, &path, subject)
    }

    /// What an errno of a walk means. Where the name is excluded, it is not told that
    /// nothing has it.
    pub(super) fn errno_of_walk(&self, asked: &Asked, errno: Errno) -> Fault {
        match &self.shared.judge {
            Some(judge) if errno != Errno::XDEV && self.leads_to_excluded(judge, asked) => {
                excluded(asked)
            }
            _ => asked.errno(errno),
        }
    }

    /// The same for the walk of a link's text, which is not told.
    pub(super) fn errno_of_link(&self, asked: &Asked, text: String, errno: Errno) -> Fault {
        let led = Asked::of(asked.operation, &asked.base, text);
        match self.errno_of_walk(&led, errno) {
            Fault::Refused(refusal) if refusal.error.code() == code::PATTERN_DENIED => {
                excluded(asked)
            }
            _ => asked.errno(errno),
        }
    }

    /// Judges what the text of a link led to.
    pub(super) fn judge_led(&self, asked: &Asked, object: BorrowedFd<'_>) -> Result<(), Fault> {
        let Some(judge) = &self.shared.judge else {
            return Ok(());
        };
        let kind = Kind::of(&rustix::fs::fstat(object)?);
        let path = self.path_of(asked, false, object)?;
        self.admit(judge, asked, &path, kind.into())
    }

    /// The answer where nothing stands at a place.
    pub(super) fn absent(&self, asked: &Asked, place: &Place) -> Fault {
        match self.judge_place(asked, place, Subject::File) {
            Err(fault) => fault,
            Ok(()) => Fault::errno(Errno::NOENT),
        }
    }

    /// Whether the path of a walk that failed leads to a name that is excluded. What is not there
    /// is judged as a file, unless a directory is to be made of it.
    fn leads_to_excluded(&self, judge: &Judge, asked: &Asked) -> bool {
        let root = self.root(asked.base.root);
        let mut path = asked.path.clone();
        for _ in 0..MAX_DANGLING {
            let Some((directory, rest)) = nearest(&asked.base, root, &path) else {
                return false;
            };
            let (name, below) = rest.split_once('/').unwrap_or((&rest, ""));
            if let Ok(target) = rustix::fs::readlinkat(&directory.handle, name, Vec::new())
                && let Ok(target) = target.into_string()
                && !target.starts_with('/')
            {
                path = [&*directory.path, &*target, below].join("/");
                path.truncate(path.trim_end_matches('/').len());
                continue;
            }
            let Some(stands) = resolved::bytes_below(root.handle.as_fd(), directory.handle.as_fd())
            else {
                return true;
            };
            let subject = match asked.operation {
                Operation::CreateDirectory => Subject::Directory,
                _ => Subject::File,
            };
            return !judge.admits(&join(&stands, &rest), subject);
        }
        false
    }

    /// Whether entries of a directory can be excluded, and if so, where it stands.
    pub(super) fn judge_of_entries(&self, asked: &Asked) -> Result<Option<Vec<u8>>, Fault> {
        if self.shared.judge.is_none() {
            return Ok(None);
        }
        let path = self.path_of(asked, asked.base.straight, asked.base.fd())?;
        Ok(Some(path.into_owned()))
    }

    /// Where a place stands, if patterns are asked about what lies there.
    pub(super) fn judged_path(
        &self,
        asked: &Asked,
        place: &Place,
    ) -> Result<Option<Vec<u8>>, Fault> {
        if self.shared.judge.is_none() {
            return Ok(None);
        }
        let path = self.path_of_entry(asked, false, place.directory(), place.name())?;
        Ok(Some(path))
    }

    /// Whether an entry of a directory that stands at `directory` is excluded.
    pub(super) fn hides(&self, directory: Option<&[u8]>, name: &[u8], kind: Kind) -> bool {
        match (&self.shared.judge, directory) {
            (Some(judge), Some(directory)) => {
                !judge.admits(&join_bytes(directory, name), kind.into())
            }
            _ => false,
        }
    }

    /// Whether some read root that holds the place lets what stands there be read.
    pub(super) fn is_readable_by_pattern(&self, place: &Place) -> bool {
        let Some(judge) = &self.shared.judge else {
            return true;
        };
        let admits = |root: &Root| {
            let directory = resolved::bytes_below(root.handle.as_fd(), place.directory());
            directory.is_some_and(|directory| {
                judge.admits(&join(&directory, place.name()), Subject::File)
            })
        };
        let mut readable = self.shared.roots.iter();
        readable.any(|root| root.rights == Rights::Read && admits(root))
    }

    /// Refuses a directory with something inside that is excluded at the one place or at the
    /// other.
    pub(super) fn judge_inside(
        &self,
        asked: &Asked,
        places: &[(&Asked, &Place)],
        tree: &Tree,
    ) -> Result<(), Fault> {
        let Some(judge) = &self.shared.judge else {
            return Ok(());
        };
        for (at, place) in places {
            let path = self.path_of_entry(at, false, place.directory(), place.name())?;
            let hidden =
                |below: &[u8], kind: Kind| !judge.admits(&join_bytes(&path, below), kind.into());
            if tree.any(&hidden) {
                return Err(holds_excluded(asked));
            }
        }
        Ok(())
    }

    /// The same for a directory that is renamed, which is looked through for it.
    pub(super) fn judge_renamed(
        &self,
        (from, source): (&Asked, &Place),
        (to, target): (&Asked, &Place),
    ) -> Result<(), Fault> {
        if self.shared.judge.is_none() {
            return Ok(());
        }
        let stat = walk::look(source.directory(), source.name())?;
        let id = walk::ObjectId::of(&stat);
        // What this call is about to put there does not stand there yet, and moves along.
        for parent in self.transaction.parents() {
            if self.lies_within_any(parent, &[id])? {
                return Err(from.pending());
            }
        }
        let tree = Tree::survey(source, id, Some(self.deadline))
            .map_err(|error| not_as_a_whole(from, error))?;
        self.judge_inside(from, &[(from, source), (to, target)], &tree)
    }

    fn path_of<'a>(
        &self,
        asked: &'a Asked,
        straight: bool,
        object: BorrowedFd<'_>,
    ) -> Result<Cow<'a, [u8]>, Fault> {
        if straight {
            let spelled = match (&*asked.base.path, &*asked.path) {
                (base, ".") => base.to_owned(),
                (_, path) => asked.base.spell(path),
            };
            return Ok(Cow::Owned(spelled.into_bytes()));
        }
        let root = self.root(asked.base.root).handle.as_fd();
        match resolved::bytes_below(root, object) {
            Some(path) => Ok(Cow::Owned(path)),
            None => Err(excluded(asked)),
        }
    }

    fn path_of_entry(
        &self,
        asked: &Asked,
        straight: bool,
        directory: BorrowedFd<'_>,
        name: &str,
    ) -> Result<Vec<u8>, Fault> {
        if straight {
            return Ok(asked.base.spell(&asked.path).into_bytes());
        }
        Ok(join(&self.path_of(asked, false, directory)?, name))
    }

    fn admit(
        &self,
        judge: &Judge,
        asked: &Asked,
        path: &[u8],
        subject: Subject,
    ) -> Result<(), Fault> {
        match judge.admits(path, subject) {
            true => Ok(()),
            false => Err(excluded(asked)),
        }
    }
}

/// The deepest directory on a path that is there.
struct Nearest {
    handle: std::os::fd::OwnedFd,
    /// Its path from where the walk started.
    path: String,
}

/// The deepest directory on the way, and the names behind it, of which there is at least one.
fn nearest(base: &Directory, root: &Root, path: &str) -> Option<(Nearest, String)> {
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    for end in (0..names.len()).rev() {
        let path = match end {
            0 => ".".to_owned(),
            _ => names[..end].join("/"),
        };
        match walk::open_and_tell(base.fd(), &path, root.boundary, flags) {
            Ok(walked) => {
                let handle = walked.handle;
                return Some((Nearest { handle, path }, names[end..].join("/")));
            }
            Err(Errno::XDEV) => return None,
            Err(_) => {}
        }
    }
    None
}

fn join(directory: &[u8], name: &str) -> Vec<u8> {
    join_bytes(directory, name.as_bytes())
}

pub(super) fn join_bytes(directory: &[u8], name: &[u8]) -> Vec<u8> {
    match directory {
        b"" | b"." => name.to_vec(),
        _ => [directory, b"/", name].concat(),
    }
}

pub(super) fn excluded(asked: &Asked) -> Fault {
    let error = CallError::new(
        code::PATTERN_DENIED,
        "the operator's patterns exclude what the path names",
    )
    .hint_of(
        "leave it alone; the operator decides with `--allow`, `--deny` and `--protect-secrets`",
    );
    asked.refuse(ErrorCode::NotPermitted, error)
}

pub(super) fn holds_excluded(asked: &Asked) -> Fault {
    let done = match asked.operation {
        Operation::Rename => "renamed",
        _ => "deleted as a whole",
    };
    let error = CallError::new(
        code::PATTERN_DENIED,
        format!("the directory holds what the operator's patterns exclude, so it is not {done}"),
    )
    .reason_of("holds-excluded")
    .hint_of("treat what else lies in it one by one");
    asked.refuse(ErrorCode::NotPermitted, error)
}
