//! `list_files`: the entries of one directory.

use super::schema;
use crate::bindings::wasi::filesystem::types::{DirectoryEntry, DirectoryEntryStream};
use crate::files::{
    Descriptor, DescriptorFlags, ErrorCode, Miss, OpenFlags, PathFlags, Roots, kind, modified,
};
use crate::tool::{Content, Error, Failure, Output, PathArgument, Risk, Role, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The tool.
pub(crate) struct ListFiles;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: Option<String>,
    details: Option<bool>,
}

impl Tool for ListFiles {
    type Arguments = Arguments;

    const NAME: &'static str = "list_files";
    const TITLE: &'static str = "List a directory";
    const DESCRIPTION: &'static str = "Lists one directory (not its subdirectories) in order of \
        names: name, type, size and time of modification. Links are shown, not followed. \
        `details: false` leaves out size and time and is faster. A listing that was cut short says \
        `truncated: true`. Names marked `usable: false` cannot be opened. Refuses files \
        (`not-a-directory`).";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "path",
        role: Role::Read,
        guarded: false,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            json!({
                "path": schema::path("Directory to list, by default `.`"),
                "details": { "type": "boolean", "default": true },
            }),
            &[],
            json!({ "path": "docs", "details": false }),
        )
    }

    fn output_schema() -> Value {
        schema::fields(json!({
            "path": schema::of("string"),
            "root": schema::of("string"),
            "entries": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "name": schema::of("string"),
                    "type": { "type": "string", "enum": ["file", "directory", "symlink", "other"] },
                    "size": schema::of("integer"),
                    "modified": { "type": "string", "format": "date-time" },
                    "usable": schema::of("boolean"),
                },
                "required": ["name", "type"],
            }},
            "count": schema::of("integer"),
            "truncated": schema::of("boolean"),
            "next_cursor": { "description": "last name of a truncated listing, else null" },
        }))
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let path = arguments.path.as_deref().unwrap_or(".");
        let details = arguments.details.unwrap_or(true);
        let found = Roots::preopened().look_up(|root| open(root, path));
        let found = found.map_err(|miss| refusal(path, miss))?;
        let directory = &found.object;
        let stream = directory.read_directory()?;
        let listing = list(
            Listing::of(path, &found.root),
            || next_entry(&stream),
            |name| details.then(|| stat(directory, name)).flatten(),
        )?;
        Ok(Output {
            fields: listing.into_fields(),
            content: Content::None,
        })
    }
}

fn open(root: &Descriptor, path: &str) -> Result<Descriptor, ErrorCode> {
    let flags = DescriptorFlags::READ;
    root.open_at(PathFlags::SYMLINK_FOLLOW, path, OpenFlags::DIRECTORY, flags)
}

fn refusal(path: &str, miss: Miss) -> Error {
    match miss {
        Miss::Refused(ErrorCode::NotDirectory) => {
            Failure::new("not-a-directory", format!("`{path}` is not a directory"))
                .hint("read a file with `read_file`, or list the directory that holds it")
                .into()
        }
        miss => miss.into(),
    }
}

fn next_entry(stream: &DirectoryEntryStream) -> Result<Option<DirectoryEntry>, ErrorCode> {
    stream.read_directory_entry()
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
#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    #[serde(skip_serializing_if = "is_true")]
    usable: bool,
}

/// What a look at an entry adds.
struct Details {
    size: u64,
    modified: Option<String>,
}

fn is_true(usable: &bool) -> bool {
    *usable
}

/// A listing, written as it is made: ten thousand entries are an ordinary case.
struct Listing {
    /// The result's fields as JSON, up to the last entry.
    text: Vec<u8>,
    count: u64,
    /// Set when the host ended the listing early.
    cursor: Option<String>,
}

/// Collects entries until the host has no more, or allows no more (`quota`).
fn list(
    mut listing: Listing,
    mut next: impl FnMut() -> Result<Option<DirectoryEntry>, ErrorCode>,
    mut stat: impl FnMut(&str) -> Option<Details>,
) -> Result<Listing, ErrorCode> {
    let mut last = String::new();
    loop {
        match next() {
            Ok(Some(entry)) => {
                listing.push(&entry, &mut stat);
                last = entry.name;
            }
            Ok(None) => return Ok(listing),
            Err(ErrorCode::Quota) if listing.count > 0 => {
                listing.cursor = Some(shown(&last).0.to_owned());
                return Ok(listing);
            }
            Err(code) => return Err(code),
        }
    }
}

/// The name to show, and whether it can be used as a path.
///
/// The host marks a name that no path can carry with a leading NUL, which no real name has,
/// and escapes the rest of it for display.
fn shown(name: &str) -> (&str, bool) {
    match name.strip_prefix('\0') {
        Some(display) => (display, false),
        None => (name, true),
    }
}

impl Listing {
    fn of(path: &str, root: &str) -> Self {
        let (path, root) = (Value::from(path), Value::from(root));
        Self {
            text: format!(r#"{{"path":{path},"root":{root},"entries":["#).into_bytes(),
            count: 0,
            cursor: None,
        }
    }

    fn push(&mut self, entry: &DirectoryEntry, stat: &mut impl FnMut(&str) -> Option<Details>) {
        let (name, usable) = shown(&entry.name);
        let details = if usable { stat(name) } else { None };
        let entry = Entry {
            name,
            kind: kind(entry.type_),
            size: details.as_ref().map(|details| details.size),
            modified: details.and_then(|details| details.modified),
            usable,
        };
        if self.count > 0 {
            self.text.push(b',');
        }
        serde_json::to_writer(&mut self.text, &entry).expect("an entry has string keys only");
        self.count += 1;
    }

    fn into_fields(mut self) -> String {
        let (count, truncated) = (self.count, self.cursor.is_some());
        let cursor = Value::from(self.cursor);
        let end = format!(r#"],"count":{count},"truncated":{truncated},"next_cursor":{cursor}}}"#);
        self.text.extend_from_slice(end.as_bytes());
        String::from_utf8(self.text).expect("JSON is written as UTF-8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::DescriptorType;

    fn entry(name: &str, type_: DescriptorType) -> DirectoryEntry {
        let name = name.to_owned();
        DirectoryEntry { type_, name }
    }

    fn listed(
        answers: Vec<Result<Option<DirectoryEntry>, ErrorCode>>,
        stat: impl FnMut(&str) -> Option<Details>,
    ) -> Value {
        let mut answers = answers.into_iter();
        let listing = Listing::of("d\"x", "/read/0");
        let listing = list(listing, || answers.next().unwrap(), stat).unwrap();
        serde_json::from_str(&listing.into_fields()).unwrap()
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
        assert_eq!(fields["next_cursor"], "b");
        assert_eq!(fields["count"], 2);
    }

    #[test]
    fn a_quota_at_once_and_other_errors_are_the_hosts() {
        for code in [ErrorCode::Quota, ErrorCode::Io] {
            let listing = Listing::of(".", "/read/0");
            assert_eq!(list(listing, || Err(code), |_| None).err(), Some(code));
        }
    }

    #[test]
    fn an_empty_directory_has_no_entries() {
        let fields = listed(vec![Ok(None)], |_| None);
        assert_eq!(fields["entries"], json!([]));
        assert_eq!(fields["count"], 0);
    }
}
