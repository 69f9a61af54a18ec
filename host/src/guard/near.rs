//! What was meant by a path that nothing has: a word in the refusal, from what a read root
//! shows in any case.
//!
//! The guest asks for none of this and hears none of it. What the host looks at is asked for,
//! judged by the patterns and recorded as if the guest had looked.

use unicode_normalization::UnicodeNormalization;

use super::ask::Asked;
use super::state::{CallState, Descriptor, Directory};
use crate::bindings::filesystem::{DescriptorFlags, OpenFlags, PathFlags};
use crate::error::{CallError, code};
use crate::patterns::fold_letters;
use crate::policy::Operation;
use crate::roots::{Rights, RootIndex};

/// Names of a directory that are compared; a larger one is left to be listed.
const MOST_NAMES: usize = 10_000;
/// Names in one path that are corrected: each takes a listing.
const MOST_CORRECTIONS: usize = 4;
/// Paths in one answer that are thought about.
const MOST_PATHS: usize = 10;
/// Jaro-Winkler similarity from which a name is taken for a slip and not for another name.
const NEAR: f64 = 0.85;

impl CallState {
    /// Remembers what the guest looks for, as long as that starts at a root.
    pub(super) fn seeks(&mut self, base: &Directory, path: &str) {
        if base.path.is_empty() {
            self.sought.clear();
            self.sought.push_str(path);
        }
    }

    /// The answer to give when the guest says `host`.
    pub(crate) fn answer(&mut self) -> Option<CallError> {
        let error = self.last_failure.take()?;
        let sought = std::mem::take(&mut self.sought);
        Some(self.advised(error, &sought))
    }

    /// Says more of what was not found of the paths that an answer names.
    pub(crate) fn advise_on_parts(&mut self, fields: &str) {
        let mut failures = std::mem::take(&mut self.failures);
        let mut left = MOST_PATHS;
        failures.revise(fields, |path, error| {
            if error.code() == code::NOT_FOUND && left > 0 {
                left -= 1;
                *error = self.advised(error.clone(), path);
            }
        });
        self.failures = failures;
    }

    fn advised(&mut self, error: CallError, path: &str) -> CallError {
        if error.code() != code::NOT_FOUND {
            return error;
        }
        match self.meant_by(path).or_else(|| not_a_glob(path)) {
            Some(advice) => {
                let hint = format!("{advice} {}", error.hint());
                error.hint_of(hint)
            }
            None => error,
        }
    }

    /// What told nothing need not be on record.
    fn meant_by(&mut self, path: &str) -> Option<String> {
        let so_far = self.accesses_so_far();
        let advice = self.meant_by_path(path);
        if advice.is_none() {
            self.forget_accesses_since(so_far);
        }
        advice
    }

    fn meant_by_path(&mut self, path: &str) -> Option<String> {
        let decoded = decoded(path);
        if let Some(decoded) = &decoded
            && self.readable().any(|root| self.is_there(root, decoded))
        {
            return Some(format!(
                "did you mean `{decoded}`? nothing in a path is decoded;"
            ));
        }
        // The escapes are the likelier slip: a name without them may look like another.
        let advice = decoded.and_then(|decoded| self.meant_by_names(&decoded));
        advice.or_else(|| self.meant_by_names(path))
    }

    fn meant_by_names(&mut self, path: &str) -> Option<String> {
        let names = names_of(path)?;
        if let Some(advice) = self.behind_label(&names) {
            return Some(advice);
        }
        let near = self.readable().find_map(|root| self.near(root, &names))?;
        Some(match spelled_in_ascii(&near, &names) {
            None => format!("did you mean `{near}`?"),
            Some(escaped) => format!(
                "did you mean `{near}`, in JSON \"{escaped}\"? it has other characters that look \
                 the same;"
            ),
        })
    }

