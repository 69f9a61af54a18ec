//! `wasi:filesystem`: every method, in the silhouette that the module's head describes.
//!
//! The traits are generated from the WIT, so a method that WASI gains does not compile
//! until it has its place here.

use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;
use wasmtime::component::Resource;

use super::ask::Asked;
use super::directory::{EntryStream, wasi_type};
use super::fault::Fault;
use super::found::Found;
use super::io::StreamFailure;
use super::state::{CallState, Descriptor, Directory, OpenFile};
use super::streams::{Input, Output};
use super::transfer::MAX_READ;
use crate::bindings::filesystem::{
    self, Advice, Datetime, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
    ErrorCode, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use crate::bindings::preopens;
use crate::paths::{self, Use};
use crate::policy::Operation;
use crate::roots::Rights;
use crate::transaction::Pending;
use crate::walk::{self, Kind, ObjectId, Version};

type Fd = Resource<Descriptor>;

impl CallState {
    fn directory_of(&self, fd: &Fd) -> Result<Directory, Fault> {
        match self.table.get(fd)? {
            Descriptor::Directory(directory) => Ok(directory.clone()),
            Descriptor::File(_) => Err(Fault::errno(Errno::NOTDIR)),
        }
    }

    fn file_of(&self, fd: &Fd) -> Result<OpenFile, Fault> {
        match self.table.get(fd)? {
            Descriptor::File(file) => Ok(file.clone()),
            Descriptor::Directory(_) => Err(Fault::errno(Errno::ISDIR)),
        }
    }

    /// The metadata of an open object. In the write root only the call's own new files
    /// tell anything.
    fn stat_descriptor(&mut self, fd: &Fd) -> Result<Stat, Fault> {
        match self.table.get(fd)?.clone() {
            Descriptor::File(file) if file.readable => Ok(rustix::fs::fstat(&file.handle)?),
            Descriptor::File(file) => {
                let base = self.root_directory(file.root);
                Err(self.no_reading(&Asked::of(Operation::Stat, &base, file.path.to_string())))
            }
            Descriptor::Directory(directory) => {
                let asked = Asked::of(Operation::Stat, &directory, ".".to_owned());
                self.permit(&asked)?;
                Ok(rustix::fs::fstat(&directory.handle)?)
            }
        }
    }

    fn no_reading(&self, asked: &Asked) -> Fault {
        asked.not_granted(
            "the directory is granted for writing, not for reading",
            "ask the operator to grant it with `--read` as well",
        )
    }

    pub(super) fn root_directory(&self, root: usize) -> Directory {
        let handle = Arc::clone(&self.root(root).handle);
        Directory {
            handle,
            id: self.root(root).id,
            root,
            path: "".into(),
            straight: true,
            access: None,
            level: 0,
        }
    }

    pub(super) fn stat_path(
        &mut self,
        base: &Directory,
        path: String,
        flags: PathFlags,
    ) -> Result<Stat, Fault> {
        let asked = self.ask(Operation::Stat, base, path, Use::Any)?;
        let (stat, found) = match self.stat_pending(&asked)? {
            Some(pending) => pending,
            None => self.stat_on_disk(&asked, flags.contains(PathFlags::SYMLINK_FOLLOW))?,
        };
        if !(walk::is_single_name(&asked.path) && self.looked_at_entry(base.access)) {
            let path = base.spell(&asked.path).into();
            self.accessed(Operation::Stat, base.root, path, found)?;
        }
        Ok(stat)
    }

    fn stat_pending(&self, asked: &Asked) -> Result<Option<(Stat, Found)>, Fault> {
        let Some(place) = self.locate_pending(asked)? else {
            return Ok(None);
        };
        let stat = match self.transaction.pending(&place.slot) {
            Some(Pending::Gone) => return Err(Fault::errno(Errno::NOENT)),
            Some(Pending::File(index)) => self.transaction.file(*index).stat()?,
            Some(Pending::Moved(from, _)) => walk::look(from.directory(), from.name())?,
            None => return Ok(None),
        };
        let (id, resolved) = (ObjectId::of(&stat), place.resolved);
        Ok(Some((stat, Found { id, resolved })))
    }

    fn stat_on_disk(&self, asked: &Asked, follow: bool) -> Result<(Stat, Found), Fault> {
        // One name needs no walk, unless it is a link to be followed.
        if walk::is_single_name(&asked.path) {
            let stat = walk::look(asked.base.fd(), &asked.path)
                .map_err(|errno| self.errno_of_walk(asked, errno))?;
            if !follow || Kind::of(&stat) != Kind::Symlink {
                self.judge_entry(asked, Kind::of(&stat))?;
                let id = ObjectId::of(&stat);
                let resolved = self.place_of_name(asked, true, asked.base.fd(), &asked.path);
                return Ok((stat, Found { id, resolved }));
            }
        }
        let flags = OFlags::PATH
            | if follow {
                OFlags::empty()
            } else {
                OFlags::NOFOLLOW
            };
        let walked = self.walk_judged(asked, &asked.path, flags)?;
        let stat = rustix::fs::fstat(&walked.handle)?;
        self.judge_walked(asked, &walked, Kind::of(&stat))?;
        let found = self.found(asked, &walked, ObjectId::of(&stat));
        Ok((stat, found))
    }

    fn never(&mut self, operation: Operation, base: &Directory, path: String, what: &str) -> Fault {
        let asked = Asked::of(operation, base, path);
        asked.not_granted(what, "there is no tool or grant for this")
    }

    /// The text of a link that stays inside. One that does not is an escape, and where it
    /// leads is not told.
    fn read_link(&mut self, base: &Directory, path: String) -> Result<String, Fault> {
        let asked = self.ask(Operation::Stat, base, path, Use::Any)?;
        let place = self.locate(&asked)?;
        let link = match self.look(&asked, &place)? {
            Some(stat) => ObjectId::of(&stat),
            None => return Err(self.absent(&asked, &place)),
        };
        let target = rustix::fs::readlinkat(place.directory(), place.name(), Vec::new())
            .map_err(|errno| asked.errno(errno))?;
        let target = (target.into_string()).map_err(|_| Fault::errno(Errno::ILSEQ))?;
        // The walk may have ended before it came to what leads out, so the text is told only
        // where it leads to something inside. The text itself is walked: meanwhile the name
        // may have become that of another link.
        let leads = link_target(&asked.path, &target);
        self.judge_way(&asked, &leads, true)?;
        let boundary = self.root(base.root).boundary;
        let led = walk::open(base.fd(), &leads, boundary, OFlags::PATH, Mode::empty())
            .map_err(|errno| self.errno_of_link(&asked, leads, errno))?;
        self.judge_led(&asked, led.as_fd())?;
        let (path, resolved) = (place.path.into(), place.resolved);
        self.accessed(
            Operation::Stat,
            base.root,
            path,
            Found { id: link, resolved },
        )?;
        Ok(target)
    }
}

impl CallState {
    /// Metadata as the guest sees it. How many names a directory holds and how long they are is
    /// not told where patterns may hide some of them.
    fn told(&self, stat: &Stat) -> DescriptorStat {
        let mut told = wasi_stat(stat);
        if self.shared.judge.is_some() && Kind::of(stat) == Kind::Directory {
            (told.size, told.link_count) = (0, 1);
        }
        told
    }
}

impl preopens::Host for CallState {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        let mut preopened = Vec::new();
        for root in 0..self.shared.roots.iter().count() {
            let directory = Descriptor::Directory(self.root_directory(root));
            let name = self.root(root).preopen.clone();
            match self.hand_out(directory) {
                Ok(fd) => preopened.push((fd, name)),
                Err(fault) => {
                    self.settle(fault)?;
                    break;
                }
            }
        }
        Ok(preopened)
    }
}

