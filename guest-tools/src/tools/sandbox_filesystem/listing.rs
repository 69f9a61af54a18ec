//! The operation `list`: a page of a directory or of the tree below it.

use super::{Answer, facts};
use crate::files::{Descriptor, DescriptorFlags, Found, Kind, OpenFlags, PathFlags, Roots};
use crate::rows::PAGE_BYTES;
use crate::tools::shared::MOST;
use crate::walk::{Options, Place, Position, Skipped, Start, Walk, parsed};
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;

/// Levels of a recursive listing (issue: at most 10).
const MOST_DEEP: u32 = 10;

/// Lists what follows the place that a cursor names. Links are shown and not followed.
pub(super) fn list(path: &str, recursive: bool, cursor: Option<&str>) -> Answer {
    let position: Position = parsed(cursor)?;
    let roots = Roots::preopened();
    let flags = DescriptorFlags::READ;
    let found = roots.look_up(|root| {
        root.open_at(PathFlags::SYMLINK_FOLLOW, path, OpenFlags::DIRECTORY, flags)
    })?;
    let depth = if recursive { MOST_DEEP } else { 1 };
    let page = Page::fill(found, path, &roots, depth, &position)?;
    Ok(page.answer(recursive))
}

/// Entries, and what is left to be said of others.
#[derive(Default)]
struct Page {
    items: Vec<Value>,
    bytes: usize,
    next: Option<Position>,
    skipped: Skipped,
}

impl Page {
    fn fill(
        found: Found<Descriptor>,
        path: &str,
        roots: &Roots,
        depth: u32,
        position: &Position,
    ) -> Result<Self, crate::files::ErrorCode> {
        let options = Options {
            depth,
            hidden: true,
            gitignore: false,
        };
        let mut page = Self::default();
        let mut skipped = Skipped::default();
        let start = Start::at(found, path, roots, options.gitignore);
        let mut walk = Walk::begin(start, options, Place::Behind(position), &mut skipped)?;
        let ended = walk.run(&mut skipped, |visit, _| {
            page.take(json!({ "name": visit.below, "type": Kind::from(visit.kind) }))
        });
        page.next = ended.break_value();
        page.skipped = skipped;
        Ok(page)
    }

    /// Takes an entry, unless the page is full.
    fn take(&mut self, item: Value) -> ControlFlow<()> {
        if self.items.len() as u64 == MOST || self.bytes >= PAGE_BYTES {
            return ControlFlow::Break(());
        }
        self.bytes += item.to_string().len() + 1;
        self.items.push(item);
        ControlFlow::Continue(())
    }

    /// Whoever did not ask for a tree knows that directories were not looked into.
    fn answer(mut self, recursive: bool) -> (Value, Map<String, Value>) {
        if !recursive {
            self.skipped = Skipped::default();
        }
        let is_cut = self.next.is_some() || self.skipped.too_deep > 0;
        let mut metadata = facts(json!({ "itemsCount": self.items.len(), "truncated": is_cut }));
        if self.skipped.too_deep > 0 {
            let hint = "directories named in `skipped` lie too deep: list them by themselves";
            metadata.insert("hint".to_owned(), hint.into());
        }
        if self.skipped != Skipped::default() {
            metadata.insert("skipped".to_owned(), json!(self.skipped));
        }
        if let Some(next) = self.next {
            metadata.insert("next_cursor".to_owned(), next.to_string().into());
        }
        (self.items.into(), metadata)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> Value {
        json!({ "name": "n", "type": "file" })
    }

    #[test]
    fn a_page_ends_with_its_entries_or_its_bytes() {
        let mut page = Page::default();
        for _ in 0..PAGE_BYTES {
            if page.take(item()).is_break() {
                break;
            }
        }
        assert!(page.bytes < PAGE_BYTES + 100 && page.items.len() as u64 <= MOST);
        page.bytes = 0;
        while page.take(item()).is_continue() {
            page.bytes = 0;
        }
        assert_eq!(page.items.len() as u64, MOST);
    }

    #[test]
    fn what_is_left_out_is_said_and_nothing_else() {
        let (_, metadata) = Page::default().answer(true);
        assert_eq!(
            Value::from(metadata),
            json!({ "itemsCount": 0, "truncated": false })
        );
        let mut page = Page::default();
        page.skipped.too_deep = 1;
        let (_, metadata) = page.answer(true);
        assert_eq!(
            (&metadata["truncated"], &metadata["skipped"]["too_deep"]),
            (&json!(true), &json!(1))
        );
    }
}
