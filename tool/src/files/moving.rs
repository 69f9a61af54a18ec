//! Files and directories under other names, never over another by accident.

use super::names::is_same_path;
use super::writing::{create_new, with_parents, write_from};
use super::{
    Descriptor, DescriptorFlags, ErrorCode, Found, Miss, OpenFlags, PathFlags, Roots,
    replace_existing,
};
use crate::{Error, Failure};

/// Copied at once: less than what a host may copy in one crossing at its strictest.
const BLOCK: u64 = 512 * 1024;

/// Gives an object another name below the write root, and makes the directories of the new
/// name. Replaces a file only with `overwrite`.
///
/// # Errors
/// `exists` when the name is taken; `invalid-arguments` when it is the same; else the host's.
pub fn rename(
    root: &Descriptor,
    from: &str,
    to: &str,
    overwrite: bool,
    exists: impl FnOnce(&str) -> Failure,
) -> Result<(), Error> {
    let is_same = is_same_path(from, to);
    let named = match is_same {
        // The name that is there is found to be taken, be it a directory's.
        true => give_name(root, without_slash(from), without_slash(to), false),
        false => give_name(root, from, to, overwrite),
    };
    match named {
        Err(ErrorCode::Exist) if is_same => Err(itself(from).into()),
        Err(ErrorCode::Exist) if !overwrite => Err(exists(to).into()),
        Err(ErrorCode::NotDirectory) if to.ends_with('/') && !from.ends_with('/') => {
            Err(ends_like_a_directory(from, to).into())
        }
        answer => Ok(answer?),
    }
}

/// A file takes no name that ends with a slash; most who give one mean a name inside.
fn ends_like_a_directory(from: &str, to: &str) -> Failure {
    let name = from.rsplit('/').next().unwrap_or(from);
    Failure::new(
        "not-a-directory",
        format!("`{to}` ends like a directory, and `{from}` is none, or something on the way"),
    )
    .hint(format!(
        "give the whole new path of a file, such as `{to}{name}`"
    ))
}

fn without_slash(path: &str) -> &str {
    path.trim_end_matches('/')
}

fn give_name(root: &Descriptor, from: &str, to: &str, overwrite: bool) -> Result<(), ErrorCode> {
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
    format!("{}/", without_slash(path))
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
/// `exists`, `not-a-file` for a directory, `invalid-arguments` for a copy of a file onto itself;
/// else the host's.
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
    let is_itself = |found: &Found<Descriptor>| {
        let directory = roots.get(&found.root);
        is_same_path(from, to) && directory.is_some_and(|it| it.is_same_object(root))
    };
    let target = match create_new(root, to) {
        Err(ErrorCode::Exist) if found.as_ref().is_ok_and(is_itself) => {
            return Err(itself(from).into());
        }
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

fn itself(path: &str) -> Failure {
    Failure::invalid_arguments(format!("`from` and `to` are both `{path}`"))
        .hint("give another path as `to`; nothing was changed")
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
    fn a_path_is_not_moved_to_itself() {
        assert_eq!(itself("a").code, "invalid-arguments");
        assert!(itself("a").hint.contains("another path"));
    }

    #[test]
    fn a_directory_is_not_copied() {
        assert_eq!(directory("a").code, "not-a-file");
        assert!(directory("a").hint.contains("one by one"));
    }
}
