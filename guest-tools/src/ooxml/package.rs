//! A package: parts by name, found as OPC finds them, within a budget of inflated bytes.

use super::relationships::{Relationships, relationships_part};
use super::xml::is_same;
use super::zip::{self, Entry, Inflater};
use super::{Error, check, encoding, sniff};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::io::{BufRead, Seek};

/// Bytes that one call may inflate, of all parts together. A slide has some ten kilobytes; a
/// zip stream can hold a thousand times its own size.
const MAX_INFLATED: u64 = 64 * 1024 * 1024;

/// How many times its compressed size a large part may have. Sheets of repeated cells reach a
/// hundred; a zip stream of one byte over and over a thousand.
const MAX_RATIO: u64 = 250;
/// A part up to this size is never too much.
const SMALL: u64 = 4 * 1024 * 1024;

/// Tags that one call may look at, of all parts together but sheets, opening and closing.
const MAX_TAGS: u64 = 6_000_000;
/// How often one part may be read: slides may share one, and a hundred thousand links as well.
const MAX_READINGS: u32 = 64;

/// Entries up to this many are looked through one by one; there is an index of more.
const FEW: usize = 256;

/// An open package.
pub(super) struct Package<R> {
    reader: R,
    inflater: Inflater,
    entries: Vec<Entry>,
    /// Made when one of many is looked for.
    by_name: OnceCell<HashMap<String, usize>>,
    /// Whether no name has what is folded but its case, once that matters.
    are_plain: OnceCell<bool>,
    /// Made when a name is not found. Keys are folded: part names that differ in case or escapes
    /// are one (ECMA-376 part 2, 6.2.2).
    by_folded_name: OnceCell<HashMap<String, usize>>,
    inflated: u64,
    tags: u64,
    /// How often each entry has been read.
    readings: Vec<u32>,
}

impl<R: BufRead + Seek> Package<R> {
    /// Opens a package.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a known format that is none; [`Error::Malformed`] for
    /// anything else that is not a zip archive.
    pub(super) fn open(mut reader: R) -> Result<Self, Error> {
        sniff::refuse_other_formats(&mut reader)?;
        let entries = zip::entries(&mut reader)?;
        let mut package = Self {
            reader,
            inflater: Inflater::new(),
            by_name: OnceCell::new(),
            are_plain: OnceCell::new(),
            by_folded_name: OnceCell::new(),
            readings: vec![0; entries.len()],
            entries,
            inflated: 0,
            tags: 0,
        };
        if let Some(media_type) = package.declared_media_type()? {
            return Err(sniff::other_package(&media_type));
        }
        Ok(package)
    }

    /// The text of a part.
    pub(super) fn part(&mut self, name: &str) -> Result<String, Error> {
        let bytes = self.bytes(name)?;
        self.count_tags(&bytes)?;
        encoding::decode(bytes).map_err(|problem| Error::in_part(name, problem))
    }

    /// The text of a sheet, of which most is passed over where a part of it is asked for: what
    /// is looked at counts instead of its tags.
    pub(super) fn sheet(&mut self, name: &str) -> Result<String, Error> {
        let bytes = self.bytes(name)?;
        encoding::decode(bytes).map_err(|problem| Error::in_part(name, problem))
    }

    /// What a part begins with, up to the end of a tag, where it has more than so many bytes,
    /// which are less than [`SMALL`]; else nothing. What follows is not looked at.
    pub(super) fn beginning(&mut self, name: &str, most: u64) -> Result<Option<String>, Error> {
        let index = self.index_of(name)?;
        if self.entries[index].size <= most {
            return Ok(None);
        }
        self.count_reading(index)?;
        let left = MAX_INFLATED - self.inflated;
        let (length, content) = self.read(index, left.min(most));
        check("inflated bytes", MAX_INFLATED, self.inflated + length)?;
        self.inflated += length;
        // What is wrong shows when all of it is read.
        let Some(mut bytes) = content.ok().filter(|_| length > most) else {
            return Ok(None);
        };
        bytes.truncate(memchr::memrchr(b'>', &bytes).map_or(0, |end| end + 1));
        self.count_tags(&bytes)?;
        Ok(encoding::decode(bytes).ok())
    }

    fn bytes(&mut self, name: &str) -> Result<Vec<u8>, Error> {
        let index = self.index_of(name)?;
        self.count_reading(index)?;
        self.inflate(index)
    }

    fn index_of(&self, name: &str) -> Result<usize, Error> {
        let index = self.find(name);
        index.ok_or_else(|| Error::in_part(name, "it is missing"))
    }

    fn count_reading(&mut self, index: usize) -> Result<(), Error> {
        self.readings[index] += 1;
        let readings = self.readings[index];
        check("readings of one part", MAX_READINGS.into(), readings.into())
    }

    fn count_tags(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.tags += memchr::memchr_iter(b'<', bytes).count() as u64;
        check("XML tags", MAX_TAGS, self.tags)
    }

