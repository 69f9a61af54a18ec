//! Walking a tree: what `find_files`, `search_files` and a recursive `list_files` share.
//!
//! Entries come in the order of their paths, compared component by component as bytes: a
//! directory, then what is in it, then its next sibling. Links are shown and never followed.

// The host's, so that a glob means the same to a tool and to a policy.
#[path = "../../../host/src/patterns/characters.rs"]
mod characters;
mod cursor;
mod doubt;
mod entries;
mod folder;
mod ignoring;
mod pattern;
mod skipped;
mod start;

pub(crate) use cursor::{Cursor, Position, parsed};
pub(crate) use doubt::{doubt, is_regex, left_out};
pub(crate) use entries::Entries;
pub(crate) use folder::Folder;
pub(crate) use pattern::{Pattern, Spelling, names_hidden};
pub(crate) use skipped::{Reason, Skipped};
pub(crate) use start::{Start, directories_at};

use crate::files::{Descriptor, DescriptorType, ErrorCode};
use entries::Entry;
use ignoring::Rules;
use std::ops::ControlFlow;

/// Levels of a walk when the caller names no other number: the host's default (DESIGN §4).
/// The host's own limit holds in any case.
pub(crate) const DEPTH: u32 = 10;

/// What a walk takes in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Levels, of which the entries of the start are the first.
    pub(crate) depth: u32,
    /// Whether names that start with a dot are taken.
    pub(crate) hidden: bool,
    /// Whether ignore files are heeded and `.git` is passed over.
    pub(crate) gitignore: bool,
}

/// Where a walk begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// Behind the position.
    Behind(&'a Position),
    /// With the position's own entry, if it is still there.
    At(&'a Position),
}

/// A walk through the tree below one directory.
pub(crate) struct Walk<F = Descriptor> {
    options: Options,
    levels: Vec<Level<F>>,
    /// The path of the entry at hand from the root, as results show it.
    path: String,
    /// How much of the path names the start.
    start: usize,
    rules: Rules,
    position: Position,
    unusable_to_pass: usize,
}

/// A directory that the walk is in.
struct Level<F> {
    folder: F,
    entries: Entries,
    next: usize,
    /// How much of the path names the directory, its `/` included.
    base: usize,
}

/// An entry that the walk takes in.
pub(crate) struct Visit<'a, F = Descriptor> {
    pub(crate) folder: &'a F,
    /// From the root.
    pub(crate) path: &'a str,
    /// From the start.
    pub(crate) below: &'a str,
    pub(crate) name: &'a str,
    pub(crate) kind: DescriptorType,
    pub(crate) usable: bool,
}

impl<F: Folder> Walk<F> {
    /// Begins a walk, at a position in it.
    ///
    /// # Errors
    /// The host's, when the start cannot be listed.
    pub(crate) fn begin(
        start: Start<F>,
        options: Options,
        place: Place<'_>,
        skipped: &mut Skipped,
    ) -> Result<Self, ErrorCode> {
        let (Place::Behind(position) | Place::At(position)) = place;
        let mut walk = Self {
            options,
            levels: Vec::new(),
            start: start.prefix.len(),
            path: start.prefix,
            rules: Rules::default(),
            position: position.clone(),
            unusable_to_pass: position.unusable,
        };
        if options.gitignore {
            for (base, files) in &start.rules_above {
                walk.rules.push(*base, files);
            }
        }
        walk.push(start.folder, skipped)?;
        walk.go_to(place, skipped);
        Ok(walk)
    }

