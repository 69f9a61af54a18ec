//! Writing below the write root.
//!
//! Nothing is taken back here when a step fails: the host discards what a failed call did.

use super::{Descriptor, DescriptorFlags, ErrorCode, OpenFlags, PathFlags};

/// Written at once: less than what a host may copy in one crossing at its strictest, so that
/// the limit on what is written answers, and not the one on copying.
const BLOCK: usize = 512 * 1024;

/// Opens a file that does not exist yet, and makes the directories it stands in.
///
/// # Errors
/// `exist` when the name is taken; else the host's.
pub fn create_new(root: &Descriptor, path: &str) -> Result<Descriptor, ErrorCode> {
    let open = || {
        let flags = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
        root.open_at(PathFlags::empty(), path, flags, DescriptorFlags::WRITE)
    };
    with_parents(path, open, |parent| root.create_directory_at(parent))
}

/// Opens a file to be replaced. Whether it may be is the host's decision.
///
/// # Errors
/// The host's.
pub fn replace_existing(root: &Descriptor, path: &str) -> Result<Descriptor, ErrorCode> {
    let flags = OpenFlags::CREATE | OpenFlags::TRUNCATE;
    root.open_at(PathFlags::empty(), path, flags, DescriptorFlags::WRITE)
}

/// Writes a file, and makes the directories it stands in. True when it is new; one that exists
/// is replaced only with `overwrite`, and where the host allows it.
///
/// # Errors
/// `exist` when the name is taken and not to be replaced; else the host's.
pub fn put(
    root: &Descriptor,
    path: &str,
    content: &[u8],
    overwrite: bool,
) -> Result<bool, ErrorCode> {
    let (file, created) = match create_new(root, path) {
        Err(ErrorCode::Exist) if overwrite => (replace_existing(root, path)?, false),
        file => (file?, true),
    };
    write_all(&file, content)?;
    Ok(created)
}

/// Makes a directory and the directories it stands in.
///
/// # Errors
/// `exist` when the name is taken; else the host's.
pub fn create_directory(root: &Descriptor, path: &str) -> Result<(), ErrorCode> {
    let create = || root.create_directory_at(path);
    with_parents(path, create, |parent| root.create_directory_at(parent))
}

/// Writes all of the content, from the start of the file.
///
/// # Errors
/// The host's.
pub fn write_all(file: &Descriptor, content: &[u8]) -> Result<(), ErrorCode> {
    write_from(file, content, 0)
}

/// Writes all of the content at an offset.
///
/// # Errors
/// The host's.
pub(super) fn write_from(file: &Descriptor, content: &[u8], offset: u64) -> Result<(), ErrorCode> {
    let mut written = 0;
    while written < content.len() {
        let block = &content[written..content.len().min(written + BLOCK)];
        match file.write(block, offset + written as u64)? {
            0 => return Err(ErrorCode::Io),
            count => written += count as usize,
        }
    }
    Ok(())
}

/// Tries once, and once more after making the parents if there was `no-entry`.
pub(super) fn with_parents<T>(
    path: &str,
    attempt: impl Fn() -> Result<T, ErrorCode>,
    mut create: impl FnMut(&str) -> Result<(), ErrorCode>,
) -> Result<T, ErrorCode> {
    match attempt() {
        Err(ErrorCode::NoEntry) => {}
        answer => return answer,
    }
    for parent in parents(path) {
        match create(parent) {
            Ok(()) | Err(ErrorCode::Exist) => {}
            Err(code) => return Err(code),
        }
    }
    attempt()
}

/// The prefixes of a path that name directories to be made, outermost first.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    let path = path.trim_end_matches('/');
    let prefixes = path.match_indices('/').map(|(end, _)| &path[..end]);
    prefixes.filter(|prefix| !matches!(last_component(prefix), "" | "." | ".."))
}

fn last_component(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    fn parents_of(path: &str) -> Vec<&str> {
        parents(path).collect()
    }

    #[test]
    fn parents_are_the_prefixes_of_the_path_as_given() {
        assert_eq!(parents_of("a.txt"), [""; 0]);
        assert_eq!(parents_of("a/b/c.txt"), ["a", "a/b"]);
        assert_eq!(parents_of("a/b/"), ["a"]);
        assert_eq!(parents_of("./a//b/../c"), ["./a", "./a//b"]);
        assert_eq!(parents_of("/a/b"), ["/a"]);
    }

    #[test]
    fn parents_are_made_after_no_entry_only() {
        for refusal in [ErrorCode::Exist, ErrorCode::NotPermitted] {
            let answer = with_parents(
                "a/b",
                || Err::<(), _>(refusal),
                |parent| panic!("`{parent}` was made"),
            );
            assert_eq!(answer, Err(refusal));
        }
    }

    #[test]
    fn a_parent_that_exists_is_fine() {
        let made = RefCell::new(Vec::new());
        let tries = Cell::new(0);
        let attempt = || {
            tries.set(tries.get() + 1);
            if tries.get() == 1 {
                Err(ErrorCode::NoEntry)
            } else {
                Ok(())
            }
        };
        let answer = with_parents("a/b/c", attempt, |parent| {
            made.borrow_mut().push(parent.to_owned());
            if parent == "a" {
                Err(ErrorCode::Exist)
            } else {
                Ok(())
            }
        });
        assert_eq!(answer, Ok(()));
        assert_eq!(*made.borrow(), ["a", "a/b"]);
    }

    #[test]
    fn a_parent_that_is_refused_ends_it() {
        let answer = with_parents(
            "a/b/c",
            || Err::<(), _>(ErrorCode::NoEntry),
            |_| Err(ErrorCode::NotDirectory),
        );
        assert_eq!(answer, Err(ErrorCode::NotDirectory));
    }
}