    fn readable(&self) -> std::vec::IntoIter<RootIndex> {
        let roots = self.shared.roots.iter().enumerate();
        let readable = roots.filter(|(_, root)| root.rights == Rights::Read);
        readable
            .map(|(index, _)| index)
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// For a path that starts with the label of a root, as if that were a directory: what it
    /// is without.
    fn behind_label(&mut self, names: &[String]) -> Option<String> {
        let (label, rest) = names.split_first()?;
        let roots = self.shared.roots.iter().enumerate();
        let labelled = roots.filter(|(_, root)| root.label == *label);
        let labelled: Vec<(RootIndex, Rights)> =
            labelled.map(|(index, root)| (index, root.rights)).collect();
        let mut readable = labelled
            .iter()
            .filter(|(_, rights)| *rights == Rights::Read);
        let found = match (rest, readable.clone().count()) {
            _ if labelled.is_empty() => None,
            ([], _) => Some(".".to_owned()),
            // What is there is not told.
            (rest, 0) => Some(rest.join("/")),
            (rest, _) => readable.find_map(|(root, _)| self.inside(*root, label, rest)),
        };
        Some(format!(
            "`{label}` is the name of a granted directory and no part of a path: give `{}`;",
            found?
        ))
    }

    /// The path that was meant in a root, unless its label may as well name a directory there.
    fn inside(&mut self, root: RootIndex, label: &str, rest: &[String]) -> Option<String> {
        let path = rest.join("/");
        if self.is_there(root, &path) {
            return Some(path);
        }
        match self.is_there(root, label) {
            true => None,
            false => self.near(root, rest),
        }
    }

    /// The path with its wrong names corrected by those that are there; nothing unless that
    /// leads to something.
    fn near(&mut self, root: RootIndex, names: &[String]) -> Option<String> {
        let mut names = names.to_vec();
        for _ in 0..MOST_CORRECTIONS {
            let (directory, depth) = self.deepest(root, &names)?;
            names[depth] = self.nearest_in(&directory, &names[depth])?;
            let path = names.join("/");
            if self.is_there(root, &path) {
                return Some(path);
            }
        }
        None
    }

    /// The deepest directory on the way that is there, and how many names lead to it.
    fn deepest(&mut self, root: RootIndex, names: &[String]) -> Option<(Directory, usize)> {
        (0..names.len()).rev().find_map(|depth| {
            let path = match depth {
                0 => ".".to_owned(),
                depth => names[..depth].join("/"),
            };
            Some((self.directory_at(root, path)?, depth))
        })
    }

    fn directory_at(&mut self, root: RootIndex, path: String) -> Option<Directory> {
        let (base, follow) = (self.root_directory(root), PathFlags::SYMLINK_FOLLOW);
        let (directory, read) = (OpenFlags::DIRECTORY, DescriptorFlags::READ);
        match self.open(&base, path, follow, directory, read) {
            Ok(Descriptor::Directory(directory)) => Some(directory),
            _ => None,
        }
    }

    fn is_there(&mut self, root: RootIndex, path: &str) -> bool {
        let base = self.root_directory(root);
        let follow = PathFlags::SYMLINK_FOLLOW;
        self.stat_path(&base, path.to_owned(), follow).is_ok()
    }

    fn nearest_in(&mut self, directory: &Directory, name: &str) -> Option<String> {
        self.check_deadline().ok()?;
        let asked = Asked::of(Operation::List, directory, ".".to_owned());
        self.permit(&asked).ok()?;
        let listing = self.read_names(asked, MOST_NAMES).ok()?;
        self.access_was(directory.access, Operation::List, 0);
        let names = listing.usable_names(self.shared.policy.paths);
        nearest(name, names).map(str::to_owned)
    }
}

/// A path without the escapes of URLs, where it has some and the rest is a path that leads down.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let escaped = escaped(first, behind);
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() {
            &behind[2..]
        } else {
            behind
        };
    }
    let text = String::from_utf8(bytes).ok()?;
    let is_other = text != path && !text.contains(char::is_control);
    let names = names_of(&text).filter(|_| is_other)?;
    Some(names.join("/"))
}

/// The byte that a sign of percent and two digits stand for.
fn escaped(sign: u8, digits: &[u8]) -> Option<u8> {
    let digits = digits.get(..2).filter(|_| sign == b'%')?;
    let value = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(value(digits[0])? * 16 + value(digits[1])?).ok()
}

/// What to do instead of asking for all files whose names are alike.
fn not_a_glob(path: &str) -> Option<String> {
    let is_glob = path.contains(['*', '?']);
    is_glob.then(|| "a path is no glob, which `find_files` takes as its `pattern`;".to_owned())
}

