//! Where a log goes on whose file was put aside.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator names the file to be read, and others stand beside it"
)]

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file that follows the one which is read, when that does not have the log's name any more:
/// the next that was put aside since, or the one that is written now.
pub(super) fn successor(log: &Path, current: &File) -> io::Result<Option<File>> {
    let current = current.metadata()?;
    match fs::symlink_metadata(log) {
        Ok(named) if is_same(&named, &current) || !named.is_file() => return Ok(None),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let aside = put_aside(log)?;
    let is_current = |path: &&PathBuf| {
        let metadata = fs::symlink_metadata(path);
        metadata.is_ok_and(|metadata| is_same(&metadata, &current))
    };
    let at = aside.iter().position(|path| is_current(&path));
    let next = at.and_then(|at| aside.get(at + 1));
    File::open(next.map_or(log, PathBuf::as_path)).map(Some)
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// The files of a log that were put aside, the oldest first.
fn put_aside(log: &Path) -> io::Result<Vec<PathBuf>> {
    let directory = log.parent().filter(|parent| *parent != Path::new(""));
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    let mut found = Vec::new();
    for entry in fs::read_dir(directory.unwrap_or(Path::new(".")))? {
        let entry = entry?;
        let other = entry.file_name().to_string_lossy().into_owned();
        let number = other
            .strip_prefix(&*name)
            .and_then(|rest| rest.strip_prefix('.'));
        if let Some(number) = number.and_then(|digits| digits.parse::<u64>().ok()) {
            found.push((number, entry.path()));
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
