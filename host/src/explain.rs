//! What a root is and what stands in the way there, for the operator.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{
    Access, AtFlags, Dir, Mode, OFlags, StatVfsMountFlags, StatxFlags, accessat, fstat, fstatfs,
    fstatvfs, openat, statx,
};
use rustix::io::Errno;

use crate::roots::{Rights, Root};
use crate::session::Session;
use crate::walk::{self, Kind};

/// Objects that a look inside counts before it gives up.
const MAX_LOOKED_AT: u64 = 100_000;
/// How long it takes at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// File systems by the numbers that statfs(2) lists.
const FILE_SYSTEMS: [(u64, &str); 16] = [
    (0xef53, "ext2, ext3 or ext4"),
    (0x9123_683e, "btrfs"),
    (0x5846_5342, "xfs"),
    (0x0102_1994, "tmpfs"),
    (0x794c_7630, "overlayfs"),
    (0xf2f5_2010, "f2fs"),
    (0x2fc1_2fc1, "zfs"),
    (0x6969, "nfs"),
    (0x6573_5546, "fuse"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x4d44, "vfat"),
    (0x2011_bab0, "exfat"),
    (0x7366_746e, "ntfs3"),
    (0x0102_1997, "9p"),
    (0x7371_7368, "squashfs"),
];

/// A root as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RootReport {
    /// The name by which results know the root.
    pub label: String,
    /// What may be done there.
    pub rights: Rights,
    /// Whether it is not there yet: a session would make it. File system, owner and mode are then
    /// those of the directory in which that would be done. Only a
    /// [`preview`](crate::SessionBuilder::preview) has such roots.
    pub to_be_made: bool,
    /// The kind of file system, by name where it is known.
    pub file_system: String,
    /// Whether it can be written to without a name first, so that a killed call leaves
    /// nothing; asked of write roots, and unknown where nothing can be made.
    pub unnamed_files: Option<bool>,
    /// The user who owns it.
    pub owner: u32,
    /// Its mode, without the kind.
    pub mode: u32,
    /// What keeps the grant from being used, in words.
    pub obstacles: Vec<String>,
    /// What lies inside, if that was asked for.
    pub inside: Option<Inside>,
}

/// What a bounded look inside a root counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inside {
    /// Files, directories, links and whatever else.
    pub objects: u64,
    /// Links that lead out, which are refused with `escape`.
    pub links_out: u64,
    /// Other file systems, or other parts of this one, mounted inside. They belong to the
    /// root; nothing is renamed across one.
    pub mounts: u64,
    /// Files with more than one name, which are not changed, and whose other names patterns
    /// do not see.
    pub hard_links: u64,
    /// Pipes, sockets and devices, which are never opened.
    pub special: u64,
    /// Directories that this user may not list.
    pub closed: u64,
    /// Whether everything was looked at: a look ends after 100,000 objects or 5 seconds.
    pub complete: bool,
}

impl Session {
    /// Describes each root; with `look_inside`, also what lies in it, by a walk that is
    /// bounded in objects and time and follows no links.
    #[must_use]
    pub fn explain_roots(&self, look_inside: bool) -> Vec<RootReport> {
        let explain = |root: &Root| report(root, look_inside);
        let there = self.shared().roots.iter().map(explain);
        there.chain(self.shared().to_be_made.clone()).collect()
    }
}

fn report(root: &Root, look_inside: bool) -> RootReport {
    RootReport {
        obstacles: obstacles(root),
        inside: look_inside.then(|| Look::into(root)),
        ..report_directory(root.label.clone(), root.rights, &root.handle)
    }
}

/// What is known of a root that would be made below a directory.
pub(crate) fn report_to_be_made(label: String, rights: Rights, below: &OwnedFd) -> RootReport {
    RootReport {
        to_be_made: true,
        ..report_directory(label, rights, below)
    }
}

fn report_directory(label: String, rights: Rights, directory: &OwnedFd) -> RootReport {
    let stat = fstat(directory);
    RootReport {
        label,
        rights,
        to_be_made: false,
        file_system: file_system(directory),
        unnamed_files: match rights {
            Rights::Read => None,
            Rights::Write => takes_unnamed_files(directory),
        },
        owner: stat.map_or(0, |stat| stat.st_uid),
        mode: stat.map_or(0, |stat| stat.st_mode & 0o7777),
        obstacles: Vec::new(),
        inside: None,
    }
}