    /// The relationships of a part, or of the package itself for an empty name. A part need
    /// not have any.
    pub(super) fn relationships(&mut self, name: &str) -> Result<Relationships, Error> {
        let part = relationships_part(name);
        if self.find(&part).is_none() {
            return Ok(Relationships::default());
        }
        Relationships::parse(name, &part, &self.part(&part)?)
    }

    /// The name of the main part.
    pub(super) fn main_part(&mut self) -> Result<String, Error> {
        let relationships = self.relationships("")?;
        let main = relationships.first_of_kind("officeDocument");
        let main = main.ok_or_else(|| {
            let problem = "no main part is named in `_rels/.rels`, so it is not an Office document";
            Error::malformed("the file", problem)
        })?;
        sniff::binary_main_part(main).map_or_else(|| Ok(main.to_owned()), Err)
    }

    /// Name and text of the part that the first relationship of a kind leads to.
    pub(super) fn first_linked(
        &mut self,
        links: &Relationships,
        kind: &str,
    ) -> Result<Option<(String, String)>, Error> {
        let Some(part) = links.first_of_kind(kind) else {
            return Ok(None);
        };
        let text = self.part(part)?;
        Ok(Some((part.to_owned(), text)))
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.find_exact(name).or_else(|| self.find_folded(name))
    }

    /// Of two entries with one name the later counts, as it does for most readers.
    fn find_exact(&self, name: &str) -> Option<usize> {
        let mut entries = self.entries.iter();
        if entries.len() <= FEW {
            return entries.rposition(|entry| is_same(&entry.name, name));
        }
        let index = self.by_name.get_or_init(|| {
            let names = entries.map(|entry| entry.name.clone());
            names.zip(0..).collect()
        });
        index.get(name).copied()
    }

    /// Most of what is looked for so is not there: few parts have relationships.
    fn find_folded(&self, name: &str) -> Option<usize> {
        let mut entries = self.entries.iter();
        let are_plain = || {
            let names = &mut self.entries.iter().map(|entry| &entry.name);
            *self
                .are_plain
                .get_or_init(|| names.all(|name| is_plain(name)))
        };
        if entries.len() <= FEW && is_plain(name) && are_plain() {
            return entries.position(|entry| entry.name.eq_ignore_ascii_case(name));
        }
        self.folded().get(&fold(name)).copied()
    }

    fn folded(&self) -> &HashMap<String, usize> {
        self.by_folded_name.get_or_init(|| {
            let mut names = HashMap::new();
            for (index, entry) in self.entries.iter().enumerate() {
                names.entry(fold(&entry.name)).or_insert(index);
            }
            names
        })
    }

    fn inflate(&mut self, index: usize) -> Result<Vec<u8>, Error> {
        let compressed = self.entries[index].compressed;
        let ratio_limit = compressed.saturating_mul(MAX_RATIO).max(SMALL);
        let left = MAX_INFLATED - self.inflated;
        let (length, content) = self.read(index, left.min(ratio_limit));
        check("inflated bytes", MAX_INFLATED, self.inflated + length)?;
        if length > ratio_limit {
            let actual = length.div_ceil(compressed.max(1));
            check("inflation ratio", MAX_RATIO, actual)?;
        }
        self.inflated += length;
        content
    }

    /// How much comes out of an entry, up to one byte over the limit, and what that is; nothing
    /// beyond the limit.
    fn read(&mut self, index: usize, limit: u64) -> (u64, Result<Vec<u8>, Error>) {
        // What says that it is large mostly is, and need not be read to find that out.
        if self.entries[index].size > SMALL
            && limit > SMALL
            && let Ok(length) = self.count(index, limit)
            && length > SMALL
        {
            return self.read_large(index, limit, length);
        }
        let (length, content) = self.read_up_to(index, limit.min(SMALL), Vec::new());
        if content.is_err() || length <= SMALL || limit <= SMALL {
            return (length, content);
        }
        drop(content);
        match self.count(index, limit) {
            Err(error) => (length, Err(error)),
            Ok(length) => self.read_large(index, limit, length),
        }
    }

    /// The same of an entry whose length has been counted, up to one byte over the limit.
    ///
    /// What is large is counted before there is room for it, so that a bomb takes none; then room
    /// is made once, since growing takes room for two.
    fn read_large(
        &mut self,
        index: usize,
        limit: u64,
        length: u64,
    ) -> (u64, Result<Vec<u8>, Error>) {
        if length > limit {
            return (length, Ok(Vec::new()));
        }
        let bytes = Vec::with_capacity(length as usize + 1 + zip::SLACK);
        (length, self.read_up_to(index, length, bytes).1)
    }

    fn count(&mut self, index: usize, limit: u64) -> Result<u64, Error> {
        let entry = &self.entries[index];
        zip::count(&mut self.reader, &mut self.inflater, entry, limit)
    }

    fn read_up_to(
        &mut self,
        index: usize,
        limit: u64,
        mut bytes: Vec<u8>,
    ) -> (u64, Result<Vec<u8>, Error>) {
        let (reader, inflater) = (&mut self.reader, &mut self.inflater);
        let result = zip::read(reader, inflater, &self.entries[index], limit, &mut bytes);
        (bytes.len() as u64, result.map(|()| bytes))
    }

