//! Opening: existing objects for reading, new files, and new content for existing files.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Access as AccessMode, AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::ask::Asked;
use super::fault::Fault;
use super::found::Found;
use super::state::{CallState, Descriptor, Directory, OpenFile};
use crate::bindings::filesystem::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};
use crate::error::{CallError, code};
use crate::paths::{self, Use};
use crate::patterns::Subject;
use crate::policy::{Consent, Operation};
use crate::roots::Rights;
use crate::transaction::{Before, Pending, Place, StagedFile, StagedIndex};
use crate::walk::{self, Kind, ObjectId, Walked};

/// How often a file that is swapped between two looks at it is looked at again.
const SWAP_RETRIES: usize = 8;

/// The flags of an open, sorted by what they mean for the policy.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    follow: bool,
    directory: bool,
    create: bool,
    exclusive: bool,
    truncate: bool,
    write: bool,
}

impl Wanted {
    fn new(path: PathFlags, open: OpenFlags, descriptor: DescriptorFlags) -> Self {
        Self {
            follow: path.contains(PathFlags::SYMLINK_FOLLOW),
            directory: open.contains(OpenFlags::DIRECTORY),
            create: open.contains(OpenFlags::CREATE),
            exclusive: open.contains(OpenFlags::EXCLUSIVE),
            truncate: open.contains(OpenFlags::TRUNCATE),
            write: descriptor.contains(DescriptorFlags::WRITE),
        }
    }

    /// Whether anything about the open could change something. `mutate-directory` is what a
    /// directory descriptor has by its root's grant, asked for or not.
    fn changes(self) -> bool {
        self.create || self.truncate || self.write
    }
}

impl CallState {
    pub(super) fn open(
        &mut self,
        base: &Directory,
        path: String,
        path_flags: PathFlags,
        open_flags: OpenFlags,
        descriptor_flags: DescriptorFlags,
    ) -> Result<Descriptor, Fault> {
        let wanted = Wanted::new(path_flags, open_flags, descriptor_flags);
        if wanted.changes() {
            self.open_to_write(base, path, wanted)
        } else if wanted.directory {
            self.open_directory(base, path, wanted)
        } else {
            self.open_to_read(base, path, wanted)
        }
    }

