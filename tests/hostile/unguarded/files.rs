//! `wasi:filesystem` as the operating system and cap-std have it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;

use cap_primitives::fs::{self as cap, FollowSymlinks, OpenOptions, OpenOptionsExt};
use rustix::fs::{OFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use rustix::io::Errno;
use wasmtime::component::Resource;

use super::bindings::wasi::filesystem::{preopens, types};
use super::{Cursor, Descriptor, Entries, Failure, State, Stop, WriteCursor};
use types::{
    Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};

type Fd = Resource<Descriptor>;

pub(super) fn code_of(error: &io::Error) -> ErrorCode {
    match Errno::from_io_error(error) {
        Some(Errno::NOENT) => ErrorCode::NoEntry,
        Some(Errno::EXIST) => ErrorCode::Exist,
        Some(Errno::LOOP) => ErrorCode::Loop,
        Some(Errno::NOTDIR) => ErrorCode::NotDirectory,
        Some(Errno::ISDIR) => ErrorCode::IsDirectory,
        Some(Errno::NOTEMPTY) => ErrorCode::NotEmpty,
        Some(Errno::INVAL) => ErrorCode::Invalid,
        Some(Errno::FBIG) => ErrorCode::FileTooLarge,
        Some(Errno::BADF) => ErrorCode::BadDescriptor,
        Some(Errno::ACCESS) => ErrorCode::Access,
        Some(Errno::PERM) => ErrorCode::NotPermitted,
        Some(_) => ErrorCode::Io,
        // cap-std's word for an escape has no number.
        None if error.kind() == io::ErrorKind::PermissionDenied => ErrorCode::NotPermitted,
        None => ErrorCode::Invalid,
    }
}

fn follow(flags: PathFlags) -> FollowSymlinks {
    match flags.contains(PathFlags::SYMLINK_FOLLOW) {
        true => FollowSymlinks::Yes,
        false => FollowSymlinks::No,
    }
}

fn options(path: PathFlags, open: OpenFlags, flags: DescriptorFlags) -> OpenOptions {
    let exclusive = open.contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE);
    let write = flags.contains(DescriptorFlags::WRITE);
    let mut options = OpenOptions::new();
    options
        .read(flags.contains(DescriptorFlags::READ) || !write)
        .write(write || open.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE))
        .create_new(exclusive)
        .create(open.contains(OpenFlags::CREATE) && !exclusive)
        .truncate(open.contains(OpenFlags::TRUNCATE))
        // The real one would block at a pipe, and the tests with it.
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        ._cap_fs_ext_follow(follow(path));
    options
}

fn stat_of(metadata: &std::fs::Metadata) -> DescriptorStat {
    DescriptorStat {
        type_: if metadata.is_dir() {
            DescriptorType::Directory
        } else {
            DescriptorType::RegularFile
        },
        link_count: metadata.nlink(),
        size: metadata.len(),
        data_access_timestamp: None,
        data_modification_timestamp: None,
        status_change_timestamp: None,
    }
}

fn spec(time: NewTimestamp) -> Timespec {
    let tv_nsec = match time {
        NewTimestamp::NoChange => UTIME_OMIT,
        _ => UTIME_NOW,
    };
    Timespec { tv_sec: 0, tv_nsec }
}

fn set_times(file: &File, access: NewTimestamp, change: NewTimestamp) -> Result<(), Stop> {
    let times = Timestamps {
        last_access: spec(access),
        last_modification: spec(change),
    };
    Ok(rustix::fs::futimens(file.as_fd(), &times).map_err(io::Error::from)?)
}

impl preopens::Host for State {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        let roots = self.roots.clone();
        let give = |(file, name): (Arc<File>, &'static str)| {
            Ok((self.table.push(Descriptor(file))?, name.to_owned()))
        };
        roots.into_iter().map(give).collect()
    }
}

impl types::Host for State {
    fn convert_error_code(&mut self, stop: Stop) -> wasmtime::Result<ErrorCode> {
        match stop {
            Stop::Code(code) => Ok(code),
            Stop::Trap(error) => Err(error),
        }
    }

