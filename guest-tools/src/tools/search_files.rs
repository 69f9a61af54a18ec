//! `search_files`: text in files, below a directory or in one file.

use super::shared::Walking;
use crate::editing::choice;
use crate::files::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode, Found, OpenFlags, PathFlags, Roots,
    open_directory,
};
use crate::rows::Rows;
use crate::search::{Content, Query, Reader, Row, Wanted, Window, hits, line_breaks, rows};
use crate::tool::{Error, Output, PathArgument, Risk, Tool, Within};
use crate::walk::{
    Cursor, Options, Pattern, Place, Position, Reason, Skipped, Start, Visit, Walk, doubt,
    is_regex, left_out, names_hidden, parsed,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::ops::ControlFlow;

/// The tool.
pub(crate) struct SearchFiles;

/// Hits that a page has when the caller asks for no other number.
const LIMIT: u64 = 100;
/// Hits that a page has at most.
const MOST: u64 = 1000;
/// Hits of one file: enough to see what it is, and room for other files.
const PER_FILE: u64 = 20;
/// Lines around a hit at most.
const CONTEXT: u64 = 20;
/// Files that one call opens: so many are searched within the default time, and each is
/// held by the host for its audit log.
const FILES: u64 = 100_000;
/// Bytes that one call reads: a little less than the host lets it by default.
const BYTES: u64 = 500 * 1024 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    query: String,
    #[schemars(extend("default" = "."))]
    path: Option<String>,
    regex: Option<bool>,
    ignore_case: Option<bool>,
    whole_word: Option<bool>,
    /// Such as `*.{ts,tsx}`; `!*.js`: all others
    glob: Option<String>,
    /// Lines around each hit
    context: Option<Within<0, CONTEXT>>,
    #[schemars(extend("default" = LIMIT))]
    limit: Option<Within<1, MOST>>,
    #[schemars(extend("default" = PER_FILE))]
    max_per_file: Option<Within<1, MOST>>,
    encoding: Option<String>,
    default_encoding: Option<String>,
    #[serde(flatten)]
    walking: Walking,
}

/// A page of hits: written row by row, and here for its schema.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    files: Vec<File<'static>>,
    count: u64,
    searched: u64,
    truncated: bool,
    next_cursor: Option<String>,
    /// By ignore files
    ignored: u64,
    /// What else was left out, by reason
    skipped: Skipped,
    /// Why nothing may have been found
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Tool for SearchFiles {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "search_files";
    const TITLE: &'static str = "Search in files";
    const DESCRIPTION: &'static str = "Searches text files below `path` (or one file) line by \
        line for a text, or with `regex` for a Rust regular expression. Covers every granted directory; links \
        are not followed. `ignored` counts what ignore files leave out, `skipped` what else and \
        why, `more` a file's hits over `max_per_file`.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
    const EXAMPLE: &'static str = r#"{"query":"TODO","glob":"*.md"}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let path = arguments.path.as_deref().unwrap_or(".");
        let mut search = Search::of(&arguments, Rows::new(&[("path", path)], "files"))?;
        let first: Cursor = parsed(arguments.walking.cursor.as_deref())?;
        let is_first = first == Cursor::default();
        let roots = Roots::preopened().only(arguments.walking.root.as_deref())?;
        let found = roots.look_up_all(|root| open(root, path));
        let found = found.map_err(|miss| miss.of_directory(path))?;
        let mut next = None;
        for (start, found) in found.into_iter().enumerate().skip(first.start) {
            let cursor = match start == first.start {
                true => first.clone(),
                false => Cursor::default(),
            };
            if let ControlFlow::Break(cursor) = search.start(found, path, &roots, cursor)? {
                next = Some(Cursor { start, ..cursor });
                break;
            }
        }
        let hint = (is_first && next.is_none()).then(|| search.doubt(&arguments));
        Ok(search.finish(next, hint.flatten()))
    }
}

/// A directory, or else a file.
fn open(root: &Descriptor, path: &str) -> Result<Descriptor, ErrorCode> {
    match open_directory(root, path) {
        Err(ErrorCode::NotDirectory) => {
            let flags = DescriptorFlags::READ;
            root.open_at(PathFlags::SYMLINK_FOLLOW, path, OpenFlags::empty(), flags)
        }
        answer => answer,
    }
}