    /// Shows every entry to `visit`, until it breaks off: the position is then before the
    /// entry at which it did.
    pub(crate) fn run(
        &mut self,
        skipped: &mut Skipped,
        mut visit: impl FnMut(&Visit<'_, F>, &mut Skipped) -> ControlFlow<()>,
    ) -> ControlFlow<Position> {
        while let Some(level) = self.levels.last_mut() {
            let Some(entry) = level.entries.get(level.next) else {
                self.rules.leave(level.base);
                self.levels.pop();
                continue;
            };
            level.next += 1;
            self.path.truncate(level.base);
            self.path.push_str(entry.name);
            if !entry.usable && self.unusable_to_pass > 0 {
                self.unusable_to_pass -= 1;
                continue;
            }
            self.unusable_to_pass = 0;
            let (kind, usable) = (entry.kind, entry.usable);
            let is_taken = is_taken(&entry, &self.path, self.options, &self.rules, skipped);
            let visited = Visit {
                folder: &level.folder,
                path: &self.path,
                below: &self.path[self.start..],
                name: entry.name,
                kind,
                usable,
            };
            if is_taken && visit(&visited, skipped).is_break() {
                return ControlFlow::Break(self.position.clone());
            }
            self.pass(usable);
            if is_taken && usable && kind == DescriptorType::Directory {
                self.descend(skipped);
            }
        }
        ControlFlow::Continue(())
    }

    /// Moves the position behind the entry at hand.
    fn pass(&mut self, usable: bool) {
        if !usable {
            self.position.unusable += 1;
            return;
        }
        self.position.unusable = 0;
        self.position.path.clear();
        self.position.path.push_str(&self.path[self.start..]);
    }

    /// Goes into the directory at hand.
    fn descend(&mut self, skipped: &mut Skipped) {
        let Some(level) = self.levels.last() else {
            return;
        };
        let entered = match self.levels.len() as u32 >= self.options.depth {
            true => Err(ErrorCode::Quota),
            false => level.folder.enter(&self.path[level.base..]),
        };
        let code = match entered {
            Ok(folder) => {
                self.path.push('/');
                let Err(code) = self.push(folder, skipped) else {
                    return;
                };
                self.path.pop();
                match code {
                    // The host's limit on entries, and not the one on levels.
                    ErrorCode::Quota => ErrorCode::Io,
                    code => code,
                }
            }
            Err(code) => code,
        };
        // A `/` at the end says that the position is behind the directory's contents.
        self.position.path.push('/');
        match code {
            ErrorCode::Quota | ErrorCode::NameTooLong => {
                skipped.count(&self.path, Reason::TooDeep);
            }
            code => skipped.failed(&self.path, code),
        }
    }

    /// Adds a level; the path names its directory.
    fn push(&mut self, folder: F, skipped: &mut Skipped) -> Result<(), ErrorCode> {
        let entries = folder.entries()?;
        let base = self.path.len();
        if self.options.gitignore {
            let files = rules_in(&folder, &entries, &self.path, skipped);
            if !self.rules.push(base, &files) {
                let path = format!("{}{}", self.path, ignoring::FILES[0]);
                skipped.count(&path, Reason::TooLarge);
            }
        }
        let next = 0;
        self.levels.push(Level {
            folder,
            entries,
            next,
            base,
        });
        Ok(())
    }

    /// Opens the directories on the way to a position again, as far as they are still there.
    fn go_to(&mut self, place: Place<'_>, skipped: &mut Skipped) {
        let (Place::Behind(position) | Place::At(position)) = place;
        let (path, is_behind) = match position.path.strip_suffix('/') {
            Some(path) => (path, true),
            None => (&*position.path, false),
        };
        let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
        while let Some(name) = names.next() {
            let depth = self.levels.len();
            let Some(level) = self.levels.last_mut() else {
                return;
            };
            level.next = level.entries.up_to(name);
            let last = level
                .next
                .checked_sub(1)
                .and_then(|at| level.entries.get(at));
            let Some(entry) = last.filter(|entry| entry.name == name) else {
                return;
            };
            let is_end = names.peek().is_none();
            self.path.truncate(level.base);
            self.path.push_str(name);
            let mut uncounted = Skipped::default();
            if is_end && matches!(place, Place::At(_)) {
                level.next -= 1;
                return;
            }
            if entry.kind != DescriptorType::Directory
                || (is_end && is_behind)
                || !is_taken(
                    &entry,
                    &self.path,
                    self.options,
                    &self.rules,
                    &mut uncounted,
                )
            {
                return;
            }
            self.descend(skipped);
            if self.levels.len() == depth {
                return;
            }
        }
    }
}

/// Whether the options let an entry in.
fn is_taken(
    entry: &Entry<'_>,
    path: &str,
    options: Options,
    rules: &Rules,
    skipped: &mut Skipped,
) -> bool {
    if !options.hidden && entry.name.starts_with('.') {
        skipped.hidden += 1;
        return false;
    }
    let is_directory = entry.kind == DescriptorType::Directory;
    let is_ignored = || entry.name == ".git" || rules.ignore(path, is_directory);
    if options.gitignore && entry.usable && is_ignored() {
        skipped.ignored += 1;
        return false;
    }
    true
}

/// The contents of a directory's ignore files.
fn rules_in<F: Folder>(
    folder: &F,
    entries: &Entries,
    path: &str,
    skipped: &mut Skipped,
) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for name in ignoring::FILES {
        if !entries.has_file(name) {
            continue;
        }
        match folder.read_rules(name) {
            Ok(content) => files.push(content),
            Err(code) => skipped.failed(&format!("{path}{name}"), code),
        }
    }
    files
}

#[cfg(test)]
mod tests;