    fn filesystem_error_code(
        &mut self,
        failure: Resource<Failure>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(Some(self.table.get(&failure)?.0))
    }
}

impl types::HostDescriptor for State {
    fn open_at(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Fd, Stop> {
        let directory = open_flags.contains(OpenFlags::DIRECTORY);
        if directory && open_flags != OpenFlags::DIRECTORY {
            return Err(Stop::Code(ErrorCode::Invalid));
        }
        let options = options(path_flags, open_flags, flags);
        let opened = cap::open(&*self.file(&fd)?, path.as_ref(), &options)?;
        if directory && !opened.metadata()?.is_dir() {
            return Err(Stop::Code(ErrorCode::NotDirectory));
        }
        Ok(self.table.push(Descriptor(Arc::new(opened)))?)
    }

    fn read(&mut self, fd: Fd, length: u64, offset: u64) -> Result<(Vec<u8>, bool), Stop> {
        let file = self.file(&fd)?;
        let wanted = length
            .min(file.metadata()?.len().saturating_sub(offset))
            .min(1 << 24);
        let mut bytes = vec![0; wanted as usize];
        let count = file.read_at(&mut bytes, offset)?;
        bytes.truncate(count);
        Ok((bytes, count == 0))
    }

    fn write(&mut self, fd: Fd, bytes: Vec<u8>, offset: u64) -> Result<u64, Stop> {
        self.file(&fd)?.write_all_at(&bytes, offset)?;
        Ok(bytes.len() as u64)
    }

    fn set_size(&mut self, fd: Fd, size: u64) -> Result<(), Stop> {
        Ok(self.file(&fd)?.set_len(size)?)
    }

    fn read_via_stream(&mut self, fd: Fd, offset: u64) -> Result<Resource<Cursor>, Stop> {
        let cursor = Cursor(self.file(&fd)?, offset);
        Ok(self.table.push(cursor)?)
    }

    fn write_via_stream(&mut self, fd: Fd, offset: u64) -> Result<Resource<WriteCursor>, Stop> {
        let cursor = WriteCursor(self.file(&fd)?, offset);
        Ok(self.table.push(cursor)?)
    }

    fn append_via_stream(&mut self, fd: Fd) -> Result<Resource<WriteCursor>, Stop> {
        let file = self.file(&fd)?;
        let end = file.metadata()?.len();
        Ok(self.table.push(WriteCursor(file, end))?)
    }

    fn read_directory(&mut self, fd: Fd) -> Result<Resource<Entries>, Stop> {
        let path = format!("/proc/self/fd/{}", self.file(&fd)?.as_raw_fd());
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            entries.push((name, entry.file_type()?.is_dir()));
        }
        Ok(self.table.push(Entries(entries))?)
    }

    fn create_directory_at(&mut self, fd: Fd, path: String) -> Result<(), Stop> {
        let options = cap::DirOptions::new();
        Ok(cap::create_dir(&*self.file(&fd)?, path.as_ref(), &options)?)
    }

    fn remove_directory_at(&mut self, fd: Fd, path: String) -> Result<(), Stop> {
        Ok(cap::remove_dir(&*self.file(&fd)?, path.as_ref())?)
    }

    fn unlink_file_at(&mut self, fd: Fd, path: String) -> Result<(), Stop> {
        Ok(cap::remove_file(&*self.file(&fd)?, path.as_ref())?)
    }

    fn rename_at(&mut self, fd: Fd, path: String, to: Fd, to_path: String) -> Result<(), Stop> {
        let (from, to) = (self.file(&fd)?, self.file(&to)?);
        Ok(cap::rename(&from, path.as_ref(), &to, to_path.as_ref())?)
    }

