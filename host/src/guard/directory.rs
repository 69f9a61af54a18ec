//! Listing a directory: in the order of the names' bytes, with the call's own changes.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::{FileType, Mode, OFlags, RawDir};
use wasmtime::component::Resource;

use super::ask::Asked;
use super::fault::Fault;
use super::state::{CallState, Directory};
use crate::bindings::filesystem::{DescriptorType, DirectoryEntry, ErrorCode};
use crate::error::CallError;
use crate::paths;
use crate::policy::Operation;
use crate::transaction::{Pending, is_temporary_name};
use crate::walk::{Kind, ObjectId};

/// Entries that the open listings of a call hold together at most: all names have to be
/// held to be sorted, and the host's memory is not the guest's to fill.
const MAX_HELD_ENTRIES: usize = 1_000_000;
/// Entries that are taken between two looks at the clock.
const ENTRIES_BETWEEN_LOOKS: usize = 1024;
/// Bytes of kernel directory entries read at once (32 KiB is what glibc uses).
const BUFFER_BYTES: usize = 1 << 15;

/// A directory that is being listed.
pub struct EntryStream {
    asked: Asked,
    names: Vec<u8>,
    entries: Vec<HeldEntry>,
    next: usize,
    /// Where the page at hand ends.
    page_end: u64,
}

/// Where a name stands in the arena, and what it names.
#[derive(Clone, Copy)]
struct HeldEntry {
    start: u32,
    end: u32,
    kind: Kind,
}

impl EntryStream {
    fn new(asked: Asked, page: u64) -> Self {
        Self {
            asked,
            names: Vec::new(),
            entries: Vec::new(),
            next: 0,
            page_end: page,
        }
    }

    fn push(&mut self, name: &[u8], kind: Kind) {
        let start = self.names.len() as u32;
        self.names.extend_from_slice(name);
        let end = self.names.len() as u32;
        self.entries.push(HeldEntry { start, end, kind });
    }

    /// All names that can be used in a path.
    pub(super) fn usable_names(&self, rules: paths::PathRules) -> impl Iterator<Item = &str> {
        let names = self.entries.iter().map(|entry| self.name(*entry));
        names
            .filter_map(|name| std::str::from_utf8(name).ok())
            .filter(move |name| paths::is_usable_name(name, rules))
    }

    fn name(&self, entry: HeldEntry) -> &[u8] {
        &self.names[entry.start as usize..entry.end as usize]
    }

    fn sort(&mut self) {
        let names = &self.names;
        let name = |entry: &HeldEntry| &names[entry.start as usize..entry.end as usize];
        self.entries.sort_unstable_by(|a, b| name(a).cmp(name(b)));
    }
}

impl CallState {
    pub(super) fn list(&mut self, directory: &Directory) -> Result<Resource<EntryStream>, Fault> {
        self.check_deadline()?;
        self.room_for_a_handle()?;
        let asked = Asked::of(Operation::List, directory, ".".to_owned());
        self.permit(&asked)?;
        let most = MAX_HELD_ENTRIES - self.held_entries.min(MAX_HELD_ENTRIES);
        let stream = self.read_names(asked, most)?;
        self.held_entries += stream.entries.len();
        self.access_was(directory.access, Operation::List, 0);
        if directory.access.is_none() {
            let path = if directory.path.is_empty() {
                ".".into()
            } else {
                directory.path.clone()
            };
            self.accessed(Operation::List, directory.root, path, directory.id.into())?;
        }
        self.hand_out(stream)
    }

    /// All names, if they are no more than `most`.
    pub(super) fn read_names(&mut self, asked: Asked, most: usize) -> Result<EntryStream, Fault> {
        // A new description, so that two streams do not share a position.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(asked.base.fd(), ".", flags, Mode::empty())?;
        let id = asked.base.id;
        let stands = self.judge_of_entries(&asked)?;
        let mut stream = EntryStream::new(asked, self.shared.policy.limits.max_entries);
        self.collect(&handle, id, stands.as_deref(), most, &mut stream)?;
        for (name, pending) in self.transaction.pending_in(id) {
            match pending {
                Pending::Gone => {}
                Pending::File(_) => stream.push(name.as_bytes(), Kind::File),
                Pending::Moved(_, before) => stream.push(name.as_bytes(), before.kind),
            }
        }
        stream.sort();
        Ok(stream)
    }

