//! `list_files`: the entries of one directory, or of the tree below it.

use super::shared::{LIMIT, MOST, Walking};
use crate::files::{
    Descriptor, DescriptorType, DirectoryEntry, ErrorCode, Found, Kind, PathFlags, Roots, modified,
    open_directory, shown,
};
use crate::rows::Rows;
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Tool, Within};
use crate::walk::{Cursor, Options, Place, Position, Skipped, Start, Walk};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// The tool.
pub(crate) struct ListFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    #[schemars(extend("default" = "."))]
    path: Option<String>,
    recursive: Option<bool>,
    #[schemars(extend("default" = true))]
    details: Option<bool>,
    limit: Option<Within<1, MOST>>,
    #[serde(flatten)]
    walking: Walking,
}

/// A listing: written row by row, and here for its schema.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    root: String,
    entries: Vec<Entry<'static>>,
    count: u64,
    truncated: bool,
    next_cursor: Option<String>,
    /// By ignore files; of trees only
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored: Option<u64>,
    /// What else was left out, by reason
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<Skipped>,
}

impl Tool for ListFiles {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "list_files";
    const ALIASES: &'static [&'static str] = &["list_dir"];
    const TITLE: &'static str = "List a directory";
    const DESCRIPTION: &'static str = "Lists a directory in order of names: name, type, size, \
        time of modification. `recursive`: all below it, without hidden names and what ignore \
        files leave out (counted in `ignored`). Links are not followed. Names with `usable: \
        false` cannot be opened.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
    const EXAMPLE: &'static str = r#"{"path":"docs","details":false}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let path = arguments.path.as_deref().unwrap_or(".");
        let roots = Roots::preopened().only(arguments.walking.root.as_deref())?;
        let page = Page::of(&arguments)?;
        let found = roots.look_up(|root| open_directory(root, path));
        let found = found.map_err(|miss| miss.of_directory(path))?;
        let listing = Listing::of(path, &found.root);
        match page.walks {
            false => flat(&found.object, &page, listing),
            true => deep(found, path, &roots, &page, listing),
        }
    }
}

/// Which entries are wanted.
struct Page {
    /// Whether the walk through a tree is needed, be it of one level.
    walks: bool,
    details: bool,
    options: Options,
    limit: u64,
    position: Position,
}

impl Page {
    fn of(arguments: &Arguments) -> Result<Self, Failure> {
        // Who names a depth means the tree.
        let walking = &arguments.walking;
        let recursive = arguments.recursive == Some(true) || walking.depth.is_some();
        let options = walking.options(!recursive, recursive);
        let limit = match recursive {
            true => LIMIT,
            // The host's own limit ends the listing.
            false => u64::MAX,
        };
        let walks = recursive || options.gitignore;
        Ok(Self {
            walks,
            details: arguments.details.unwrap_or(true),
            options: Options {
                depth: if recursive { options.depth } else { 1 },
                ..options
            },
            limit: arguments.limit.map_or(limit, Into::into),
            position: Cursor::parsed_of_one(walking.cursor.as_deref(), walks)?,
        })
    }
}

/// Lists one directory.
fn flat(directory: &Descriptor, page: &Page, listing: Listing) -> Result<Output<Fields>, Error> {
    let stream = directory.read_directory()?;
    let listing = list(
        listing,
        page,
        || stream.read_directory_entry(),
        |name| page.details.then(|| stat(directory, name)).flatten(),
    )?;
    Ok(listing.finish(None))
}

/// Lists a tree.
fn deep(
    found: Found<Descriptor>,
    path: &str,
    roots: &Roots,
    page: &Page,
    mut listing: Listing,
) -> Result<Output<Fields>, Error> {
    let mut skipped = Skipped::default();
    let start = Start::at(found, path, roots, page.options.gitignore);
    let place = Place::Behind(&page.position);
    let mut walk = Walk::begin(start, page.options, place, &mut skipped)?;
    let ended = walk.run(&mut skipped, |visit, _| {
        if listing.rows.count() == page.limit || listing.rows.fill_a_page() {
            return ControlFlow::Break(());
        }
        let look = page.details && visit.usable;
        let details = look.then(|| stat(visit.folder, visit.name)).flatten();
        listing.push(visit.below, visit.kind, visit.usable, details);
        ControlFlow::Continue(())
    });
    listing.cursor = ended.break_value();
    Ok(listing.finish(Some(&skipped)))
}

/// An entry that vanished or may not be looked at keeps its name and type.
fn stat(directory: &Descriptor, name: &str) -> Option<Details> {
    let stat = directory.stat_at(PathFlags::empty(), name).ok()?;
    Some(Details {
        size: stat.size,
        modified: modified(stat.data_modification_timestamp),
    })
}

/// An entry as the result shows it.
#[derive(Serialize, JsonSchema)]
struct Entry<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    #[serde(skip_serializing_if = "Clone::clone")]
    usable: bool,
}