fn file_system(directory: &OwnedFd) -> String {
    let Ok(statfs) = fstatfs(directory) else {
        return "unknown".to_owned();
    };
    let magic = statfs.f_type as u64 & 0xffff_ffff;
    let known = FILE_SYSTEMS.iter().find(|(number, _)| *number == magic);
    known.map_or_else(|| format!("0x{magic:x}"), |(_, name)| (*name).to_owned())
}

/// Makes one and lets go of it. Where nothing can be made at all, that is not known.
fn takes_unnamed_files(directory: &OwnedFd) -> Option<bool> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    match openat(directory, ".", flags, Mode::RUSR | Mode::WUSR) {
        Ok(_) => Some(true),
        // Kernels and file systems without `O_TMPFILE` (open(2)).
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Some(false),
        Err(_) => None,
    }
}

fn obstacles(root: &Root) -> Vec<String> {
    let mut obstacles = Vec::new();
    if fstat(&root.handle).is_ok_and(|stat| stat.st_nlink == 0) {
        obstacles.push("it was deleted".to_owned());
    }
    let may = |access| accessat(&root.handle, ".", access, AtFlags::EACCESS).is_ok();
    let needed = match root.rights {
        Rights::Read => vec![(Access::READ_OK, "list it"), (Access::EXEC_OK, "enter it")],
        Rights::Write => vec![
            (Access::WRITE_OK, "make or remove names in it"),
            (Access::EXEC_OK, "enter it"),
        ],
    };
    for (access, what) in needed {
        if !may(access) {
            obstacles.push(format!("this user may not {what}"));
        }
    }
    let read_only = fstatvfs(&root.handle)
        .is_ok_and(|statvfs| statvfs.f_flag.contains(StatVfsMountFlags::RDONLY));
    if read_only && root.rights == Rights::Write {
        obstacles.push("its file system is mounted read-only".to_owned());
    }
    obstacles
}

/// A look inside, under way.
struct Look<'a> {
    root: &'a Root,
    mount: Option<u64>,
    until: Instant,
    found: Inside,
    /// Directories that are still to be looked into, by their paths from the root.
    waiting: Vec<String>,
}

impl<'a> Look<'a> {
    fn into(root: &'a Root) -> Inside {
        let mut look = Look {
            root,
            mount: mount_of(root, "."),
            until: Instant::now() + PATIENCE,
            found: Inside {
                complete: true,
                ..Inside::default()
            },
            waiting: vec![".".to_owned()],
        };
        while let Some(path) = look.waiting.pop() {
            if look.directory(&path).is_none() {
                look.found.complete = false;
                break;
            }
        }
        look.found
    }

    /// Looks at the entries of one directory; `None` when it is time to end.
    fn directory(&mut self, path: &str) -> Option<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let opened = walk::open(
            self.root.handle.as_fd(),
            path,
            self.root.boundary,
            flags,
            Mode::empty(),
        );
        let Ok(entries) = opened.and_then(Dir::new) else {
            self.found.closed += 1;
            return Some(());
        };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().to_str() else {
                self.found.objects += 1;
                continue;
            };
            if matches!(name, "." | "..") {
                continue;
            }
            if self.found.objects >= MAX_LOOKED_AT || Instant::now() >= self.until {
                return None;
            }
            self.found.objects += 1;
            self.object(match path {
                "." => name.to_owned(),
                _ => format!("{path}/{name}"),
            });
        }
        Some(())
    }

    fn object(&mut self, path: String) {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        let Ok(stat) = self.open(&path, flags).and_then(fstat) else {
            return;
        };
        match Kind::of(&stat) {
            Kind::Directory => {
                if self.mount.is_some() && mount_of(self.root, &path) != self.mount {
                    self.found.mounts += 1;
                }
                self.waiting.push(path);
            }
            Kind::Symlink => {
                let leads_out = self.open(&path, OFlags::PATH).err() == Some(Errno::XDEV);
                self.found.links_out += u64::from(leads_out);
            }
            Kind::File => self.found.hard_links += u64::from(stat.st_nlink > 1),
            Kind::Special => self.found.special += 1,
        }
    }

    fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let (root, boundary) = (self.root.handle.as_fd(), self.root.boundary);
        walk::open(root, path, boundary, flags, Mode::empty())
    }
}

/// The id of the mount that an object is on; kernels before 5.8 do not tell.
fn mount_of(root: &Root, path: &str) -> Option<u64> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let statx = statx(&root.handle, path, flags, StatxFlags::MNT_ID).ok()?;
    let told = statx.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    told.then_some(statx.stx_mnt_id)
}
