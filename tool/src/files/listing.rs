//! The entries of one directory.

use super::{DescriptorType, Kind, Roots, open_directory, shown};
use crate::Error;

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name as it is shown.
    pub name: String,
    /// What it is; links are not followed.
    pub kind: Kind,
    /// Whether the name can be used in a path. Names that are no UTF-8, or that could deceive
    /// a reader, are shown with escapes and cannot be opened.
    pub usable: bool,
}

/// The entries of a directory in the first read root that has it, in the order of their names;
/// `.` is the root itself.
///
/// # Errors
/// `not-granted` without a read root; `not-a-directory`; else the host's.
///
/// # Limits
/// The host hands out so many entries in one listing, by default 10,000, and refuses more.
pub fn list(path: &str) -> Result<Vec<Entry>, Error> {
    let found = Roots::preopened().look_up(|root| open_directory(root, path));
    let found = found.map_err(|miss| miss.of_directory(path))?;
    let stream = found.object.read_directory()?;
    let mut entries = Vec::new();
    while let Some(entry) = stream.read_directory_entry()? {
        entries.push(Entry::of(&entry.name, entry.type_));
    }
    // Rootbound's host sorts them; others do not.
    entries.sort_by(|one: &Entry, other| one.name.cmp(&other.name));
    Ok(entries)
}

impl Entry {
    fn of(name: &str, kind: DescriptorType) -> Self {
        let (name, usable) = shown(name);
        let name = name.to_owned();
        let kind = kind.into();
        Self { name, kind, usable }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_path_can_carry_are_marked() {
        let entry = Entry::of("\0a\\xff", DescriptorType::RegularFile);
        assert_eq!((&*entry.name, entry.usable), ("a\\xff", false));
        assert!(Entry::of("a", DescriptorType::Directory).usable);
    }
}