/// The names of a path, where each leads one step down.
fn names_of(path: &str) -> Option<Vec<String>> {
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    let names: Vec<String> = names.map(str::to_owned).collect();
    let climbs = names.iter().any(|name| name == "..");
    (!climbs && !names.is_empty()).then_some(names)
}

/// The name that looks the same, else the one that is most alike, if one is enough so.
fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let looks = look_of(wanted);
    // What looks the same is nearer than anything that is only alike.
    let likeness = |name: &str| match look_of(name) == looks {
        true => 2.0,
        false if is_one_slip(wanted, name) => 1.0,
        false => strsim::jaro_winkler(wanted, name),
    };
    names
        .filter(|name| *name != wanted)
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness > NEAR)
        // Of equals the first.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, name)| name)
}

/// Whether one letter too many, too few, wrong or behind its neighbour is the difference.
fn is_one_slip(wanted: &str, name: &str) -> bool {
    // Shorter names are all alike.
    const SHORTEST: usize = 3;
    wanted.len() >= SHORTEST
        && wanted.len().abs_diff(name.len()) <= 4
        && strsim::osa_distance(wanted, name) == 1
}

/// A name without what a reader does not see: case, how letters are composed, kinds of spaces.
fn look_of(name: &str) -> String {
    let plain: String = name.nfkc().collect();
    fold_letters(&plain)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// A path in the escapes of JSON, where it could not be told from what was asked.
fn spelled_in_ascii(near: &str, asked: &[String]) -> Option<String> {
    let plain = |text: &str| text.nfkc().collect::<String>();
    let looks_the_same = plain(near) == plain(&asked.join("/"));
    let escape = |c: char| match c.is_ascii() {
        true => c.to_string(),
        false => {
            let mut units = [0; 2];
            let units = c.encode_utf16(&mut units).iter();
            units.map(|unit| format!("\\u{unit:04x}")).collect()
        }
    };
    looks_the_same.then(|| near.chars().map(escape).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_looks_the_same_comes_first() {
        for (wanted, names, near) in [
            (
                "readme.md",
                &["README.md", "readme.mdx"][..],
                Some("README.md"),
            ),
            (
                "\u{c4}.txt",
                &["A.txt", "A\u{308}.txt"],
                Some("A\u{308}.txt"),
            ),
            (
                "a b.txt",
                &["a_b.txt", "a\u{a0}b.txt"],
                Some("a\u{a0}b.txt"),
            ),
            ("reprot.md", &["notes.md", "report.md"], Some("report.md")),
            ("report", &["report.md"], Some("report.md")),
            ("scr", &["tmp", "src"], Some("src")),
            ("todo.md", &["report.md", "x"], None),
            ("a", &[], None),
        ] {
            assert_eq!(nearest(wanted, names.iter().copied()), near, "{wanted}");
        }
    }

    #[test]
    fn only_what_looks_the_same_is_spelled_out() {
        let asked = names_of("d/\u{c4}.txt").unwrap();
        let escaped = spelled_in_ascii("d/A\u{308}.txt", &asked);
        assert_eq!(escaped.as_deref(), Some("d/A\\u0308.txt"));
        assert_eq!(spelled_in_ascii("d/\u{e4}.txt", &asked), None);
    }

    #[test]
    fn escapes_of_urls_are_decoded_once_where_that_makes_a_path() {
        for (path, is) in [
            ("docs%2Fnotes.md", Some("docs/notes.md")),
            ("my%20file%2etxt", Some("my file.txt")),
            ("%C3%84.txt", Some("\u{c4}.txt")),
            ("./d//a%20b", Some("d/a b")),
            ("100%%20", Some("100% ")),
            ("a%2520b", Some("a%20b")),
            ("%2Fetc%2Fpasswd", Some("etc/passwd")),
            ("a%b", None),
            ("a%2", None),
            ("a%+f", None),
            ("a b", None),
            ("a%00b", None),
            ("a%0ab", None),
            ("%ff", None),
            ("..%2Fa", None),
            ("a/%2e%2e/b", None),
        ] {
            assert_eq!(decoded(path).as_deref(), is, "{path}");
        }
    }

    #[test]
    fn paths_that_climb_are_left_alone() {
        assert_eq!(names_of("./a//b/").unwrap(), ["a", "b"]);
        for path in ["", ".", "/", "a/../b"] {
            assert_eq!(names_of(path), None, "{path}");
        }
    }
}
