//! May an object be touched, by where it stands?

use super::fold::{fold, other_spellings, trim_names};
use super::globs::{Globs, Read};
use super::rules::{Folded, Rules, Spelling, translate};
use super::{Denying, PatternError, Patterns, SECRETS};

/// What is judged: what stands on the way to allowed things may be gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Directory,
    /// Whatever is no directory, and what is not there.
    File,
}

/// Patterns, compiled.
#[derive(Debug)]
pub(crate) struct Judge {
    /// Each denies by itself.
    deny: Vec<Rules>,
    /// Each has to allow what is touched.
    allow: Vec<Allowed>,
    /// Whether a `.git` that is no directory is denied, also where `!.git` takes the name back:
    /// it says where git finds its directory, and a pattern cannot tell the two apart.
    denies_git_file: bool,
}

#[derive(Debug)]
struct Allowed {
    rules: Rules,
    /// The directories below which something can be allowed.
    ways: Globs,
}

impl Judge {
    /// `None` where there are no patterns, so that nothing is asked then.
    pub(crate) fn new(patterns: &Patterns) -> Result<Option<Self>, PatternError> {
        if patterns.is_empty() {
            return Ok(None);
        }
        patterns.check_amount()?;
        let deny = patterns.denying().map(|list| match list.protect_secrets {
            true => denied(&SECRETS, list),
            false => denied(&[], list),
        });
        let allow = patterns.allowing().map(|list| Allowed::new(list));
        let allow = allow.collect::<Result<Vec<_>, _>>()?;
        Ok(Some(Self {
            deny: deny.collect::<Result<_, _>>()?,
            allow,
            denies_git_file: patterns.denying().any(|list| list.protect_secrets),
        }))
    }

    /// Whether what stands at a path from the root may be touched. The root itself may.
    pub(crate) fn admits(&self, path: &[u8], subject: Subject) -> bool {
        if matches!(path, b"" | b".") {
            return true;
        }
        let folded = fold(path);
        let admits = |folded: &[u8]| self.admits_trimmed(path, folded, subject);
        admits(&folded)
            && other_spellings(path, &folded)
                .iter()
                .all(|other| admits(other))
    }

    fn admits_trimmed(&self, path: &[u8], folded: &[u8], subject: Subject) -> bool {
        self.admits_as(path, folded, subject)
            && trim_names(folded).is_none_or(|trimmed| self.admits_as(path, &trimmed, subject))
    }

    fn admits_as(&self, path: &[u8], folded: &[u8], subject: Subject) -> bool {
        let spellings = || {
            let pairs = prefixes(path).zip(prefixes(folded));
            pairs.map(|(exact, folded)| Spelling { exact, folded })
        };
        let denied = |rules: &Rules| spellings().any(|prefix| rules.verdict(&prefix) == Some(true));
        let is_git_file = || subject == Subject::File && last_name(folded) == b".git";
        if self.deny.iter().any(denied) || (self.denies_git_file && is_git_file()) {
            return false;
        }
        self.allow.iter().all(|allow| {
            let verdicts = spellings().filter_map(|prefix| allow.rules.verdict(&prefix));
            (subject == Subject::Directory && allow.is_way(path))
                || verdicts.last().unwrap_or(false)
        })
    }
}