/// What a look at an entry adds.
struct Details {
    size: u64,
    modified: Option<String>,
}

/// A listing, and where it was cut short.
struct Listing {
    rows: Rows,
    cursor: Option<Position>,
}

/// Collects entries until the host has no more, or the page is full. The host ends each of
/// its own pages with `quota`, and goes on when it is asked again.
fn list(
    mut listing: Listing,
    page: &Page,
    mut next: impl FnMut() -> Result<Option<DirectoryEntry>, ErrorCode>,
    mut stat: impl FnMut(&str) -> Option<Details>,
) -> Result<Listing, ErrorCode> {
    let mut passing = Passing::behind(&page.position);
    let mut position = page.position.clone();
    let mut came = 0_u64;
    loop {
        let answer = passing.next(|| {
            let answer = next()?;
            came += 1;
            Ok(answer)
        });
        let entry = match answer {
            Ok(Some(entry)) => entry,
            Ok(None) => return Ok(listing),
            Err(ErrorCode::Quota) if listing.rows.count() > 0 => {
                listing.cursor = Some(position);
                return Ok(listing);
            }
            Err(ErrorCode::Quota) if came > 0 => {
                came = 0;
                continue;
            }
            Err(code) => return Err(code),
        };
        let (name, usable) = shown(&entry.name);
        if page.options.hidden || !name.starts_with('.') {
            if listing.rows.count() == page.limit {
                listing.cursor = Some(position);
                return Ok(listing);
            }
            let details = if usable { stat(name) } else { None };
            listing.push(name, entry.type_, usable, details);
        }
        match usable {
            true => (position.path, position.unusable) = (entry.name, 0),
            false => position.unusable += 1,
        }
    }
}

/// Passes over the entries before a position.
struct Passing<'a> {
    until: &'a Position,
    arrived: bool,
    /// Entries that may stand behind the position, which the next usable one will tell.
    held: VecDeque<DirectoryEntry>,
}

impl<'a> Passing<'a> {
    fn behind(until: &'a Position) -> Self {
        Self {
            until,
            arrived: *until == Position::default(),
            held: VecDeque::new(),
        }
    }

    /// The next entry behind the position.
    fn next(
        &mut self,
        mut next: impl FnMut() -> Result<Option<DirectoryEntry>, ErrorCode>,
    ) -> Result<Option<DirectoryEntry>, ErrorCode> {
        while !self.arrived {
            let entry = next()?;
            let usable = entry.as_ref().is_some_and(|entry| shown(&entry.name).1);
            match entry {
                Some(entry) if usable && entry.name <= self.until.path => self.held.clear(),
                Some(entry) if !usable => self.held.push_back(entry),
                last => {
                    self.arrived = true;
                    self.held.drain(..self.until.unusable.min(self.held.len()));
                    self.held.extend(last);
                }
            }
        }
        match self.held.pop_front() {
            None => next(),
            held => Ok(held),
        }
    }
}

impl Listing {
    fn of(path: &str, root: &str) -> Self {
        Self {
            rows: Rows::new(&[("path", path), ("root", root)], "entries"),
            cursor: None,
        }
    }

    fn push(&mut self, name: &str, type_: DescriptorType, usable: bool, details: Option<Details>) {
        self.rows.push(&Entry {
            name,
            kind: type_.into(),
            size: details.as_ref().map(|details| details.size),
            modified: details.and_then(|details| details.modified),
            usable,
        });
    }

