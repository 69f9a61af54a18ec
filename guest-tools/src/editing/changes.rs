//! Which bytes of a text have changed, after any number of changes upon changes.

use std::ops::Range;

/// Stretches that are remembered one by one; more are remembered as one that covers them.
const MOST: usize = 1000;

/// A stretch of the old text and what stands in its place in the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// All changes from the old text to the newest, in order and apart from each other.
#[derive(Debug, Default)]
pub(crate) struct Changes(Vec<Change>);

impl Changes {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Change> {
        self.0.iter()
    }

    pub(crate) fn first(&self) -> Option<&Change> {
        self.0.first()
    }

    pub(crate) fn last(&self) -> Option<&Change> {
        self.0.last()
    }

    /// Notes replacements in the newest text, given in order, each with the length of what
    /// takes the place of the range.
    pub(crate) fn replaced(&mut self, replacements: &[(Range<usize>, usize)]) {
        if replacements.len() > MOST {
            self.splice(&covering(replacements));
            return;
        }
        // From the last to the first, so that a range still means what it meant.
        for replacement in replacements.iter().rev() {
            self.splice(replacement);
        }
        if let (true, Some(first), Some(last)) =
            (self.0.len() > MOST, self.0.first(), self.0.last())
        {
            self.0 = vec![Change {
                old: first.old.start..last.old.end,
                new: first.new.start..last.new.end,
            }];
        }
    }

    fn splice(&mut self, (range, length): &(Range<usize>, usize)) {
        let from = self
            .0
            .partition_point(|change| change.new.end < range.start);
        let to = self
            .0
            .partition_point(|change| change.new.start <= range.end);
        let (from, to) = (from, to.max(from));
        let touched = &self.0[from..to];
        let first = touched
            .first()
            .filter(|first| first.new.start < range.start);
        let start = match first {
            Some(first) => (first.old.start, first.new.start),
            None => (self.old_offset(from, range.start), range.start),
        };
        let last = touched.last().filter(|last| last.new.end > range.end);
        let end = match last {
            Some(last) => (last.old.end, last.new.end),
            None => (self.old_offset(to, range.end), range.end),
        };
        let removed = range.len();
        let change = Change {
            old: start.0..end.0,
            new: start.1..end.1 - removed + length,
        };
        self.0.splice(from..to, [change]);
        for later in &mut self.0[from + 1..] {
            later.new = later.new.start - removed + length..later.new.end - removed + length;
        }
    }

    /// Where an unchanged byte of the newest text stood in the old one, if `before` changes
    /// lie before it.
    fn old_offset(&self, before: usize, offset: usize) -> usize {
        match before.checked_sub(1).map(|last| &self.0[last]) {
            Some(last) => last.old.end + (offset - last.new.end),
            None => offset,
        }
    }
}

fn covering(replacements: &[(Range<usize>, usize)]) -> (Range<usize>, usize) {
    let start = replacements.first().map_or(0, |(range, _)| range.start);
    let end = replacements.last().map_or(0, |(range, _)| range.end);
    let removed: usize = replacements.iter().map(|(range, _)| range.len()).sum();
    let added: usize = replacements.iter().map(|(_, length)| length).sum();
    (start..end, end - start - removed + added)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(steps: &[&[(Range<usize>, usize)]]) -> Vec<(Range<usize>, Range<usize>)> {
        let mut changes = Changes::default();
        for step in steps {
            changes.replaced(step);
        }
        let pairs = changes.iter().map(|c| (c.old.clone(), c.new.clone()));
        pairs.collect()
    }

    #[test]
    fn one_replacement_is_one_change() {
        assert_eq!(after(&[&[(3..5, 4)]]), [(3..5, 3..7)]);
    }

    #[test]
    fn replacements_in_one_step_move_those_behind_them() {
        let steps = [&[(1..2, 3), (5..6, 0), (9..9, 2)][..]];
        assert_eq!(after(&steps), [(1..2, 1..4), (5..6, 7..7), (9..9, 10..12)]);
    }

    #[test]
    fn later_steps_speak_of_the_newest_text() {
        // `abcdef` → `aXXXcdef` → `aXXXcYf`
        let steps = [&[(1..2, 3)][..], &[(5..7, 1)][..]];
        assert_eq!(after(&steps), [(1..2, 1..4), (3..5, 5..6)]);
    }

    #[test]
    fn changes_of_changes_become_one() {
        // `abcdef` → `aXXXcdef` → `aXYef`
        let steps = [&[(1..2, 3)][..], &[(2..6, 1)][..]];
        assert_eq!(after(&steps), [(1..4, 1..3)]);
    }

    #[test]
    fn too_many_are_remembered_as_one() {
        let many: Vec<_> = (0..2000).map(|n| (n * 2..n * 2 + 1, 2)).collect();
        assert_eq!(after(&[&many]), [(0..3999, 0..5999)]);
    }
}