/// A search and its page of hits.
struct Search {
    query: Query,
    glob: Option<Pattern>,
    options: Options,
    context: usize,
    limit: u64,
    /// The caller's word on it.
    per_file: Option<u64>,
    rows: Rows,
    hits: u64,
    reader: Reader,
    opened: u64,
    bytes: u64,
    searched: u64,
    skipped: Skipped,
}

/// A file that is searched.
#[derive(Clone, Copy)]
struct Target<'a> {
    root: &'a str,
    path: &'a str,
    /// Hits up to this line stand on pages before.
    behind: u64,
    per_file: u64,
}

/// The hits of one file.
#[derive(Serialize, JsonSchema)]
struct File<'a> {
    root: &'a str,
    path: &'a str,
    hits: Vec<Row>,
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
}

/// What the query may have been meant as.
fn of_query(arguments: &Arguments) -> Option<String> {
    let (query, is_one) = (&*arguments.query, arguments.regex == Some(true));
    let hint = line_breaks(query, is_one).or_else(|| {
        let is_meant = !is_one && is_regex(query);
        is_meant.then_some("`query` was searched for as it is: give `regex: true`")
    });
    hint.map(str::to_owned)
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Search {
    fn of(arguments: &Arguments, rows: Rows) -> Result<Self, Error> {
        let glob = arguments.glob.as_deref();
        let hidden = glob.is_some_and(names_hidden);
        Ok(Self {
            query: Query::new(Wanted {
                text: &arguments.query,
                regex: arguments.regex == Some(true),
                ignore_case: arguments.ignore_case == Some(true),
                whole_word: arguments.whole_word == Some(true),
            })?,
            glob: glob.map(Pattern::or_all_but).transpose()?,
            options: arguments.walking.options(hidden, true),
            context: arguments.context.map_or(0, Into::into),
            limit: arguments.limit.map_or(LIMIT, Into::into),
            per_file: arguments.max_per_file.map(Into::into),
            rows,
            hits: 0,
            reader: Reader::of(choice(
                arguments.encoding.as_deref(),
                arguments.default_encoding.as_deref(),
            )?),
            opened: 0,
            bytes: 0,
            searched: 0,
            skipped: Skipped::default(),
        })
    }

    /// Searches what was found in one root.
    fn start(
        &mut self,
        found: Found<Descriptor>,
        path: &str,
        roots: &Roots,
        cursor: Cursor,
    ) -> Result<ControlFlow<Cursor>, Error> {
        if found.object.get_type()? != DescriptorType::Directory {
            return self.only(&found, path, cursor.part);
        }
        let start = Start::at(found, path, roots, self.options.gitignore);
        let root = start.root.clone();
        let place = match cursor.part {
            0 => Place::Behind(&cursor.position),
            _ => Place::At(&cursor.position),
        };
        let mut skipped = std::mem::take(&mut self.skipped);
        let mut walk = Walk::begin(start, self.options, place, &mut skipped)?;
        let mut part = 0;
        let mut left_in = Position::default();
        let ended = walk.run(&mut skipped, |visit, skipped| {
            let behind = match visit.below == cursor.position.path {
                true => cursor.part,
                false => 0,
            };
            let flow = self.visit(visit, &root, behind, skipped);
            if let ControlFlow::Break(line) = flow {
                part = line;
                visit.below.clone_into(&mut left_in.path);
            }
            flow.map_break(drop)
        });
        self.skipped = skipped;
        Ok(ended.map_break(|position| Cursor {
            start: 0,
            part,
            // A file that was left in the middle is looked at again.
            position: if part > 0 { left_in } else { position },
        }))
    }

    /// Searches the one file that the caller named.
    fn only(
        &mut self,
        found: &Found<Descriptor>,
        path: &str,
        behind: u64,
    ) -> Result<ControlFlow<Cursor>, Error> {
        let content = self.reader.read_named(&found.object)?;
        let mut skipped = std::mem::take(&mut self.skipped);
        let target = Target {
            root: &found.root,
            path,
            behind,
            per_file: self.per_file.unwrap_or(u64::MAX),
        };
        let flow = self.search(content, target, &mut skipped);
        self.skipped = skipped;
        Ok(flow.map_break(|part| Cursor {
            part,
            ..Cursor::default()
        }))
    }

    /// Searches an entry of a directory. Breaks with the line behind which the search goes on,
    /// or 0 for all of the file.
    fn visit(
        &mut self,
        visit: &Visit<'_>,
        root: &str,
        behind: u64,
        skipped: &mut Skipped,
    ) -> ControlFlow<u64> {
        if visit.kind == DescriptorType::Directory || !self.is_wanted(visit.below) {
            return ControlFlow::Continue(());
        }
        match visit.kind {
            _ if !visit.usable => skipped.unusable += 1,
            DescriptorType::RegularFile => return self.look_into(visit, root, behind, skipped),
            DescriptorType::SymbolicLink => skipped.links += 1,
            _ => skipped.special += 1,
        }
        ControlFlow::Continue(())
    }

    fn is_wanted(&self, path: &str) -> bool {
        let glob = self.glob.as_ref();
        glob.is_none_or(|glob| glob.matches(path, false))
    }

    fn look_into(
        &mut self,
        visit: &Visit<'_>,
        root: &str,
        behind: u64,
        skipped: &mut Skipped,
    ) -> ControlFlow<u64> {
        if self.opened == FILES || self.bytes >= BYTES {
            return ControlFlow::Break(behind);
        }
        self.opened += 1;
        let flags = DescriptorFlags::READ;
        let content = visit
            .folder
            .open_at(PathFlags::empty(), visit.name, OpenFlags::empty(), flags)
            .and_then(|file| self.reader.read(&file));
        match content {
            Ok(content) => {
                let target = Target {
                    root,
                    path: visit.path,
                    behind,
                    per_file: self.per_file.unwrap_or(PER_FILE),
                };
                self.search(content, target, skipped)
            }
            Err(code) => {
                skipped.failed(visit.path, code);
                ControlFlow::Continue(())
            }
        }
    }

    fn search(
        &mut self,
        content: Content,
        target: Target<'_>,
        skipped: &mut Skipped,
    ) -> ControlFlow<u64> {
        let Target {
            root,
            path,
            behind,
            per_file,
        } = target;
        let text = match content {
            Content::Text(text) => text,
            Content::Binary(bytes) => {
                skipped.binary(path, self.query.is_in(&bytes));
                return ControlFlow::Continue(());
            }
            Content::Not(reason) => {
                skipped.count(path, reason);
                return ControlFlow::Continue(());
            }
            Content::NoMore => return ControlFlow::Break(behind),
        };
        self.bytes += text.len() as u64;
        let room = (self.limit - self.hits) as usize;
        let window = Window {
            behind,
            most: room + 1,
            per_file,
        };
        let found = hits(&self.query, &text, window);
        if behind == 0 && found.is_empty() && self.query.may_be_in_other_words(&text) {
            skipped.count(path, Reason::NotUtf8);
            return ControlFlow::Continue(());
        }
        let mut rows = rows(&found, &text, self.context);
        let (mut shown, mut bytes) = (Vec::new(), 0);
        while shown.len() < room
            && bytes < self.rows.room()
            && let Some(row) = rows.next()
        {
            bytes += row.bytes();
            shown.push(row);
        }
        let is_whole = rows.next().is_none();
        let last = shown.last().map_or(behind, |row: &Row| row.line);
        self.hits += shown.len() as u64;
        // On the page that it begins on, be it that it fills that page.
        self.searched += u64::from(behind == 0 && (is_whole || !shown.is_empty()));
        if !shown.is_empty() {
            self.rows.push(&File {
                root,
                path,
                hits: shown,
                more: if is_whole { found.more } else { 0 },
            });
        }
        match is_whole {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(last),
        }
    }

    /// What to try where nothing was found.
    fn doubt(&self, arguments: &Arguments) -> Option<String> {
        let glob = arguments.glob.as_deref().filter(|_| self.searched == 0);
        match () {
            () if self.hits > 0 => None,
            () if self.skipped.not_utf8 > 0 => Some(
                "some files are not UTF-8: give their `encoding`, such as `windows-1252`"
                    .to_owned(),
            ),
            // With `!` it takes in most names.
            () if glob.is_some_and(|glob| !glob.starts_with('!')) => doubt(
                glob?,
                arguments.path.as_deref().unwrap_or("."),
                &self.skipped,
            ),
            () => of_query(arguments).or_else(|| left_out(&self.skipped)),
        }
    }

    fn finish(self, next: Option<Cursor>, hint: Option<String>) -> Output<Fields> {
        let mut tail = json!({
            "count": self.hits,
            "searched": self.searched,
            "truncated": next.is_some(),
            "next_cursor": next.map(|cursor| cursor.to_string()),
            "ignored": self.skipped.ignored,
            "skipped": self.skipped,
        });
        if let Some(hint) = hint {
            tail["hint"] = hint.into();
        }
        self.rows.finish(&tail)
    }
}