    /// `skipped` is what the walk through a tree left out.
    fn finish(self, skipped: Option<&Skipped>) -> Output<Fields> {
        let cursor = self.cursor;
        let cursor = cursor.map(|position| Cursor::of_one(skipped.is_some(), position));
        let mut tail = json!({
            "count": self.rows.count(),
            "truncated": cursor.is_some(),
            "next_cursor": cursor.map(|cursor| cursor.to_string()),
        });
        if let Some(skipped) = skipped {
            tail["ignored"] = skipped.ignored.into();
            tail["skipped"] = json!(skipped);
        }
        self.rows.finish(&tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::DescriptorType;
    use serde_json::Value;

    fn entry(name: &str, type_: DescriptorType) -> DirectoryEntry {
        let name = name.to_owned();
        DirectoryEntry { type_, name }
    }

    fn fields_of(listing: Listing) -> Value {
        serde_json::from_str(&listing.finish(None).into_parts().0).unwrap()
    }

    fn page(cursor: Value) -> Page {
        let arguments = json!({ "cursor": cursor });
        Page::of(&serde_json::from_value(arguments).unwrap()).unwrap()
    }

    fn listed(
        answers: Vec<Result<Option<DirectoryEntry>, ErrorCode>>,
        stat: impl FnMut(&str) -> Option<Details>,
    ) -> Value {
        let mut answers = answers.into_iter();
        let listing = Listing::of("d\"x", "/read/0");
        let page = page(Value::Null);
        let listing = list(listing, &page, || answers.next().unwrap(), stat).unwrap();
        fields_of(listing)
    }

    #[test]
    fn entries_carry_what_was_found() {
        let fields = listed(
            vec![
                Ok(Some(entry("a \"b\".txt", DescriptorType::RegularFile))),
                Ok(Some(entry("gone", DescriptorType::Fifo))),
                Ok(None),
            ],
            |name| {
                (name != "gone").then(|| Details {
                    size: 3,
                    modified: Some("1970-01-01T00:00:00Z".to_owned()),
                })
            },
        );
        assert_eq!(
            fields,
            json!({
                "path": "d\"x", "root": "/read/0",
                "entries": [
                    { "name": "a \"b\".txt", "type": "file", "size": 3, "modified": "1970-01-01T00:00:00Z" },
                    { "name": "gone", "type": "other" },
                ],
                "count": 2, "truncated": false, "next_cursor": null,
            })
        );
    }

    #[test]
    fn unusable_names_are_shown_and_never_looked_at() {
        let answers = vec![
            Ok(Some(entry("\0a\\xff", DescriptorType::RegularFile))),
            Ok(None),
        ];
        let fields = listed(answers, |name| panic!("`{name}` was looked at"));
        let shown = json!([{ "name": "a\\xff", "type": "file", "usable": false }]);
        assert_eq!(fields["entries"], shown);
    }

    #[test]
    fn a_quota_after_some_entries_truncates() {
        let answers = vec![
            Ok(Some(entry("a", DescriptorType::Directory))),
            Ok(Some(entry("b", DescriptorType::SymbolicLink))),
            Err(ErrorCode::Quota),
        ];
        let fields = listed(answers, |_| None);
        assert_eq!(fields["truncated"], true);
        assert_eq!(fields["next_cursor"], "0:0:b");
        assert_eq!(fields["count"], 2);
    }

    #[test]
    fn a_quota_at_once_and_other_errors_are_the_hosts() {
        for code in [ErrorCode::Quota, ErrorCode::Io] {
            let listing = Listing::of(".", "/read/0");
            let page = page(Value::Null);
            assert_eq!(
                list(listing, &page, || Err(code), |_| None).err(),
                Some(code)
            );
        }
    }

    /// A host that ends a page after every `page` entries.
    fn host(
        names: &[&str],
        page: usize,
    ) -> impl FnMut() -> Result<Option<DirectoryEntry>, ErrorCode> {
        let entries: Vec<_> = names
            .iter()
            .map(|name| entry(name, DescriptorType::RegularFile))
            .collect();
        let (mut next, mut allowed) = (0, page);
        move || {
            if next < entries.len() && next == allowed {
                allowed += page;
                return Err(ErrorCode::Quota);
            }
            next += 1;
            Ok(entries.get(next - 1).cloned())
        }
    }

    #[test]
    fn pages_put_together_are_the_whole() {
        let names = [
            "\0\\x01", "\0\\x02", "a", "b", "c", "\0\\xf0", "\0\\xf1", "\0\\xf2", "d", "\0\\xff",
        ];
        let whole: Vec<_> = names.iter().map(|name| shown(name).0).collect();
        for limit in 1..=names.len() as u64 + 1 {
            for host_page in [1, 2, 3, 100] {
                let (mut seen, mut cursor) = (Vec::new(), Value::Null);
                loop {
                    let mut page = page(cursor);
                    page.limit = limit;
                    let listing = Listing::of(".", "/read/0");
                    let listing = list(listing, &page, host(&names, host_page), |_| None).unwrap();
                    let fields: Value = fields_of(listing);
                    let entries = fields["entries"].as_array().unwrap().clone();
                    assert!(!entries.is_empty());
                    seen.extend(entries);
                    cursor = fields["next_cursor"].clone();
                    assert_eq!(fields["truncated"], !cursor.is_null());
                    if cursor.is_null() {
                        break;
                    }
                }
                let seen: Vec<_> = seen.iter().map(|entry| entry["name"].as_str()).collect();
                let whole: Vec<_> = whole.iter().map(|name| Some(*name)).collect();
                assert_eq!(seen, whole, "{limit} {host_page}");
            }
        }
    }

    #[test]
    fn a_cursor_outlives_its_name() {
        let page = page(json!("0:0:b"));
        let listing = Listing::of(".", "/read/0");
        let listing = list(listing, &page, host(&["a", "bb", "c"], 9), |_| None).unwrap();
        let fields: Value = fields_of(listing);
        assert_eq!(fields["entries"][0]["name"], "bb");
        assert_eq!(fields["count"], 2);
    }

    #[test]
    fn an_empty_directory_has_no_entries() {
        let fields = listed(vec![Ok(None)], |_| None);
        assert_eq!(fields["entries"], json!([]));
        assert_eq!(fields["count"], 0);
    }
}