/// The rules of a list, behind what is denied before it.
fn denied(first: &[&'static str], list: Denying<'_>) -> Result<Rules, PatternError> {
    let own = list.patterns.iter().map(String::as_str);
    Rules::new(first.iter().copied().chain(own), Folded::Naming)
}

impl Allowed {
    fn is_way(&self, path: &[u8]) -> bool {
        self.ways.is_match(path)
    }

    fn new(patterns: &[String]) -> Result<Self, PatternError> {
        let rules = Rules::new(patterns.iter().map(String::as_str), Folded::TakingBack)?;
        let mut ways = Vec::new();
        for pattern in patterns.iter().filter(|pattern| !pattern.starts_with('!')) {
            let glob = translate(pattern).and_then(|glob| {
                ways_to(&glob)
                    .iter()
                    .map(|way| Read::new(way, false))
                    .collect::<Result<Vec<_>, _>>()
            });
            ways.extend(glob.map_err(|reason| PatternError {
                pattern: pattern.clone(),
                reason,
            })?);
        }
        Ok(Self {
            rules,
            ways: Globs::new(ways.into_iter().zip(0..))?,
        })
    }
}

/// Globs of the directories that lead to what a glob names: for `a/b/*.md`, `a` and `a/b`.
fn ways_to(glob: &str) -> Vec<String> {
    let names: Vec<&str> = glob.split('/').collect();
    let mut ways = Vec::new();
    for end in 1..names.len() {
        ways.push(names[..end].join("/"));
        if names[end - 1] == "**" {
            break;
        }
    }
    ways
}

fn last_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// `a/b/c` as `a`, `a/b`, and itself.
fn prefixes(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    ends.map(|(end, _)| end)
        .chain([path.len()])
        .map(|end| &path[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::Denied;

    fn judge(allow: &[&str], deny: &[&str], protect_secrets: bool) -> Judge {
        let owned = |patterns: &[&str]| patterns.iter().map(|&p| p.to_owned()).collect();
        let patterns = Patterns {
            allow: owned(allow),
            deny: owned(deny),
            protect_secrets,
            ..Patterns::default()
        };
        Judge::new(&patterns).unwrap().unwrap()
    }

    fn admits(judge: &Judge, path: &str) -> bool {
        judge.admits(path.as_bytes(), Subject::File)
    }

    #[test]
    fn what_lies_below_a_denied_name_is_denied() {
        let judge = judge(&[], &["private", "!private/open.md"], false);
        for path in [
            "private",
            "private/x",
            "a/private/b/c",
            "private/open.md",
            "PRIVATE/x",
            "private./x",
        ] {
            assert!(!admits(&judge, path), "{path}");
        }
        for path in ["privately", "a/x", "", "."] {
            assert!(admits(&judge, path), "{path}");
        }
    }

    /// `é` in one character, and in two.
    #[test]
    fn what_is_denied_in_one_normal_form_is_so_in_the_other() {
        let (one, two) = ("caf\u{e9}", "cafe\u{301}");
        for pattern in [one, two, "caf*"] {
            for name in [one, two, "CAF\u{c9}", "CAFE\u{301}"] {
                let judge = judge(&[], &[pattern], false);
                assert!(!admits(&judge, name), "{pattern:?} {name:?}");
                assert!(
                    !admits(&judge, &format!("a/{name}/b")),
                    "{pattern:?} {name:?}"
                );
            }
        }
        // What matches letter by letter goes on to do so.
        assert!(!admits(&judge(&[], &["cafe*"], false), two));
        assert!(admits(&judge(&[], &[one], false), "cafe"));
        // What widens is taken as it is written.
        assert!(!admits(&judge(&[one], &[], false), two));
        assert!(admits(&judge(&[one], &[], false), one));
        assert!(!admits(&judge(&[], &[one, &format!("!{two}")], false), one));
        assert!(!admits(&judge(&["*", &format!("!{one}")], &[], false), two));
    }

    /// The iota below a letter folds to a letter, which no mark goes past.
    #[test]
    fn what_is_denied_is_so_in_every_order_of_its_marks() {
        let spellings = [
            "\u{1fb4}",
            "\u{1fb3}\u{301}",
            "\u{3b1}\u{345}\u{301}",
            "\u{3b1}\u{301}\u{345}",
            "\u{391}\u{301}\u{399}",
            "\u{3ac}\u{34f}\u{345}",
        ];
        for pattern in spellings {
            let judge = judge(&[], &[pattern], false);
            for name in spellings {
                assert!(!admits(&judge, name), "{pattern:?} {name:?}");
            }
            assert!(admits(&judge, "\u{3b1}"));
        }
    }

    #[test]
    fn what_is_denied_by_one_of_its_characters_is_so_in_every_spelling() {
        #[rustfmt::skip]
        let rows: [(&str, &[&str], &[&str]); 16] = [
            ("[é].md",      &["é.md", "É.md", "e\u{301}.md", "E\u{301}.md"], &["è.md", "e.md", "ee.md"]),
            ("[e\u{301}]x", &["éx", "Éx"],                 &["ex"]),
            ("[à-ü]",       &["ö", "Ö", "a\u{300}"],        &["a", "ÿ", "o"]),
            ("[!é]x",       &["èx", "ax", "語x", "ŉx", "ßx"],  &["éx", "Éx", "x", "aax"]),
            ("*[語]*",      &["a語b"],                      &["a誝b"]),
            ("[ß].md",      &["ß.md", "ẞ.md", "SS.md"],     &["s.md"]),
            ("[A-z]x",      &["_x", "ax", "Ax", "[x"],      &["1x", "éx"]),
            ("[Z-a]x",      &["zx", "Ax", "_x"],            &["bx"]),
            ("[[:upper:]]x", &["ax", "Ax"],                 &["1x", "éx"]),
            ("[K]ey",       &["\u{212a}ey", "key"],         &["ley"]),
            ("[ı]x",        &["ix", "Ix", "ıx"],            &["jx"]),
            ("?.md",        &["é.md", "e\u{301}.md", "語.md", "ß.md", "ŉ.md"], &["ss.md", ".md"]),
            ("a?b",         &["a\u{1f600}b"],               &["a/b", "ab", "aéxb"]),
            ("[a/é]b",      &["ab", "éb"],                  &["/b", "c/b"]),
            ("x[é]/*",      &["xé/a", "XÉ/a/b"],            &["xé", "x/a"]),
            ("x[.]",        &["x.", "X."],                  &["x"]),
        ];
        for (pattern, denied, others) in rows {
            let judge = judge(&[], &[pattern], false);
            for path in denied {
                assert!(!admits(&judge, path), "{pattern:?} {path:?}");
                let below = format!("{path}/below");
                assert!(!admits(&judge, &below), "{pattern:?} {below:?}");
            }
            for path in others {
                assert!(admits(&judge, path), "{pattern:?} {path:?}");
            }
        }
    }

    #[test]
    fn a_byte_that_is_no_text_is_a_character() {
        for (pattern, path, denied) in [
            ("?x", &b"\xffx"[..], true),
            ("??x", b"\xffx", false),
            ("??x", b"\xe8\xaax", true),
            ("?[!é]x", b"\xff\xc3x", true),
            ("[é]x", b"\xc3x", false),
            ("é?x", b"\xc3\xa9\xffx", true),
        ] {
            let judge = judge(&[], &[pattern], false);
            assert_eq!(
                !judge.admits(path, Subject::File),
                denied,
                "{pattern} {path:?}"
            );
        }
    }

    #[test]
    fn what_is_allowed_by_one_of_its_characters_is_so_as_it_is_written() {
        let judge = judge(&["/[é]/?.md", "!/é/[ß].md"], &["x"], false);
        for path in ["é/a.md", "é/語.md"] {
            assert!(admits(&judge, path), "{path}");
        }
        for path in [
            "É/a.md",
            "e\u{301}/a.md",
            "é/ab.md",
            "é/ß.md",
            "é/ẞ.md",
            "è/a.md",
        ] {
            assert!(!admits(&judge, path), "{path}");
        }
        let way = |path: &str| judge.admits(path.as_bytes(), Subject::Directory);
        assert!(way("é") && !way("è") && !way("e"));
    }

    #[test]
    fn the_last_pattern_counts_also_among_those_of_characters() {
        for (patterns, denied) in [
            (&["[é]*", "!é.md"][..], false),
            (&["!é.md", "[é]*"], true),
            (&["é*", "!?.md"], false),
            (&["!?.md", "é*", "x"], true),
            (&["é*", "!?.md", "[é].md"], true),
        ] {
            let judge = judge(&[], patterns, false);
            assert_eq!(!admits(&judge, "é.md"), denied, "{patterns:?}");
        }
    }

    #[test]
    fn a_name_that_is_taken_back_is_so_in_its_own_letters_only() {
        let judge = judge(&[], &["!.env.example"], true);
        assert!(admits(&judge, ".env.example"));
        assert!(!admits(&judge, ".ENV.example"));
        assert!(!admits(&judge, ".env"));
    }

    #[test]
    fn a_git_that_is_taken_back_is_so_as_a_directory_only() {
        let judge = judge(&[], &["!.git", "!.GIT"], true);
        let as_directory = |path: &str| judge.admits(path.as_bytes(), Subject::Directory);
        for path in [
            ".git",
            "a/.git",
            ".git/refs/remotes",
            ".git/HEAD",
            "a.git/.git",
        ] {
            assert_eq!(as_directory(path), !path.starts_with("a.git"), "{path}");
        }
        for path in [".git", "a/.git", "a/.GIT", "a/.git.", ".git/.git"] {
            assert!(!admits(&judge, path), "{path}");
        }
        for path in [
            ".git/HEAD",
            "a/.git/refs/remotes/o/main",
            ".gitignore",
            "a/git",
        ] {
            assert!(admits(&judge, path), "{path}");
        }
    }

    #[test]
    fn only_what_is_allowed_is_admitted_and_directories_on_the_way() {
        let judge = judge(
            &["docs/**/*.md", "/data", "!draft.md"],
            &["secret.md"],
            false,
        );
        for path in ["docs/a.md", "docs/x/y/a.md", "data", "data/any/thing"] {
            assert!(admits(&judge, path), "{path}");
        }
        for path in [
            "docs",
            "docs/a.txt",
            "a.md",
            "Docs/a.md",
            "data/draft.md",
            "docs/secret.md",
        ] {
            assert!(!admits(&judge, path), "{path}");
        }
        let way = |path: &str| judge.admits(path.as_bytes(), Subject::Directory);
        for path in ["docs", "docs/x", "docs/x/y", "data", "data/any"] {
            assert!(way(path), "{path}");
        }
        for path in ["src", "database", "src/docs"] {
            assert!(!way(path), "{path}");
        }
    }

    #[test]
    fn any_directory_can_lead_to_a_name_without_a_slash() {
        let judge = judge(&["*.md"], &[], false);
        assert!(judge.admits(b"a/b", Subject::Directory));
        assert!(!judge.admits(b"a/b", Subject::File));
    }

    /// Neither list widens the other, whichever is said first.
    #[test]
    fn what_is_touched_has_to_be_named_by_every_list_that_allows() {
        let lists = |first: &[&str], second: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|&p| p.to_owned()).collect();
            let patterns = Patterns {
                allow: owned(first),
                allow_also: vec![owned(second), Vec::new()],
                ..Patterns::default()
            };
            Judge::new(&patterns).unwrap().unwrap()
        };
        let (docs, markdown): (&[&str], &[&str]) = (&["/docs/**"], &["*.md", "!draft.md"]);
        for judge in [lists(docs, markdown), lists(markdown, docs)] {
            assert!(admits(&judge, "docs/a.md"));
            assert!(admits(&judge, "docs/x/a.md"));
            for path in ["a.md", "docs/a.txt", "docs", "docs/draft.md", "src/a.md"] {
                assert!(!admits(&judge, path), "{path}");
            }
            let way = |path: &str| judge.admits(path.as_bytes(), Subject::Directory);
            assert!(way("docs") && way("docs/x"));
            assert!(!way("src"));
        }
    }

    /// Whichever is said first: a `!` is about its own list.
    #[test]
    fn no_list_takes_back_what_another_one_denies() {
        let list = |patterns: &[&str], protect_secrets| Denied {
            patterns: patterns.iter().map(|&p| p.to_owned()).collect(),
            protect_secrets,
        };
        let judge = |first: Denied, second: Denied| {
            let patterns = Patterns {
                deny: first.patterns,
                protect_secrets: first.protect_secrets,
                deny_also: vec![second, Denied::default()],
                ..Patterns::default()
            };
            Judge::new(&patterns).unwrap().unwrap()
        };
        #[rustfmt::skip]
        let rows: [(Denied, Denied, &str, bool); 8] = [
            (list(&["*.md"], false),              list(&["x", "!notes.md"], false),   "notes.md",     false),
            (list(&["*.md", "!notes.md"], false), list(&["x"], false),                "notes.md",     true),
            (list(&["*.md", "!notes.md"], false), list(&["notes.*"], false),          "notes.md",     false),
            (list(&[], true),                     list(&["x", "!.env"], false),       ".env",         false),
            (list(&[], true),                     list(&["x", "!.git"], false),       ".git",         false),
            (list(&["!.env.example"], true),      list(&["x"], false),                ".env.example", true),
            (list(&["!.env.example"], true),      list(&[], true),                    ".env.example", false),
            (list(&["!.git"], true),              list(&["!.git"], true),             ".git/HEAD",    true),
        ];
        for (one, other, path, admitted) in rows {
            for judge in [
                judge(one.clone(), other.clone()),
                judge(other.clone(), one.clone()),
            ] {
                assert_eq!(admits(&judge, path), admitted, "{one:?} {other:?} {path}");
            }
        }
    }

    #[test]
    fn every_secret_is_denied_at_the_top_and_below() {
        let judge = judge(&[], &[], true);
        let examples = [
            ".env",
            ".env.local",
            ".envrc",
            ".ssh/known_hosts",
            "id_rsa",
            "id_ed25519.pub",
            "server.pem",
            ".git/hooks/pre-commit",
            ".git/config",
            ".git/modules/m/hooks/x",
            ".git",
            ".git/commondir",
            ".git/worktrees/w/commondir",
            ".git/worktrees/w/gitdir",
            ".git/worktrees/w/config.worktree",
            ".git/modules/a/b/config",
            ".git/HEAD",
            ".git/rebase-merge/git-rebase-todo",
            ".git/refs/heads/config",
            "project.git/config",
            ".bare/config",
            ".hg/wcache/x",
            ".jj/repo/config.toml",
            ".svn/auth/svn.simple/x",
            ".bash_history",
            "wallet.dat",
            "secrets.yaml",
            "credentials.json",
            ".gitconfig",
            ".hg/hgrc",
            "prod.env",
            "prod.tfvars",
            "kubeconfig",
            ".s3cfg",
            ".password-store/mail.gpg",
            ".config/rclone/rclone.conf",
            ".mylogin.cnf",
            "server.pem~",
            ".aws/credentials",
            ".config/gcloud/x",
            ".docker/config.json",
            ".netrc",
            ".kube/config",
            ".cargo/credentials.toml",
            "terraform.tfstate",
        ];
        for path in examples {
            assert!(!admits(&judge, path), "{path}");
            assert!(!admits(&judge, &format!("a/b/{path}")), "a/b/{path}");
        }
        for path in [
            "environment",
            "docs/keys.md",
            ".github/workflows/ci.yml",
            ".gitignore",
            "src/config",
            "git/HEAD",
            "secrets.rs",
            "src/environment.rs",
            "kubeconfig.md",
        ] {
            assert!(admits(&judge, path), "{path}");
        }
        assert!(!judge.admits(b".git", Subject::Directory));
    }

    #[test]
    fn a_git_that_is_taken_back_still_keeps_what_git_runs() {
        let protected = judge(&[], &[], true);
        for path in [".git", "a/.git", ".GIT", ".git."] {
            assert!(!admits(&protected, path), "{path}");
        }
        let taken_back = judge(&[], &["!.git"], true);
        for path in [
            ".git/HEAD",
            ".git/refs/heads/main",
            ".git/refs/remotes/o/main",
        ] {
            assert!(admits(&taken_back, path), "{path}");
        }
        for path in [
            ".git/config",
            ".git/hooks/pre-commit",
            ".git/worktrees/w/config.worktree",
            ".git/modules/a/b/config",
            ".git/modules/a/hooks/x",
            ".git/commondir",
            ".git/worktrees/w/gitdir",
            ".git/objects/info/alternates",
            ".git/rebase-merge/git-rebase-todo",
            ".git/worktrees/w/rebase-merge/git-rebase-todo",
            ".git/rebase-apply/0001",
            ".git/sequencer/todo",
        ] {
            assert!(!admits(&taken_back, path), "{path}");
        }
        assert!(admits(&judge(&[], &["*.pem"], false), ".git"));
    }
}
