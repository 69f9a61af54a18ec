//! Ignore files: `.gitignore` as git reads it, and `.ignore`, which has the last word beside
//! it. They count whether or not there is a repository.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The files with rules, in the order in which they overrule each other.
pub(super) const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Lines of ignore files that are in force at once: each takes some kilobytes.
const MOST_IN_FORCE: usize = 20_000;
/// Lines that one walk reads: a second or two of work.
const MOST_READ: usize = 100_000;

/// The rules of the directories from the root down to where a walk is.
#[derive(Debug, Default)]
pub(super) struct Rules {
    layers: Vec<Layer>,
    read: usize,
}

/// The rules of one directory.
#[derive(Debug)]
struct Layer {
    /// How many bytes of a path name the directory, its `/` included.
    base: usize,
    rules: Gitignore,
    lines: usize,
}

impl Rules {
    /// Adds the rules of a directory whose path takes `base` bytes. False when they are too
    /// many, and are left out.
    pub(super) fn push(&mut self, base: usize, files: &[Vec<u8>]) -> bool {
        let breaks = files.iter().flatten().filter(|byte| **byte == b'\n');
        let lines = breaks.count() + files.len();
        let in_force: usize = self.layers.iter().map(|layer| layer.lines).sum();
        if in_force + lines > MOST_IN_FORCE || self.read + lines > MOST_READ {
            return false;
        }
        self.read += lines;
        let rules = parsed(files);
        if !rules.is_empty() {
            self.layers.push(Layer { base, rules, lines });
        }
        true
    }

    /// Forgets the rules of the directories that are not above `base`.
    pub(super) fn leave(&mut self, base: usize) {
        while self.layers.last().is_some_and(|layer| layer.base >= base) {
            self.layers.pop();
        }
    }

    /// The deepest directory that has a word on it decides, by its last rule.
    pub(super) fn ignore(&self, path: &str, is_directory: bool) -> bool {
        let word = |layer: &Layer| match layer.rules.matched(&path[layer.base..], is_directory) {
            Match::None => None,
            other => Some(other.is_ignore()),
        };
        self.layers.iter().rev().find_map(word).unwrap_or(false)
    }
}

/// Lines that are no pattern are passed over, as git does.
fn parsed(files: &[Vec<u8>]) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for file in files {
        let text = String::from_utf8_lossy(file);
        for line in text.trim_start_matches('\u{feff}').lines() {
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(layers: &[(&str, &str)]) -> Rules {
        let mut rules = Rules::default();
        for (directory, text) in layers {
            rules.push(directory.len(), &[text.as_bytes().to_vec()]);
        }
        rules
    }

    #[test]
    fn the_last_rule_of_the_deepest_directory_decides() {
        let rules = rules(&[
            ("", "*.log\n!keep.log\nbuild/\n/top\r\n"),
            ("a/", "!*.log\nsecret.log\n# not this\n\\#this\n"),
        ]);
        for (path, is_directory, ignored) in [
            ("x.log", false, true),
            ("keep.log", false, false),
            ("a/x.log", false, false),
            ("a/secret.log", false, true),
            ("a/b/secret.log", false, true),
            ("build", true, true),
            ("build", false, false),
            ("a/build", true, true),
            ("top", false, true),
            ("a/top", false, false),
            ("a/#this", false, true),
            ("a/# not this", false, false),
        ] {
            assert_eq!(rules.ignore(path, is_directory), ignored, "{path}");
        }
    }

    #[test]
    fn more_rules_than_a_walk_can_take_are_left_out() {
        let many = b"a\n".repeat(MOST_IN_FORCE - 2);
        let mut rules = Rules::default();
        assert!(rules.push(0, std::slice::from_ref(&many)));
        assert!(!rules.push(2, &[b"b\nc".to_vec()]));
        assert!(rules.ignore("a", false) && !rules.ignore("d/b", false));
        // What is no longer in force makes room, until all of it was too much work.
        let pushes = (0..99).take_while(|_| {
            rules.leave(0);
            rules.push(0, std::slice::from_ref(&many))
        });
        assert_eq!(pushes.count(), MOST_READ / MOST_IN_FORCE - 1);
    }

    #[test]
    fn rules_end_with_their_directory() {
        let mut rules = rules(&[("", "a"), ("d/", "b"), ("d/e/", "c")]);
        rules.leave(2);
        assert!(rules.ignore("d/a", false));
        assert!(!rules.ignore("d/b", false));
        assert!(!rules.ignore("d/e/c", false));
    }
}
