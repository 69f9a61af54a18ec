//! Files and directories under other names, never over another by accident.

use super::writing::{create_new, with_parents, write_from};
use super::{
    Descriptor, DescriptorFlags, ErrorCode, Miss, OpenFlags, PathFlags, Roots, replace_existing,
};
use crate::{Error, Failure};

/// Copied at once: less than what a host may copy in one crossing at its strictest.
const BLOCK: u64 = 512 * 1024;

/// Gives an object another name below the write root, and makes the directories of the new
/// name. Replaces a file only with `overwrite`.
///
/// # Errors
/// `exist` when the name is taken; else the host's.
pub fn rename(root: &Descriptor, from: &str, to: &str, overwrite: bool) -> Result<(), ErrorCode> {
    let rename = |from: &str| {
        let rename = || root.rename_at(from, root, to);
        with_parents(to, rename, |parent| root.create_directory_at(parent))
    };
    if from.ends_with('/') || to.ends_with('/') {
        return rename(&as_directory(from));
    }
    if overwrite {
        return rename(from);
    }
    // A file of our own reserves the name, and gives way to the file that comes.
    create_new(root, to)?;
    match rename(from) {
        // It gives way to no directory; and a directory never replaces anything.
        Err(ErrorCode::Exist) => {
            root.unlink_file_at(to)?;
            rename(&as_directory(from))
        }
        answer => answer,
    }
}

/// A spelling that means a directory and nothing else.
fn as_directory(path: &str) -> String {
    format!("{}/", path.trim_end_matches('/'))
}

/// A file that was copied.
pub struct Copied {
    /// Bytes of the copy.
    pub bytes: u64,
    /// False when an existing file was replaced.
    pub created: bool,
    /// The preopen name of the root it was copied from.
    pub root: String,
}

/// Copies a file of a read root to a name below the write root. Replaces a file only with
/// `overwrite`.
///
/// # Errors
/// `exists`, `not-a-file` for a directory; else the host's.
pub fn copy(
    roots: &Roots,
    from: &str,
    to: &str,
    overwrite: bool,
    exists: impl FnOnce(&str) -> Failure,
) -> Result<Copied, Error> {
    let root = roots.writable()?;
    // Opened before the target, which may be the same file; and asked for its error after
    // it, so that a target which may not be used is refused for that in any case.
    let found = roots.look_up(|directory| {
        let flags = DescriptorFlags::READ;
        directory.open_at(PathFlags::SYMLINK_FOLLOW, from, OpenFlags::empty(), flags)
    });
    let found = match found {
        Err(Miss::Absent) => Err(Miss::Absent),
        found => Ok(found?),
    };
    let target = match create_new(root, to) {
        Err(ErrorCode::Exist) if overwrite => None,
        Err(ErrorCode::Exist) => return Err(exists(to).into()),
        answer => Some(answer?),
    };
    let found = found?;
    let first = found.object.read(BLOCK, 0).map_err(|code| match code {
        ErrorCode::IsDirectory => directory(from).into(),
        code => Error::from(code),
    })?;
    let created = target.is_some();
    let file = match target {
        Some(file) => file,
        None => replace_existing(root, to)?,
    };
    Ok(Copied {
        bytes: copy_all(&found.object, first, &file)?,
        created,
        root: found.root,
    })
}

fn copy_all(from: &Descriptor, first: (Vec<u8>, bool), to: &Descriptor) -> Result<u64, ErrorCode> {
    let (mut block, mut at_end) = first;
    let mut offset = 0;
    loop {
        write_from(to, &block, offset)?;
        offset += block.len() as u64;
        if at_end || block.is_empty() {
            return Ok(offset);
        }
        (block, at_end) = from.read(BLOCK, offset)?;
    }
}

fn directory(path: &str) -> Failure {
    Failure::new("not-a-file", format!("`{path}` is a directory"))
        .hint("list it and copy its files one by one; moving takes a whole directory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_spelled_with_one_slash() {
        assert_eq!(as_directory("a"), "a/");
        assert_eq!(as_directory("a//"), "a/");
    }

    #[test]
    fn a_directory_is_not_copied() {
        assert_eq!(directory("a").code, "not-a-file");
        assert!(directory("a").hint.contains("one by one"));
    }
}