impl filesystem::Host for CallState {
    fn convert_error_code(&mut self, fault: Fault) -> wasmtime::Result<ErrorCode> {
        self.settle(fault)
    }

    fn filesystem_error_code(
        &mut self,
        failure: Resource<StreamFailure>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(Some(self.table.get(&failure)?.wasi))
    }
}

impl filesystem::HostDescriptor for CallState {
    fn open_at(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Fd, Fault> {
        self.failures.opening(&path);
        let base = self.directory_of(&fd)?;
        if !open_flags.contains(OpenFlags::CREATE) {
            self.seeks(&base, &path);
        }
        self.room_for_a_handle()?;
        let opened = self.open(&base, path, path_flags, open_flags, flags)?;
        self.hand_out(opened)
    }

    fn read(&mut self, fd: Fd, length: u64, offset: u64) -> Result<(Vec<u8>, bool), Fault> {
        let file = self.file_of(&fd)?;
        let bytes = self.read_bytes(&file, length, offset)?;
        // Regular files answer short at their end only (read(2)).
        let end = (bytes.len() as u64) < length.min(MAX_READ);
        Ok((bytes, end))
    }

    fn write(&mut self, fd: Fd, bytes: Vec<u8>, offset: u64) -> Result<u64, Fault> {
        let file = self.file_of(&fd)?;
        self.write_bytes(&file, &bytes, offset)?;
        Ok(bytes.len() as u64)
    }

    fn set_size(&mut self, fd: Fd, size: u64) -> Result<(), Fault> {
        let file = self.file_of(&fd)?;
        self.resize(&file, size)
    }

    fn read_via_stream(&mut self, fd: Fd, offset: u64) -> Result<Resource<Input>, Fault> {
        let file = self.file_of(&fd)?;
        if !file.readable {
            return Err(Fault::bad_descriptor());
        }
        self.hand_out(Input::File {
            file,
            position: offset,
        })
    }

    fn write_via_stream(&mut self, fd: Fd, offset: u64) -> Result<Resource<Output>, Fault> {
        let file = self.file_of(&fd)?;
        self.append_offset(&file)?;
        self.hand_out(Output::File {
            file,
            position: offset,
        })
    }

    fn append_via_stream(&mut self, fd: Fd) -> Result<Resource<Output>, Fault> {
        let file = self.file_of(&fd)?;
        let position = self.append_offset(&file)?;
        self.hand_out(Output::File { file, position })
    }

    fn read_directory(&mut self, fd: Fd) -> Result<Resource<EntryStream>, Fault> {
        let directory = self.directory_of(&fd)?;
        self.list(&directory)
    }

    fn create_directory_at(&mut self, fd: Fd, path: String) -> Result<(), Fault> {
        let base = self.directory_of(&fd)?;
        self.create_directory(&base, path)
    }

    fn remove_directory_at(&mut self, fd: Fd, path: String) -> Result<(), Fault> {
        let base = self.directory_of(&fd)?;
        self.seeks(&base, &path);
        self.remove_directory(&base, path)
    }

    fn unlink_file_at(&mut self, fd: Fd, path: String) -> Result<(), Fault> {
        self.failures.opening(&path);
        let base = self.directory_of(&fd)?;
        self.seeks(&base, &path);
        self.unlink_file(&base, path)
    }

    fn rename_at(
        &mut self,
        fd: Fd,
        path: String,
        new_fd: Fd,
        new_path: String,
    ) -> Result<(), Fault> {
        self.failures.opening(&path);
        let base = self.directory_of(&fd)?;
        let new_base = self.directory_of(&new_fd)?;
        self.seeks(&base, &path);
        self.rename(&base, path, &new_base, new_path)
    }

    fn link_at(
        &mut self,
        fd: Fd,
        _: PathFlags,
        path: String,
        new_fd: Fd,
        new_path: String,
    ) -> Result<(), Fault> {
        self.failures.opening(&path);
        let base = self.directory_of(&fd)?;
        let new_base = self.directory_of(&new_fd)?;
        Err(Asked::of(Operation::Link, &base, path)
            .with_target(&new_base, &new_path)
            .not_granted("links are never made", "copy the file instead"))
    }

    fn symlink_at(&mut self, fd: Fd, _: String, path: String) -> Result<(), Fault> {
        let base = self.directory_of(&fd)?;
        Err(self.never(Operation::Link, &base, path, "links are never made"))
    }

    fn set_times(&mut self, fd: Fd, _: NewTimestamp, _: NewTimestamp) -> Result<(), Fault> {
        let (base, path) = match self.table.get(&fd)?.clone() {
            Descriptor::Directory(directory) => (directory, ".".to_owned()),
            Descriptor::File(file) => (self.root_directory(file.root), file.path.to_string()),
        };
        Err(self.never(Operation::Other, &base, path, "times are never set"))
    }

    fn set_times_at(
        &mut self,
        fd: Fd,
        _: PathFlags,
        path: String,
        _: NewTimestamp,
        _: NewTimestamp,
    ) -> Result<(), Fault> {
        let base = self.directory_of(&fd)?;
        Err(self.never(Operation::Other, &base, path, "times are never set"))
    }

    fn stat(&mut self, fd: Fd) -> Result<DescriptorStat, Fault> {
        let stat = self.stat_descriptor(&fd)?;
        Ok(self.told(&stat))
    }

    fn stat_at(&mut self, fd: Fd, flags: PathFlags, path: String) -> Result<DescriptorStat, Fault> {
        let base = self.directory_of(&fd)?;
        self.seeks(&base, &path);
        let stat = self.stat_path(&base, path, flags)?;
        Ok(self.told(&stat))
    }

    fn metadata_hash(&mut self, fd: Fd) -> Result<MetadataHashValue, Fault> {
        Ok(wasi_hash(&self.stat_descriptor(&fd)?))
    }

    fn metadata_hash_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> Result<MetadataHashValue, Fault> {
        let base = self.directory_of(&fd)?;
        self.seeks(&base, &path);
        Ok(wasi_hash(&self.stat_path(&base, path, flags)?))
    }

    fn readlink_at(&mut self, fd: Fd, path: String) -> Result<String, Fault> {
        let base = self.directory_of(&fd)?;
        self.read_link(&base, path)
    }

    fn get_type(&mut self, fd: Fd) -> Result<DescriptorType, Fault> {
        Ok(match self.table.get(&fd)? {
            Descriptor::Directory(_) => DescriptorType::Directory,
            Descriptor::File(_) => DescriptorType::RegularFile,
        })
    }

    fn get_flags(&mut self, fd: Fd) -> Result<DescriptorFlags, Fault> {
        Ok(match self.table.get(&fd)? {
            Descriptor::Directory(directory) if self.may(directory.root, Rights::Write) => {
                DescriptorFlags::MUTATE_DIRECTORY
            }
            Descriptor::Directory(_) => DescriptorFlags::READ,
            Descriptor::File(file) => {
                let when = |held: bool, flag| if held { flag } else { DescriptorFlags::empty() };
                when(file.readable, DescriptorFlags::READ)
                    | when(file.staged.is_some(), DescriptorFlags::WRITE)
            }
        })
    }

    fn is_same_object(&mut self, fd: Fd, other: Fd) -> wasmtime::Result<bool> {
        let id = |descriptor: &Descriptor| match descriptor {
            Descriptor::Directory(directory) => directory.id,
            Descriptor::File(file) => file.id,
        };
        Ok(id(self.table.get(&fd)?) == id(self.table.get(&other)?))
    }

    /// Advice changes nothing and is not passed on.
    fn advise(&mut self, fd: Fd, _: u64, _: u64, _: Advice) -> Result<(), Fault> {
        self.table.get(&fd)?;
        Ok(())
    }

    /// The commit syncs; before it nothing has a name that could survive.
    fn sync_data(&mut self, fd: Fd) -> Result<(), Fault> {
        self.table.get(&fd)?;
        Ok(())
    }

    fn sync(&mut self, fd: Fd) -> Result<(), Fault> {
        self.table.get(&fd)?;
        Ok(())
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        self.take_back(fd)
    }
}

impl filesystem::HostDirectoryEntryStream for CallState {
    fn read_directory_entry(
        &mut self,
        stream: Resource<EntryStream>,
    ) -> Result<Option<DirectoryEntry>, Fault> {
        self.next_entry(&stream)
    }