    fn collect(
        &mut self,
        handle: &OwnedFd,
        id: ObjectId,
        stands: Option<&[u8]>,
        most: usize,
        stream: &mut EntryStream,
    ) -> Result<(), Fault> {
        let mut buffer = [MaybeUninit::<u8>::uninit(); BUFFER_BYTES];
        let mut entries = RawDir::new(handle, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." || self.is_hidden(id, name) {
                continue;
            }
            if stream.entries.len() >= most {
                let held = MAX_HELD_ENTRIES as u64;
                return Err(stream.asked.refuse(
                    ErrorCode::Quota,
                    CallError::limit("listed_entries", held, held + 1),
                ));
            }
            if stream.entries.len().is_multiple_of(ENTRIES_BETWEEN_LOOKS) {
                self.check_deadline()?;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => kind_by_look(handle, name),
                known => Kind::from_type(known),
            };
            if self.hides(stands, name, kind) {
                continue;
            }
            stream.push(name, kind);
        }
        Ok(())
    }

    /// Names that stand for something else within the call, and names of staging.
    fn is_hidden(&self, directory: ObjectId, name: &[u8]) -> bool {
        let Ok(name) = std::str::from_utf8(name) else {
            return false;
        };
        is_temporary_name(name)
            || (self.transaction.has_pending()
                && self
                    .transaction
                    .pending_in(directory)
                    .any(|(pending, _)| pending == name))
    }

    pub(super) fn end_listing(&mut self, stream: Resource<EntryStream>) -> wasmtime::Result<()> {
        self.held_entries -= self.table.get(&stream)?.entries.len();
        self.take_back(stream)
    }

    pub(super) fn next_entry(
        &mut self,
        stream: &Resource<EntryStream>,
    ) -> Result<Option<DirectoryEntry>, Fault> {
        let rules = self.shared.policy.paths;
        let limit = self.shared.policy.limits.max_entries;
        let stream = self.table.get_mut(stream)?;
        let Some(entry) = stream.entries.get(stream.next).copied() else {
            return Ok(None);
        };
        if stream.next as u64 >= stream.page_end {
            // The tool answers with what it has, marked as truncated: nothing was refused. One
            // that looks for the place where an answer before was cut asks on. Which names there
            // are is no secret of the limit: it bounds an answer, and time bounds the rest.
            stream.page_end = stream.page_end.saturating_add(limit);
            let error = CallError::limit("max_entries", limit, stream.entries.len() as u64);
            return Err(Fault::failed(ErrorCode::Quota, error));
        }
        stream.next += 1;
        Ok(Some(DirectoryEntry {
            type_: wasi_type(entry.kind),
            name: shown(stream.name(entry), rules),
        }))
    }
}

/// A name that cannot be used in a path is shown behind a NUL, with bytes that are not
/// UTF-8 as `\xHH`: neither can be part of a path that the guard takes.
fn shown(name: &[u8], rules: paths::PathRules) -> String {
    match std::str::from_utf8(name) {
        Ok(name) if paths::is_usable_name(name, rules) => name.to_owned(),
        _ => format!("\0{}", paths::escaped(name)),
    }
}

fn kind_by_look(directory: &OwnedFd, name: &[u8]) -> Kind {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(name);
    rustix::fs::statat(directory, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
        .map_or(Kind::Special, |stat| Kind::of(&stat))
}

pub(super) fn wasi_type(kind: Kind) -> DescriptorType {
    match kind {
        Kind::File => DescriptorType::RegularFile,
        Kind::Directory => DescriptorType::Directory,
        Kind::Symlink => DescriptorType::SymbolicLink,
        Kind::Special => DescriptorType::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::PathRules;

    #[test]
    fn names_that_cannot_be_used_are_marked_and_cannot_be_used() {
        let rules = PathRules::default();
        assert_eq!(shown(b"good", rules), "good");
        for name in [&b"bad-\xff"[..], b"a\nb", b"C:x", b"a\\b"] {
            let name = shown(name, rules);
            assert!(name.starts_with('\0'), "{name:?}");
            assert!(!paths::is_usable_name(&name, rules));
            assert!(paths::check(&name, rules, paths::Use::Any, false).is_err());
        }
        assert_eq!(shown(b"bad-\xff", rules), "\0bad-\\xff");
    }
}