    fn link_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
        to: Fd,
        to_path: String,
    ) -> Result<(), Stop> {
        if flags.contains(PathFlags::SYMLINK_FOLLOW) {
            return Err(Stop::Code(ErrorCode::Invalid));
        }
        let (from, to) = (self.file(&fd)?, self.file(&to)?);
        Ok(cap::hard_link(&from, path.as_ref(), &to, to_path.as_ref())?)
    }

    fn symlink_at(&mut self, fd: Fd, target: String, path: String) -> Result<(), Stop> {
        Ok(cap::symlink(
            target.as_ref(),
            &*self.file(&fd)?,
            path.as_ref(),
        )?)
    }

    fn set_times(
        &mut self,
        fd: Fd,
        access: NewTimestamp,
        change: NewTimestamp,
    ) -> Result<(), Stop> {
        set_times(&*self.file(&fd)?, access, change)
    }

    fn set_times_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
        access: NewTimestamp,
        change: NewTimestamp,
    ) -> Result<(), Stop> {
        let options = options(flags, OpenFlags::empty(), DescriptorFlags::READ);
        set_times(
            &cap::open(&*self.file(&fd)?, path.as_ref(), &options)?,
            access,
            change,
        )
    }

    fn stat(&mut self, fd: Fd) -> Result<DescriptorStat, Stop> {
        Ok(stat_of(&self.file(&fd)?.metadata()?))
    }

    fn stat_at(&mut self, fd: Fd, flags: PathFlags, path: String) -> Result<DescriptorStat, Stop> {
        let stat = cap::stat(&*self.file(&fd)?, path.as_ref(), follow(flags))?;
        let size = stat.len();
        Ok(DescriptorStat {
            type_: DescriptorType::Unknown,
            link_count: 1,
            size,
            data_access_timestamp: None,
            data_modification_timestamp: None,
            status_change_timestamp: None,
        })
    }

    fn metadata_hash(&mut self, fd: Fd) -> Result<MetadataHashValue, Stop> {
        let upper = self.file(&fd)?.metadata()?.ino();
        Ok(MetadataHashValue { lower: 0, upper })
    }

    fn metadata_hash_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> Result<MetadataHashValue, Stop> {
        let upper = self.stat_at(fd, flags, path)?.size;
        Ok(MetadataHashValue { lower: 0, upper })
    }

    fn readlink_at(&mut self, fd: Fd, path: String) -> Result<String, Stop> {
        let target = cap::read_link(&*self.file(&fd)?, path.as_ref())?;
        Ok(target.to_string_lossy().into_owned())
    }

    fn get_type(&mut self, fd: Fd) -> Result<DescriptorType, Stop> {
        Ok(self.stat(fd)?.type_)
    }

    fn get_flags(&mut self, fd: Fd) -> Result<DescriptorFlags, Stop> {
        self.table.get(&fd)?;
        Ok(DescriptorFlags::READ | DescriptorFlags::WRITE | DescriptorFlags::MUTATE_DIRECTORY)
    }

    fn is_same_object(&mut self, fd: Fd, other: Fd) -> wasmtime::Result<bool> {
        Ok(fd.rep() == other.rep())
    }

    fn advise(&mut self, _: Fd, _: u64, _: u64, _: Advice) -> Result<(), Stop> {
        Ok(())
    }

    fn sync_data(&mut self, _: Fd) -> Result<(), Stop> {
        Ok(())
    }

    fn sync(&mut self, _: Fd) -> Result<(), Stop> {
        Ok(())
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        self.table.delete(fd)?;
        Ok(())
    }
}

impl types::HostDirectoryEntryStream for State {
    fn read_directory_entry(
        &mut self,
        entries: Resource<Entries>,
    ) -> Result<Option<DirectoryEntry>, Stop> {
        let entry = self.table.get_mut(&entries)?.0.pop();
        Ok(entry.map(|(name, is_directory)| DirectoryEntry {
            type_: match is_directory {
                true => DescriptorType::Directory,
                false => DescriptorType::RegularFile,
            },
            name,
        }))
    }

    fn drop(&mut self, entries: Resource<Entries>) -> wasmtime::Result<()> {
        self.table.delete(entries)?;
        Ok(())
    }
}
