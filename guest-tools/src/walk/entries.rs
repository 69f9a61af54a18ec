//! The entries of one directory, held together: a directory's ignore file has to be known
//! before its first entry is judged, and it does not stand first.

use crate::files::{DescriptorType, DirectoryEntry, DirectoryEntryStream, ErrorCode, shown};

/// Entries in the order of their names' bytes. Rootbound's host sorts them; others do not.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    /// All names, one behind the other.
    names: String,
    entries: Vec<Held>,
}

#[derive(Debug)]
struct Held {
    /// Where the name ends; it starts where the one before ends.
    end: u32,
    kind: DescriptorType,
    usable: bool,
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: DescriptorType,
    /// Whether the name can be part of a path.
    pub(crate) usable: bool,
}

impl Entries {
    /// All entries of a listing. The host ends each page of one with `quota` and goes on
    /// when it is asked again; a page without entries is the host's last word.
    pub(crate) fn of(stream: &DirectoryEntryStream) -> Result<Self, ErrorCode> {
        Self::collect(|| stream.read_directory_entry())
    }

    fn collect(
        mut next: impl FnMut() -> Result<Option<DirectoryEntry>, ErrorCode>,
    ) -> Result<Self, ErrorCode> {
        let mut all = Self::default();
        let mut at_last_page = 0;
        loop {
            match next() {
                Ok(Some(entry)) => all.push(&entry.name, entry.type_),
                Ok(None) => return Ok(all.sorted()),
                Err(ErrorCode::Quota) if all.len() > at_last_page => at_last_page = all.len(),
                Err(code) => return Err(code),
            }
        }
    }

    /// In order, whoever listed them. Names that are not usable come from a host that sorts:
    /// nothing is known of their order but where they stand.
    fn sorted(self) -> Self {
        let names = || self.iter().filter(|entry| entry.usable);
        if names().is_sorted_by_key(|entry| entry.name) {
            return self;
        }
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_by_key(|entry| entry.name);
        let mut sorted = Self::default();
        for entry in entries {
            sorted.hold(entry.name, entry.kind, entry.usable);
        }
        sorted
    }

    pub(super) fn push(&mut self, name: &str, kind: DescriptorType) {
        let (name, usable) = shown(name);
        self.hold(name, kind, usable);
    }

    fn hold(&mut self, name: &str, kind: DescriptorType, usable: bool) {
        self.names.push_str(name);
        let end = self.names.len() as u32;
        self.entries.push(Held { end, kind, usable });
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<Entry<'_>> {
        let held = self.entries.get(index)?;
        let start = match index {
            0 => 0,
            index => self.entries[index - 1].end,
        };
        Some(Entry {
            name: &self.names[start as usize..held.end as usize],
            kind: held.kind,
            usable: held.usable,
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Whether a regular file of this name is there.
    pub(super) fn has_file(&self, name: &str) -> bool {
        // Few names start with a dot, so looking at all of them costs little.
        self.iter()
            .any(|entry| entry.name == name && entry.kind == DescriptorType::RegularFile)
    }

    /// How many entries stand up to and with the last usable one that is not behind `name`.
    /// Names that are not usable stand in an order that their display does not show.
    pub(super) fn up_to(&self, name: &str) -> usize {
        let not_behind = |entry: &Entry<'_>| entry.usable && entry.name <= name;
        let last = (0..self.len()).rfind(|index| self.get(*index).as_ref().is_some_and(not_behind));
        last.map_or(0, |index| index + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> Result<Option<DirectoryEntry>, ErrorCode> {
        Ok(Some(DirectoryEntry {
            type_: DescriptorType::RegularFile,
            name: name.to_owned(),
        }))
    }

    fn collected(
        answers: Vec<Result<Option<DirectoryEntry>, ErrorCode>>,
    ) -> Result<Vec<String>, ErrorCode> {
        let mut answers = answers.into_iter();
        let entries = Entries::collect(|| answers.next().unwrap())?;
        Ok(entries.iter().map(|entry| entry.name.to_owned()).collect())
    }

    #[test]
    fn pages_are_put_together() {
        let quota = || Err(ErrorCode::Quota);
        let answers = vec![file("a"), quota(), file("b"), quota(), Ok(None)];
        assert_eq!(collected(answers).unwrap(), ["a", "b"]);
    }

    #[test]
    fn a_host_that_does_not_sort_is_no_matter() {
        let answers = vec![file("b"), file("c"), file("a"), Ok(None)];
        assert_eq!(collected(answers).unwrap(), ["a", "b", "c"]);
    }

    #[test]
    fn a_page_without_entries_ends_the_listing() {
        let answers = vec![file("a"), Err(ErrorCode::Quota), Err(ErrorCode::Quota)];
        assert_eq!(collected(answers), Err(ErrorCode::Quota));
        assert_eq!(
            collected(vec![Err(ErrorCode::Quota)]),
            Err(ErrorCode::Quota)
        );
    }

    #[test]
    fn a_place_is_found_between_names_that_show_otherwise_than_they_sort() {
        let mut entries = Entries::default();
        for name in ["\0\\x01", "a", "c", "\0\\xff"] {
            entries.push(name, DescriptorType::RegularFile);
        }
        for (name, place) in [("", 0), ("a", 2), ("b", 2), ("c", 3), ("d", 3)] {
            assert_eq!(entries.up_to(name), place, "{name}");
        }
    }
}
