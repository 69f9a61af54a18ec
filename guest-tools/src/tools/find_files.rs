//! `find_files`: files and directories by name, below a directory.

use super::shared::{LIMIT, MOST, Walking};
use crate::files::{DescriptorType, Kind, Roots};
use crate::rows::Rows;
use crate::tool::{Error, Output, PathArgument, Risk, Tool, Within};
use crate::walk::{
    Cursor, Options, Pattern, Place, Position, Skipped, Spelling, Start, Visit, Walk,
    directories_at, doubt, names_hidden, parsed,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::ops::ControlFlow;

/// The tool.
pub(crate) struct FindFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    pattern: String,
    #[schemars(extend("default" = "."))]
    path: Option<String>,
    #[serde(rename = "type")]
    kind: Option<Kind>,
    ignore_case: Option<bool>,
    /// Match NFC and NFD alike
    normalize: Option<bool>,
    #[schemars(extend("default" = LIMIT))]
    limit: Option<Within<1, MOST>>,
    #[serde(flatten)]
    walking: Walking,
}

/// A page of names: written row by row, and here for its schema.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    matches: Vec<Match<'static>>,
    count: u64,
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

impl Tool for FindFiles {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "find_files";
    const TITLE: &'static str = "Find files by name";
    const DESCRIPTION: &'static str = "Finds files and directories by a glob as in `.gitignore`: \
        `*.md` at any depth, `src/**/*.rs` from `path`. Covers every granted directory; links are \
        not followed. `ignored` counts what ignore files leave out, `skipped` what else.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
    const EXAMPLE: &'static str = r#"{"pattern":"*.md"}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let find = Find::of(&arguments)?;
        let path = arguments.path.as_deref().unwrap_or(".");
        let mut page = Page {
            cursor: parsed(arguments.walking.cursor.as_deref())?,
            limit: arguments.limit.map_or(LIMIT, Into::into),
            rows: Rows::new(&[("path", path)], "matches"),
            skipped: Skipped::default(),
        };
        let roots = Roots::preopened().only(arguments.walking.root.as_deref())?;
        let is_first = page.cursor == Cursor::default();
        let next = find.fill(&mut page, &roots, path)?;
        let is_empty = is_first && next.is_none() && page.rows.count() == 0;
        let hint = || doubt(&arguments.pattern, path, &page.skipped);
        let hint = is_empty.then(hint).flatten();
        Ok(page.finish(next, hint))
    }
}

/// What is looked for.
struct Find {
    /// The names as they are written come first.
    exact: Pattern,
    /// Other spellings of them, when they are wanted.
    loose: Option<Pattern>,
    kind: Option<Kind>,
    options: Options,
}

/// A page of matches.
struct Page {
    cursor: Cursor,
    limit: u64,
    rows: Rows,
    skipped: Skipped,
}

#[derive(Serialize, JsonSchema)]
struct Match<'a> {
    root: &'a str,
    path: &'a str,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(skip_serializing_if = "Clone::clone")]
    usable: bool,
}

impl Find {
    fn of(arguments: &Arguments) -> Result<Self, Error> {
        let spelling = Spelling {
            any_case: arguments.ignore_case == Some(true),
            any_form: arguments.normalize == Some(true),
        };
        let pattern = &*arguments.pattern;
        let loose = match spelling.is_exact() {
            true => None,
            false => Some(Pattern::new(pattern, spelling)?),
        };
        Ok(Self {
            exact: Pattern::new(pattern, Spelling::default())?,
            loose,
            kind: arguments.kind,
            options: arguments.walking.options(names_hidden(pattern), true),
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
                kind: visit.kind.into(),
                usable: visit.usable,
            });
            ControlFlow::Continue(())
        }))
    }

    fn is_match<F>(&self, visit: &Visit<'_, F>, round: u64) -> bool {
        let is_directory = visit.kind == DescriptorType::Directory;
        let is_of_kind = self.kind.is_none_or(|kind| kind == visit.kind.into());
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
    fn finish(self, next: Option<Cursor>, hint: Option<String>) -> Output<Fields> {
        let mut tail = json!({
            "count": self.rows.count(),
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
