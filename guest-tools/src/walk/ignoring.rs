//! Ignore files: `.gitignore` as git reads it, and `.ignore`, which has the last word beside
//! it. They count whether or not there is a repository.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The files with rules, in the order in which they overrule each other.
pub(super) const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The rules of the directories from the root down to where a walk is.
#[derive(Debug, Default)]
pub(super) struct Rules(Vec<Layer>);

/// The rules of one directory.
#[derive(Debug)]
struct Layer {
    /// How many bytes of a path name the directory, its `/` included.
    base: usize,
    rules: Gitignore,
}

impl Rules {
    /// Adds the rules of a directory whose path takes `base` bytes.
    pub(super) fn push(&mut self, base: usize, files: &[Vec<u8>]) {
        let rules = parsed(files);
        if !rules.is_empty() {
            self.0.push(Layer { base, rules });
        }
    }

    /// Forgets the rules of the directories that are not above `base`.
    pub(super) fn leave(&mut self, base: usize) {
        while self.0.last().is_some_and(|layer| layer.base >= base) {
            self.0.pop();
        }
    }

    /// The deepest directory that has a word on it decides, by its last rule.
    pub(super) fn ignore(&self, path: &str, is_directory: bool) -> bool {
        let word = |layer: &Layer| match layer.rules.matched(&path[layer.base..], is_directory) {
            Match::None => None,
            other => Some(other.is_ignore()),
        };
        self.0.iter().rev().find_map(word).unwrap_or(false)
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
    fn rules_end_with_their_directory() {
        let mut rules = rules(&[("", "a"), ("d/", "b"), ("d/e/", "c")]);
        rules.leave(2);
        assert!(rules.ignore("d/a", false));
        assert!(!rules.ignore("d/b", false));
        assert!(!rules.ignore("d/e/c", false));
    }
}