    /// Opening a directory to start walks from needs no right of its own: what is done
    /// there is asked for then.
    fn open_directory(
        &mut self,
        base: &Directory,
        path: String,
        wanted: Wanted,
    ) -> Result<Descriptor, Fault> {
        let operation = match self.root(base.root).rights {
            Rights::Read => Operation::Open,
            Rights::Write => Operation::CreateDirectory,
        };
        let asked = self.ask(operation, base, path, Use::Any)?;
        if let Some(place) = self.locate_pending(&asked)?
            && self.transaction.pending(&place.slot).is_some()
        {
            return Err(asked.pending());
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | no_follow(wanted);
        let walked = self.walk_judged(&asked, &asked.path, flags)?;
        let stat = rustix::fs::fstat(&walked.handle)?;
        self.judge_walked(&asked, &walked, Kind::of(&stat))?;
        self.directory(asked, walked, &stat)
    }

    fn open_to_read(
        &mut self,
        base: &Directory,
        path: String,
        wanted: Wanted,
    ) -> Result<Descriptor, Fault> {
        let asked = self.ask(Operation::Open, base, path, Use::ReadFile)?;
        if let Some(place) = self.locate_pending(&asked)? {
            match self.transaction.pending(&place.slot).cloned() {
                Some(Pending::Gone) => return Err(Fault::errno(Errno::NOENT)),
                Some(Pending::File(index)) => return self.open_staged(&asked, index, wanted),
                Some(Pending::Moved(from, before)) => {
                    return self.open_moved(&asked, &from, before);
                }
                None => {}
            }
        }
        for _ in 0..SWAP_RETRIES {
            let stat = match self.look_at_file(&asked)? {
                Some(stat) => stat,
                None => {
                    let flags = OFlags::PATH | no_follow(wanted);
                    let named = self.walk_judged(&asked, &asked.path, flags)?;
                    let stat = rustix::fs::fstat(&named.handle)?;
                    self.judge_walked(&asked, &named, Kind::of(&stat))?;
                    match Kind::of(&stat) {
                        Kind::Directory => return self.directory(asked, named, &stat),
                        Kind::Symlink => return Err(asked.symlink()),
                        Kind::Special => return Err(asked.special()),
                        Kind::File => stat,
                    }
                }
            };
            // The first look opened nothing, so that a device is never touched; the second
            // opens, and must find the same object.
            let opened = match self.walk(&asked, OFlags::RDONLY | no_follow(wanted)) {
                // A socket, or a device that is not there: it was a file a moment ago.
                Err(Errno::NXIO | Errno::NODEV) => continue,
                other => other.map_err(|errno| self.errno_of_walk(&asked, errno))?,
            };
            let id = ObjectId::of(&rustix::fs::fstat(&opened.handle)?);
            if id == ObjectId::of(&stat) {
                self.judge_walked(&asked, &opened, Kind::File)?;
                let found = self.found(&asked, &opened, id);
                return self.file(&asked, opened.handle, found);
            }
        }
        Err(asked.swapped())
    }

    /// A regular file by its plain name, with one system call where the walk takes three: a
    /// search opens thousands. Anything else is left to the walk.
    fn look_at_file(&self, asked: &Asked) -> Result<Option<Stat>, Fault> {
        if !walk::is_single_name(&asked.path) {
            return Ok(None);
        }
        let stat = walk::look(asked.base.fd(), &asked.path)
            .map_err(|errno| self.errno_of_walk(asked, errno))?;
        Ok((Kind::of(&stat) == Kind::File).then_some(stat))
    }

    fn walk(&self, asked: &Asked, flags: OFlags) -> Result<Walked, Errno> {
        let boundary = self.root(asked.base.root).boundary;
        walk::open_and_tell(asked.base.fd(), &asked.path, boundary, flags)
    }

    fn directory(
        &mut self,
        asked: Asked,
        walked: Walked,
        stat: &Stat,
    ) -> Result<Descriptor, Fault> {
        let level = asked.base.level + 1;
        if asked.operation == Operation::Open {
            self.check_level(level)?;
        }
        let id = ObjectId::of(stat);
        let straight = walked.straight && asked.is_straight();
        let path: Arc<str> = match paths::split_last(&asked.path) {
            None if asked.base.path.is_empty() && !asked.path.contains("..") => "".into(),
            _ => asked.base.spell(asked.path.trim_end_matches('/')).into(),
        };
        let access = if asked.operation == Operation::Open {
            let spelled = asked.base.spell(&asked.path).into();
            let found = self.found(&asked, &walked, id);
            Some(self.accessed(Operation::Open, asked.base.root, spelled, found)?)
        } else {
            None
        };
        Ok(Descriptor::Directory(Directory {
            handle: Arc::new(walked.handle),
            id,
            root: asked.base.root,
            path,
            straight,
            access,
            level,
        }))
    }

    /// Ends a walk at its last level. As with the entries of a listing, the tool answers with
    /// what it has and says so; nothing was refused.
    fn check_level(&self, level: u32) -> Result<(), Fault> {
        let limit = self.shared.policy.limits.max_depth;
        if level <= limit {
            return Ok(());
        }
        let error = CallError::limit("max_depth", limit.into(), level.into());
        Err(Fault::failed(ErrorCode::Quota, error))
    }

    fn file(&mut self, asked: &Asked, handle: OwnedFd, found: Found) -> Result<Descriptor, Fault> {
        let id = found.id;
        let path: Arc<str> = asked.base.spell(&asked.path).into();
        let access = self.accessed(Operation::Open, asked.base.root, Arc::clone(&path), found)?;
        Ok(Descriptor::File(OpenFile {
            handle: Arc::new(handle),
            id,
            root: asked.base.root,
            path,
            readable: true,
            staged: None,
            access: Some(access),
        }))
    }

    /// An object whose rename is pending stands at its old place until the commit.
    fn open_moved(
        &mut self,
        asked: &Asked,
        from: &Place,
        before: Before,
    ) -> Result<Descriptor, Fault> {
        if before.kind != Kind::File || !self.is_readable(from)? {
            return Err(asked.pending());
        }
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(from.directory(), from.name(), flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&handle)?;
        if ObjectId::of(&stat) != before.object {
            return Err(asked.swapped());
        }
        let stands = from.resolved.clone();
        let found = Found {
            id: before.object,
            resolved: Some(stands.unwrap_or_else(|| from.path.as_str().into())),
        };
        self.file(asked, handle, found)
    }

    /// Whether what stands at a place can be read there already. A pending move does not
    /// make it so.
    pub(super) fn is_readable(&self, place: &Place) -> Result<bool, Fault> {
        let readable: Vec<ObjectId> = self
            .shared
            .roots
            .iter()
            .filter(|root| root.rights == Rights::Read)
            .map(|root| root.id)
            .collect();
        Ok(self.lies_within_any(place.directory(), &readable)?
            && self.is_readable_by_pattern(place))
    }

    /// The guest sees its own staged file. It may read it where it has a read grant, when it
    /// made the file, or when it is a copy of what a read grant reaches.
    fn open_staged(
        &mut self,
        asked: &Asked,
        index: StagedIndex,
        wanted: Wanted,
    ) -> Result<Descriptor, Fault> {
        if wanted.directory {
            return Err(asked.errno(Errno::NOTDIR));
        }
        let by_grant = self.may(asked.base.root, Rights::Read);
        let file = self.transaction.file(index);
        let readable = file.readable || by_grant;
        let (handle, id) = (Arc::clone(file.handle()), ObjectId::of(&file.stat()?));
        Ok(Descriptor::File(OpenFile {
            handle,
            id,
            root: asked.base.root,
            path: asked.base.spell(&asked.path).into(),
            readable,
            staged: wanted.changes().then_some(index),
            access: None,
        }))
    }

    fn open_to_write(
        &mut self,
        base: &Directory,
        path: String,
        wanted: Wanted,
    ) -> Result<Descriptor, Fault> {
        let operation = if wanted.create {
            Operation::Create
        } else {
            Operation::Change
        };
        let asked = self.ask(operation, base, path, Use::TargetFile)?;
        if wanted.directory {
            return Err(asked.errno(Errno::ISDIR));
        }
        let place = self.locate_target(&asked)?;
        if let Err(fault) = self.judge_place(&asked, &place, Subject::File) {
            return self.reserve(&asked, place, wanted, fault);
        }
        match self.transaction.pending(&place.slot).cloned() {
            None => {}
            Some(Pending::File(_)) if wanted.exclusive => return Err(Fault::errno(Errno::EXIST)),
            Some(Pending::File(index)) => return self.reopen_staged(&asked, index, wanted),
            Some(Pending::Gone) => return self.create_over_gone(asked, place, wanted),
            Some(Pending::Moved(..)) => return Err(asked.pending()),
        }
        match self.look(&asked, &place)? {
            Some(stat) => self.open_existing_to_write(asked, place, &stat, wanted),
            None if wanted.create => self.create(&asked, place, wanted),
            None => Err(Fault::errno(Errno::NOENT)),
        }
    }

    fn reopen_staged(
        &mut self,
        asked: &Asked,
        index: StagedIndex,
        wanted: Wanted,
    ) -> Result<Descriptor, Fault> {
        if wanted.truncate {
            self.transaction.file_mut(index).set_size(0)?;
        }
        self.open_staged(asked, index, wanted)
    }

    /// Creating where this call deleted is a replacement: the name is never without a file.
    fn create_over_gone(
        &mut self,
        mut asked: Asked,
        place: Place,
        wanted: Wanted,
    ) -> Result<Descriptor, Fault> {
        if !wanted.create {
            return Err(Fault::errno(Errno::NOENT));
        }
        let deleted = match self.transaction.take_back_file_deletion(&place.slot) {
            Some(effect) => effect,
            None => return Err(asked.pending()),
        };
        let Some(before) = deleted.before else {
            return Err(asked.pending());
        };
        asked.operation = Operation::Replace;
        if self.shared.policy.overwrite == Consent::Deny {
            self.transaction.delete(deleted.place, before, deleted.risk);
            return Err(self
                .consent_to_overwrite(&asked)
                .err()
                .unwrap_or_else(|| asked.pending()));
        }
        let file = StagedFile::for_existing(&place.directory, &self.shared.journal)?;
        let index = self
            .transaction
            .replace(Operation::Replace, place, before, deleted.risk, file);
        self.open_staged(&asked, index, wanted)
    }

    /// A name that only a directory may have can be reserved for one that is renamed to it, as
    /// long as nothing is written; whatever else is asked for there is refused.
    fn reserve(
        &mut self,
        asked: &Asked,
        place: Place,
        wanted: Wanted,
        fault: Fault,
    ) -> Result<Descriptor, Fault> {
        let reserves = wanted.create
            && wanted.exclusive
            && !self.owes()
            && self.transaction.pending(&place.slot).is_none()
            && matches!(self.look(asked, &place), Ok(None));
        match fault {
            Fault::Refused(refusal) if reserves => {
                let file = StagedFile::new(&place.directory, &self.shared.journal)?;
                let index = self.transaction.create(place, file);
                self.owe(index, refusal.error);
                self.open_staged(asked, index, wanted)
            }
            fault => Err(fault),
        }
    }

    fn create(&mut self, asked: &Asked, place: Place, wanted: Wanted) -> Result<Descriptor, Fault> {
        paths::check_new_name(place.name(), self.shared.policy.paths)
            .map_err(|error| asked.refuse(ErrorCode::Invalid, error))?;
        let no_room = self.charge_new_file(asked, wanted.exclusive)?;
        let file = StagedFile::new(&place.directory, &self.shared.journal)?;
        let index = self.transaction.create(place, file);
        if let Some(error) = no_room {
            self.owe(index, error);
        }
        self.open_staged(asked, index, wanted)
    }

    fn open_existing_to_write(
        &mut self,
        mut asked: Asked,
        place: Place,
        stat: &Stat,
        wanted: Wanted,
    ) -> Result<Descriptor, Fault> {
        match Kind::of(stat) {
            Kind::Symlink => return Err(self.refuse_symlink(&asked)),
            Kind::Special => return Err(asked.special()),
            _ if wanted.exclusive => return Err(Fault::errno(Errno::EXIST)),
            Kind::Directory => return Err(Fault::errno(Errno::ISDIR)),
            Kind::File => {}
        }
        asked.operation = if wanted.truncate {
            Operation::Replace
        } else {
            Operation::Change
        };
        self.permit(&asked)?;
        self.consent_to_overwrite(&asked)?;
        if stat.st_nlink > 1 {
            return Err(asked.refuse(ErrorCode::NotPermitted, hard_link()));
        }
        self.may_write(&asked, &place)?;
        let mut file = StagedFile::for_existing(&place.directory, &self.shared.journal)?;
        if !wanted.truncate {
            self.copy_existing(&asked, &place, stat, &mut file)?;
        }
        let risk = self.risk_of(asked.operation, stat);
        let before = Before::of(stat);
        let index = self
            .transaction
            .replace(asked.operation, place, before, risk, file);
        self.open_staged(&asked, index, wanted)
    }

    /// Replacing needs write permission on the directory only; the file's own must hold.
    pub(super) fn may_write(&self, asked: &Asked, place: &Place) -> Result<(), Fault> {
        let flags = AtFlags::EACCESS;
        rustix::fs::accessat(place.directory(), place.name(), AccessMode::WRITE_OK, flags)
            .map_err(|errno| asked.errno_of_verified(errno))
    }

    /// The private copy counts as reading, since it is.
    fn copy_existing(
        &mut self,
        asked: &Asked,
        place: &Place,
        stat: &Stat,
        file: &mut StagedFile,
    ) -> Result<(), Fault> {
        let size = stat.st_size as u64;
        // Changing a file by its content takes the same object below a read root.
        file.readable = self.is_readable(place)?;
        self.charge_read(ObjectId::of(stat), size, size)
            .map_err(|error| match file.readable {
                true => error,
                false => error.without_actual(),
            })
            .map_err(|error| asked.refuse(ErrorCode::Quota, error))?;
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let old = rustix::fs::openat(place.directory(), place.name(), flags, Mode::empty())
            .map_err(|errno| asked.errno_of_verified(errno))?;
        if Before::of(&rustix::fs::fstat(&old)?) != Before::of(stat) {
            return Err(asked.swapped());
        }
        file.copy_content(old.as_fd())?;
        let path = place.path.as_str().into();
        let found = Found {
            id: ObjectId::of(stat),
            resolved: place.resolved.clone(),
        };
        let access = self.accessed(Operation::Read, place.root, path, found)?;
        self.access_was(Some(access), Operation::Read, stat.st_size as u64);
        Ok(())
    }
}

fn no_follow(wanted: Wanted) -> OFlags {
    if wanted.follow {
        OFlags::empty()
    } else {
        OFlags::NOFOLLOW
    }
}

fn hard_link() -> CallError {
    CallError::new(
        code::HARD_LINK,
        "the file has another name as well, and changing it would change or split both",
    )
    .hint_of("write to a new file instead")
}