    fn drop(&mut self, stream: Resource<EntryStream>) -> wasmtime::Result<()> {
        self.end_listing(stream)
    }
}

/// Where the text of a link leads, from where the path of the link starts.
fn link_target(link: &str, target: &str) -> String {
    match paths::split_last(link) {
        Some((parent, _)) if !target.starts_with('/') => format!("{parent}/{target}"),
        _ => target.to_owned(),
    }
}

fn wasi_stat(stat: &Stat) -> DescriptorStat {
    let time = |seconds: i64, nanoseconds: u64| {
        Some(Datetime {
            seconds: u64::try_from(seconds).ok()?,
            nanoseconds: nanoseconds as u32,
        })
    };
    DescriptorStat {
        type_: wasi_type(Kind::of(stat)),
        link_count: stat.st_nlink,
        // The size of a link is the length of where it leads, which is not told.
        size: match Kind::of(stat) {
            Kind::Symlink => 0,
            _ => stat.st_size as u64,
        },
        data_access_timestamp: time(stat.st_atime, stat.st_atime_nsec),
        data_modification_timestamp: time(stat.st_mtime, stat.st_mtime_nsec),
        status_change_timestamp: time(stat.st_ctime, stat.st_ctime_nsec),
    }
}

fn wasi_hash(stat: &Stat) -> MetadataHashValue {
    let (upper, lower) = Version::of(stat).halves();
    MetadataHashValue { lower, upper }
}