    /// What OpenDocument and EPUB put into an entry of this name.
    fn declared_media_type(&mut self) -> Result<Option<String>, Error> {
        match self.find_exact("mimetype") {
            Some(index) => {
                let bytes = self.inflate(index)?;
                Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
            }
            None => Ok(None),
        }
    }
}

/// Whether folding a name changes nothing but its case.
fn is_plain(name: &str) -> bool {
    !name.starts_with('/') && memchr::memchr2(b'%', b'\\', name.as_bytes()).is_none()
}

/// A name as OPC compares it: ASCII case and percent escapes make no difference. Some
/// exporters write backslashes or a leading slash.
fn fold(name: &str) -> String {
    let name = name.replace('\\', "/");
    let name = name.trim_start_matches('/');
    percent_decoded(name).to_ascii_lowercase()
}

fn percent_decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        match escape(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn escape(bytes: &[u8]) -> Option<u8> {
    let digits = bytes.strip_prefix(b"%")?.get(..2)?;
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = digit(digits[0])? * 16 + digit(digits[1])?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ooxml::zip::tests::archive;
    use std::io::Cursor;

    fn open(bytes: &[u8]) -> Result<Package<Cursor<&[u8]>>, Error> {
        Package::open(Cursor::new(bytes))
    }

    #[test]
    fn names_are_compared_as_opc_compares_them() {
        for name in ["ppt/A b.xml", "PPT\\a%20B.XML", "/ppt/a b.xml"] {
            assert_eq!(fold(name), "ppt/a b.xml");
        }
        assert_eq!(fold("a%2"), "a%2");
        assert_eq!(fold("%zz"), "%zz");
    }

    #[test]
    fn names_are_found_alike_among_few_and_many() {
        let many: Vec<_> = (0..FEW).map(|number| format!("more/{number}")).collect();
        for count in [0, FEW] {
            for (names, wanted, found) in [
                (&["a", "b", "a"][..], "a", Some(2)),
                (&["A", "a"], "a", Some(1)),
                (&["B", "A", "A"], "a", Some(1)),
                (&["/a", "b"], "a", Some(0)),
                (&["x\\a", "b"], "X/A", Some(0)),
                (&["%61", "b"], "a", Some(0)),
                (&["a", "b"], "%61", Some(0)),
                (&["a", "b"], "/B", Some(1)),
                (&["a", "b"], "c", None),
            ] {
                let names = names.iter().copied();
                let names = names.chain(many[..count].iter().map(String::as_str));
                let bytes = archive(&names.map(|name| (name, "")).collect::<Vec<_>>());
                let package = open(&bytes).unwrap();
                assert_eq!(package.find(wanted), found, "{wanted} among {count}");
            }
        }
    }

    #[test]
    fn an_exact_name_goes_before_one_in_another_case() {
        let twins = include_bytes!("../../tests/corpus/hostile_office/case_twin_slide.pptx");
        let mut package = open(twins).unwrap();
        let slide = package.part("ppt/slides/slide1.xml").unwrap();
        assert!(slide.contains("Safe text"));
    }

    #[test]
    fn a_missing_part_is_named() {
        let mut package = open(include_bytes!(
            "../../tests/corpus/hostile_office/case_twin_slide.pptx"
        ))
        .unwrap();
        let missing = package.part("ppt/none.xml");
        assert_eq!(
            missing,
            Err(Error::malformed("`ppt/none.xml`", "it is missing"))
        );
    }

    #[test]
    fn a_damaged_part_counts_as_well() {
        let mut bytes = archive(&[("a", "text")]);
        let content = bytes.windows(4).position(|window| window == b"text");
        bytes[content.unwrap()] = b'T';
        let mut package = open(&bytes).unwrap();
        assert!(package.part("a").is_err());
        assert_eq!(package.inflated, 4);
    }

    #[test]
    fn a_large_part_is_read_whole_and_counted_once() {
        let content = "x".repeat(SMALL as usize + 7);
        let bytes = archive(&[("a", &content)]);
        let mut package = open(&bytes).unwrap();
        assert_eq!(package.part("a").unwrap().len(), content.len());
        assert_eq!(package.inflated, SMALL + 7);
    }

    #[test]
    fn a_part_that_only_says_it_is_large_is_refused_alike() {
        let bytes = archive(&[("a", "text")]);
        let mut package = open(&bytes).unwrap();
        package.entries[0].size = SMALL + 1;
        let problem = format!("it declares {} bytes and holds 4", SMALL + 1);
        assert_eq!(package.part("a"), Err(Error::in_part("a", problem)));
        assert_eq!(package.inflated, 4);
    }

    #[test]
    fn what_is_no_archive_is_malformed() {
        for bytes in [&b""[..], b"PK", b"just text", &[0; 100]] {
            assert!(matches!(open(bytes).err(), Some(Error::Malformed { .. })));
        }
    }
}
