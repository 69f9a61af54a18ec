//! `find_files`: files and directories by name, below a directory.

use super::schema;
use crate::arguments::within;
use crate::files::{DescriptorType, Roots, kind};
use crate::rows::Rows;
use crate::tool::{Error, Output, PathArgument, Risk, Role, Tool};
use crate::walk::{
    Cursor, DEPTH, Options, Pattern, Place, Position, Skipped, Spelling, Start, Visit, Walk,
    directories_at, names_hidden, parsed,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// The tool.
pub(crate) struct FindFiles;

/// Names that a page has when the caller asks for no other number.
const LIMIT: u64 = 1000;
/// Names that a page has at most, as a listing of the host by default.
const MOST: u64 = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    pattern: String,
    path: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    normalize: bool,
    depth: Option<u64>,
    hidden: Option<bool>,
    gitignore: Option<bool>,
    limit: Option<u64>,
    cursor: Option<String>,
    root: Option<String>,
}

impl Tool for FindFiles {
    type Arguments = Arguments;

    const NAME: &'static str = "find_files";
    const TITLE: &'static str = "Find files by name";
    const DESCRIPTION: &'static str = "Finds files and directories by a glob as in \
        `.gitignore`: `*.md` at any depth, `src/**/*.rs` from `path`. Covers every granted \
        directory; links are not followed. `ignored` counts what ignore files leave out, \
        `skipped` what else. To go on, pass `next_cursor` as `cursor`.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "path",
        role: Role::Read,
        guarded: false,
    }];

    fn input_schema() -> Value {
        let own = json!({
            "pattern": schema::of("string"),
            "path": schema::start("Directory to start from"),
            "type": { "type": "string", "enum": KINDS },
            "ignore_case": schema::of("boolean"),
            "normalize": { "type": "boolean", "description": "Match NFC and NFD alike; exact names first" },
            "limit": { "type": "integer", "default": LIMIT },
        });
        schema::arguments(
            schema::walking(own, "Implied by patterns such as `.env*`"),
            &["pattern"],
            json!({ "pattern": "*.md" }),
        )
    }

    fn output_schema() -> Value {
        schema::fields(json!({
            "path": schema::of("string"),
            "matches": { "type": "array", "items": { "type": "object", "properties": {
                "root": schema::of("string"),
                "path": schema::of("string"),
                "type": schema::of("string"),
            }}},
            "count": schema::of("integer"),
            "truncated": schema::of("boolean"),
            "next_cursor": {},
            "ignored": schema::of("integer"),
            "skipped": schema::of("object"),
        }))
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let find = Find::of(&arguments)?;
        let path = arguments.path.as_deref().unwrap_or(".");
        let mut page = Page {
            cursor: parsed(arguments.cursor.as_deref())?,
            limit: within("limit", arguments.limit, LIMIT, 1..=MOST)?,
            rows: Rows::new(&[("path", path)], "matches"),
            skipped: Skipped::default(),
        };
        let roots = Roots::preopened().only(arguments.root.as_deref())?;
        let next = find.fill(&mut page, &roots, path)?;
        Ok(page.finish(next))
    }
}

const KINDS: [&str; 4] = ["file", "directory", "symlink", "other"];

/// What is looked for.
struct Find {
    /// The names as they are written come first.
    exact: Pattern,
    /// Other spellings of them, when they are wanted.
    loose: Option<Pattern>,
    kind: Option<String>,
    options: Options,
}

/// A page of matches.
struct Page {
    cursor: Cursor,
    limit: u64,
    rows: Rows,
    skipped: Skipped,
}

#[derive(Serialize)]
struct Match<'a> {
    root: &'a str,
    path: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Clone::clone")]
    usable: bool,
}

impl Find {
    fn of(arguments: &Arguments) -> Result<Self, Error> {
        let spelling = Spelling {
            any_case: arguments.ignore_case,
            any_form: arguments.normalize,
        };
        let pattern = &*arguments.pattern;
        let loose = match spelling.is_exact() {
            true => None,
            false => Some(Pattern::new(pattern, spelling)?),
        };
        if let Some(kind) = &arguments.kind {
            super::one_of("type", kind, &KINDS)?;
        }
        let depth = within("depth", arguments.depth, DEPTH.into(), 1..=u32::MAX.into())?;
        Ok(Self {
            exact: Pattern::new(pattern, Spelling::default())?,
            loose,
            kind: arguments.kind.clone(),
            options: Options {
                depth: depth as u32,
                hidden: arguments.hidden.unwrap_or_else(|| names_hidden(pattern)),
                gitignore: arguments.gitignore.unwrap_or(true),
            },
        })
    }

    /// Fills a page; a cursor when there is more.
    fn fill(&self, page: &mut Page, roots: &Roots, path: &str) -> Result<Option<Cursor>, Error> {
        let first = std::mem::take(&mut page.cursor);
        let rounds = 1 + u64::from(self.loose.is_some());
        for part in first.part..rounds {
            let is_first = part == first.part;
            let starts = directories_at(roots, path)?.into_iter().enumerate();
            for (start, found) in starts.skip(if is_first { first.start } else { 0 }) {
                let position = match is_first && start == first.start {
                    true => first.position.clone(),
                    false => Position::default(),
                };
                let at = Start::at(found, path, roots, self.options.gitignore);
                if let ControlFlow::Break(position) = self.walk(page, at, part, &position)? {
                    return Ok(Some(Cursor {
                        start,
                        part,
                        position,
                    }));
                }
            }
        }
        Ok(None)
    }

    /// Walks through one root. What is left out is counted in the first round only.
    fn walk(
        &self,
        page: &mut Page,
        start: Start,
        round: u64,
        position: &Position,
    ) -> Result<ControlFlow<Position>, Error> {
        let mut uncounted = Skipped::default();
        let Page {
            limit,
            rows,
            skipped,
            ..
        } = page;
        let skipped = if round == 0 { skipped } else { &mut uncounted };
        let root = start.root.clone();
        let mut walk = Walk::begin(start, self.options, Place::Behind(position), skipped)?;
        Ok(walk.run(skipped, |visit, _| {
            if !self.is_match(visit, round) {
                return ControlFlow::Continue(());
            }
            if rows.count() == *limit || rows.fill_a_page() {
                return ControlFlow::Break(());
            }
            rows.push(&Match {
                root: &root,
                path: visit.path,
                kind: kind(visit.kind),
                usable: visit.usable,
            });
            ControlFlow::Continue(())
        }))
    }

    fn is_match<F>(&self, visit: &Visit<'_, F>, round: u64) -> bool {
        let is_directory = visit.kind == DescriptorType::Directory;
        let is_of_kind = self
            .kind
            .as_deref()
            .is_none_or(|name| name == kind(visit.kind));
        let is_exact = || self.exact.matches(visit.below, is_directory);
        is_of_kind
            && match (&self.loose, round) {
                (_, 0) => is_exact(),
                (Some(loose), _) => loose.matches(visit.below, is_directory) && !is_exact(),
                (None, _) => false,
            }
    }
}

impl Page {
    fn finish(self, next: Option<Cursor>) -> Output {
        let tail = json!({
            "count": self.rows.count(),
            "truncated": next.is_some(),
            "next_cursor": next.map(|cursor| cursor.to_string()),
            "ignored": self.skipped.ignored,
            "skipped": self.skipped,
        });
        self.rows.finish(&tail)
    }
}
