//! From what the tools answer to the records of the interface.

use super::wit;
use crate::files::Kind;
use crate::reading;
use crate::tools::file_exists;
use serde::Deserialize;

/// What `list_files` answers.
#[derive(Deserialize)]
pub(super) struct Listing {
    root: String,
    entries: Vec<Entry>,
    truncated: bool,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    #[serde(rename = "type")]
    kind: Kind,
    size: Option<u64>,
    modified: Option<String>,
    #[serde(default = "usable")]
    usable: bool,
}

/// What `find_files` answers.
#[derive(Deserialize)]
pub(super) struct Names {
    matches: Vec<Match>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Match {
    root: String,
    path: String,
    #[serde(rename = "type")]
    kind: Kind,
}

/// What `search_files` answers.
#[derive(Deserialize)]
pub(super) struct SearchResults {
    files: Vec<Hits>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct Hits {
    root: String,
    path: String,
    hits: Vec<Hit>,
    #[serde(default)]
    more: u64,
}

#[derive(Deserialize)]
struct Hit {
    line: u64,
    column: u64,
    text: String,
}

/// Left out of results when it is so.
fn usable() -> bool {
    true
}

impl From<Kind> for wit::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::File,
            Kind::Directory => Self::Directory,
            Kind::Symlink => Self::Symlink,
            Kind::Other => Self::Other,
        }
    }
}

pub(super) fn text(facts: reading::Facts, content: String) -> wit::Text {
    wit::Text {
        content,
        encoding: facts.encoding,
        root: facts.root,
        size: facts.size,
        version: facts.version,
    }
}

impl From<file_exists::Facts> for wit::Facts {
    fn from(facts: file_exists::Facts) -> Self {
        Self {
            root: facts.root,
            kind: facts.kind.into(),
            size: facts.size,
            modified: facts.modified,
            version: facts.version,
        }
    }
}

impl From<Listing> for wit::Listing {
    fn from(mut listing: Listing) -> Self {
        // Other hosts than Rootbound's list in any order.
        listing
            .entries
            .sort_by(|one, other| one.name.cmp(&other.name));
        Self {
            root: listing.root,
            entries: listing.entries.into_iter().map(Into::into).collect(),
            truncated: listing.truncated,
        }
    }
}

impl From<Entry> for wit::Entry {
    fn from(entry: Entry) -> Self {
        Self {
            name: entry.name,
            kind: entry.kind.into(),
            size: entry.size,
            modified: entry.modified,
            usable: entry.usable,
        }
    }
}

impl From<Names> for wit::Names {
    fn from(names: Names) -> Self {
        Self {
            matches: names.matches.into_iter().map(Into::into).collect(),
            next_cursor: names.next_cursor,
        }
    }
}

impl From<Match> for wit::Found {
    fn from(found: Match) -> Self {
        Self {
            root: found.root,
            path: found.path,
            kind: found.kind.into(),
        }
    }
}

impl From<SearchResults> for wit::SearchResults {
    fn from(results: SearchResults) -> Self {
        Self {
            files: results.files.into_iter().map(Into::into).collect(),
            next_cursor: results.next_cursor,
        }
    }
}

impl From<Hits> for wit::Hits {
    fn from(hits: Hits) -> Self {
        Self {
            root: hits.root,
            path: hits.path,
            hits: hits.hits.into_iter().map(Into::into).collect(),
            more: hits.more,
        }
    }
}

impl From<Hit> for wit::Hit {
    fn from(hit: Hit) -> Self {
        Self {
            line: hit.line,
            column: hit.column,
            text: hit.text,
        }
    }
}
