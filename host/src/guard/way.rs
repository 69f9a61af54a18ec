//! The way of a walk, where patterns are asked and the way is not plain from the path's text.
//!
//! The kernel tells where a walk ended, not what it went through. A way down into an excluded
//! directory and up again would end in the open if the directory is there, and fail if not.
//! So every object on the way is judged before it is looked at, and what is excluded ends the
//! way whether anything is there or not.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::ask::Asked;
use super::excluded::{excluded, join_bytes};
use super::fault::Fault;
use super::state::CallState;
use crate::patterns::{Judge, Subject};
use crate::resolved;
use crate::walk::{self, Boundary, Kind, Walked};

/// Links that are followed on one way: as many as the kernel follows (path_resolution(7)).
const MAX_LINKS: usize = 40;

impl CallState {
    /// Walks `path` from where the operation starts; judges the way where a link is on it.
    pub(super) fn walk_judged(
        &self,
        asked: &Asked,
        path: &str,
        flags: OFlags,
    ) -> Result<Walked, Fault> {
        let boundary = self.root(asked.base.root).boundary;
        let told = |errno| self.errno_of_walk(asked, errno);
        if let Some(result) = walk::open_straight(asked.base.fd(), path, boundary, flags) {
            return result.map_err(told);
        }
        let follow = !flags.contains(OFlags::NOFOLLOW);
        self.judge_way(asked, path, follow)?;
        let handle = walk::open(asked.base.fd(), path, boundary, flags, Mode::empty());
        Ok(Walked {
            handle: handle.map_err(told)?,
            straight: false,
        })
    }

    /// Refuses a way that goes through what is excluded, or would if it were there. `follow`
    /// says whether a link at the end is gone through.
    pub(super) fn judge_way(&self, asked: &Asked, path: &str, follow: bool) -> Result<(), Fault> {
        let Some(judge) = &self.shared.judge else {
            return Ok(());
        };
        let mut way = Way {
            asked,
            judge,
            boundary: self.root(asked.base.root).boundary,
            follow: follow || path.ends_with('/') || path.ends_with("/."),
            start: self.path_of_base(asked)?,
            names: Vec::new(),
            here: None,
            ahead: Vec::new(),
            links: 0,
        };
        way.put_ahead(path.as_bytes());
        while let Some(name) = way.ahead.pop() {
            self.check_deadline()?;
            if !way.step(&name)? {
                break;
            }
        }
        Ok(())
    }

    fn path_of_base(&self, asked: &Asked) -> Result<Vec<u8>, Fault> {
        if asked.base.straight {
            return Ok(asked.base.path.as_bytes().to_vec());
        }
        let root = self.root(asked.base.root).handle.as_fd();
        resolved::bytes_below(root, asked.base.fd()).ok_or_else(|| excluded(asked))
    }
}

/// How far a way has come.
struct Way<'a> {
    asked: &'a Asked,
    judge: &'a Judge,
    boundary: Boundary,
    follow: bool,
    /// Where the directory stands that the way starts from.
    start: Vec<u8>,
    /// The directories from there to here, none of them a link.
    names: Vec<Vec<u8>>,
    /// `None` at the start.
    here: Option<OwnedFd>,
    /// What is to be gone, the next name last.
    ahead: Vec<Vec<u8>>,
    links: usize,
}

impl Way<'_> {
    fn put_ahead(&mut self, path: &[u8]) {
        let names = path.split(|byte| *byte == b'/').rev();
        let names = names.filter(|name| !matches!(*name, b"" | b"."));
        self.ahead.extend(names.map(<[u8]>::to_vec));
    }

    /// Whether the way goes on. Where it does not, the walk itself says why.
    fn step(&mut self, name: &[u8]) -> Result<bool, Fault> {
        if name == b".." {
            return self.go_up();
        }
        self.admit(name, Subject::Directory)?;
        let stat = match rustix::fs::statat(self.here(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(_) => return self.admit(name, Subject::File).map(|()| false),
        };
        match Kind::of(&stat) {
            Kind::Directory => self.go_down(name),
            Kind::Symlink if self.follow || !self.ahead.is_empty() => self.go_along(name),
            kind => self.admit(name, kind.into()).map(|()| false),
        }
    }

    /// From the start again rather than by `..`, which leads out of a directory that was moved.
    fn go_up(&mut self) -> Result<bool, Fault> {
        if self.names.pop().is_none() {
            return Ok(self.boundary == Boundary::WholeFileSystem);
        }
        self.here = None;
        for name in std::mem::take(&mut self.names) {
            self.go_down(&name)?;
        }
        Ok(true)
    }

    fn go_down(&mut self, name: &[u8]) -> Result<bool, Fault> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(self.here(), name, flags, Mode::empty());
        self.here = Some(opened.map_err(|errno| self.asked.errno_of_verified(errno))?);
        self.names.push(name.to_vec());
        Ok(true)
    }

    fn go_along(&mut self, name: &[u8]) -> Result<bool, Fault> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Ok(false);
        }
        let text = match rustix::fs::readlinkat(self.here(), name, Vec::new()) {
            Ok(text) => text.into_bytes(),
            Err(Errno::INVAL | Errno::NOENT) => return Err(self.asked.swapped()),
            Err(errno) => return Err(self.asked.errno(errno)),
        };
        if text.starts_with(b"/") {
            if self.boundary == Boundary::Beneath {
                return Ok(false);
            }
            self.names.clear();
            self.here = None;
        }
        self.put_ahead(&text);
        Ok(true)
    }

    fn here(&self) -> BorrowedFd<'_> {
        match &self.here {
            Some(here) => here.as_fd(),
            None => self.asked.base.fd(),
        }
    }

    fn admit(&self, name: &[u8], subject: Subject) -> Result<(), Fault> {
        let directory = join_bytes(&self.start, &self.names.join(&b'/'));
        let directory = directory.strip_suffix(b"/").unwrap_or(&directory);
        match self.judge.admits(&join_bytes(directory, name), subject) {
            true => Ok(()),
            false => Err(excluded(self.asked)),
        }
    }
}
