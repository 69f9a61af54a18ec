//! A glob that found nothing, and what it may have been meant to be: such globs are right as
//! they are, only that hardly any name is like them.

use super::Skipped;
use super::pattern::{Pattern, Spelling};

/// What to try in place of a glob that found nothing below `path`.
pub(crate) fn doubt(glob: &str, path: &str, skipped: &Skipped) -> Option<String> {
    misread(glob)
        .or_else(|| from_above(glob, path))
        .or_else(|| left_out(skipped))
        .or_else(|| part_of_a_name(glob))
}

/// What may be found where nothing was looked at.
pub(crate) fn left_out(skipped: &Skipped) -> Option<String> {
    let count = |count: u64, one: &str, several: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {several}"),
    };
    let ignored = (skipped.ignored > 0).then(|| {
        let what = count(skipped.ignored, "name was", "names were");
        format!("{what} left out by ignore files: `gitignore: false` takes them in")
    });
    let too_deep = (skipped.too_deep > 0).then(|| {
        let what = count(skipped.too_deep, "directory lies", "directories lie");
        format!("{what} too deep: give a larger `depth`, or start there with `path`")
    });
    let all: Vec<String> = ignored.into_iter().chain(too_deep).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// A glob that says something else than what was meant.
fn misread(glob: &str) -> Option<String> {
    quoted(glob)
        .or_else(|| foreign_separators(glob))
        .or_else(|| regular_expression(glob))
        .or_else(|| from_the_top(glob))
        .or_else(|| several(glob))
        .or_else(|| negated(glob))
}

fn negated(glob: &str) -> Option<String> {
    let rest = glob.strip_prefix('!')?;
    Some(format!(
        "`!` is taken for a part of names: `{rest}` finds those that it was to leave out, and \
         only the `glob` of `search_files` takes `!` for all others"
    ))
}

/// A path from the root where one from the start is meant.
fn from_above(glob: &str, path: &str) -> Option<String> {
    let start = path.trim_start_matches("./").trim_end_matches('/');
    let glob = glob.trim_start_matches("./");
    let rest = glob.strip_prefix(start)?.strip_prefix('/')?;
    let rest = is_usable(rest, !matches!(start, "" | "."))?;
    Some(format!(
        "a glob starts at `path`, which is `{start}` already: give `{rest}`"
    ))
}

/// Whether a text has what only regular expressions have.
pub(crate) fn is_regex(text: &str) -> bool {
    const SIGNS: [&str; 13] = [
        ".*", ".+", "\\.", "\\d", "\\w", "\\s", "\\b", "\\(", "(?", "[^", "]+", "]*", "|",
    ];
    text.starts_with('^') || text.ends_with('$') || SIGNS.iter().any(|sign| text.contains(sign))
}

fn quoted(glob: &str) -> Option<String> {
    let inner = ['"', '\'', '`'].into_iter().find_map(|quote| {
        let inner = glob.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.is_empty()).then_some(inner)
    });
    inner.map(|inner| format!("the quotes are taken for a part of names: give `{inner}`"))
}

fn regular_expression(glob: &str) -> Option<String> {
    let has_braces = glob.contains('{');
    // Alternatives of globs are for the next question.
    let is_one = is_regex(glob) && (!glob.contains('|') || is_regex(&glob.replace('|', "")));
    if !is_one || has_braces {
        return None;
    }
    let such_as = as_glob(glob).map_or_else(String::new, |glob| format!(": give `{glob}`"));
    Some(format!(
        "this is a glob and no regular expression; `*` stands for any characters{such_as}"
    ))
}

/// The same as a glob, where it is simple enough.
fn as_glob(regex: &str) -> Option<String> {
    let (start, regex) = match regex.strip_prefix('^') {
        Some(rest) => ("", rest),
        None => ("*", regex),
    };
    let (end, regex) = match regex.strip_suffix('$') {
        Some(rest) => ("", rest),
        None => ("*", regex),
    };
    let dot = "\u{0}";
    let body = regex
        .replace("\\.", dot)
        .replace(".*", "*")
        .replace(".+", "*");
    let is_simple = !body.contains(['\\', '(', ')', '|', '+', '^', '$', '[', '?']);
    let mut glob = format!("{start}{body}{end}").replace(dot, ".");
    while glob.contains("**") {
        glob = glob.replace("**", "*");
    }
    is_usable(&glob, is_simple)
}

fn foreign_separators(glob: &str) -> Option<String> {
    if !has_names_behind_backslashes(glob) {
        return None;
    }
    let (drive, rest) = glob.split_once(':').unwrap_or(("", glob));
    let has_drive = drive.len() == 1 && rest.starts_with('\\');
    let path = if has_drive { rest } else { glob };
    let path = path.replace('\\', "/");
    Some(match has_drive || path.starts_with('/') {
        true => top(&path),
        false => format!(
            "`\\` takes the meaning of what follows; directories are separated with `/`: give `{path}`"
        ),
    })
}

/// In regular expressions a single letter stands there, or a sign.
fn has_names_behind_backslashes(glob: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    let is_name = |text: &str| {
        let mut characters = text.chars();
        let is_word = characters
            .by_ref()
            .take(2)
            .filter(|c| is_of_name(*c))
            .count()
            == 2;
        is_word || text.is_empty() || text.starts_with('*')
    };
    let mut behind = glob.split('\\').skip(1).peekable();
    behind.peek().is_some() && behind.all(is_name) && !glob.contains(['^', '$', '+', '(', '|'])
}

fn from_the_top(glob: &str) -> Option<String> {
    let rest = glob.strip_prefix("file://").unwrap_or(glob);
    let rest = rest.strip_prefix('~').unwrap_or(rest);
    rest.starts_with('/').then(|| top(rest))
}

/// For a path from the root of the file system.
fn top(path: &str) -> String {
    let last = path.rsplit('/').next().unwrap_or(path);
    let give = match is_usable(last, true) {
        Some(last) => format!("; `{last}` finds it at any depth"),
        None => String::new(),
    };
    format!(
        "a glob starts at `path` below a granted directory, which a `/` in front means as well, \
         and not at the root of the file system{give}"
    )
}

/// Several globs in one text.
fn several(glob: &str) -> Option<String> {
    let is_between = |c: char| matches!(c, ',' | ';' | '|' | ' ');
    let globs: Vec<&str> = glob.split(is_between).filter(|it| !it.is_empty()).collect();
    let are_globs = globs.len() > 1 && globs.iter().all(|it| it.contains(['*', '.']));
    if !are_globs || glob.contains('{') {
        return None;
    }
    let all = format!("{{{}}}", globs.join(","));
    Some(format!("several globs are written in braces: give `{all}`"))
}

/// A plain word names what is called so, and nothing else.
fn part_of_a_name(glob: &str) -> Option<String> {
    let is_plain = !glob.contains(['*', '?', '[', '{', '\\']);
    let glob = glob.trim_end_matches('/');
    let (above, name) = glob.rsplit_once('/').unwrap_or(("", glob));
    // With a `/` inside, a glob is a path from the start.
    let anywhere = if above.is_empty() {
        String::new()
    } else {
        format!("**/{above}/")
    };
    is_plain.then(|| {
        format!(
            "a glob without `*` is the whole name: `{anywhere}*{name}*` finds what has it \
             inside, with `ignore_case: true` also as capitals"
        )
    })
}

fn is_usable(glob: &str, is_simple: bool) -> Option<String> {
    let is_glob = || Pattern::new(glob, Spelling::default()).is_ok();
    (is_simple && is_glob()).then(|| glob.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_found_nothing_is_told_what_to_give_instead() {
        for (glob, give) in [
            (r".*\.py$", "give `*.py`"),
            ("^foo", "give `foo*`"),
            (r"\.py$", "give `*.py`"),
            ("test_.*", "give `*test_*`"),
            ("report.+", "give `*report*`"),
            (r"^\d+\.txt$", "no regular expression"),
            ("(a|b).*", "no regular expression"),
            ("/abs/*.txt", "`*.txt` finds it at any depth"),
            ("/home/me/notes.md", "`notes.md` finds it"),
            ("~/x/*.py", "`*.py` finds it"),
            ("file:///x/*.py", "`*.py` finds it"),
            (r"C:\Users\me\*.txt", "`*.txt` finds it"),
            (r"src\*.rs", "give `src/*.rs`"),
            (r"src\docs\*.md", "give `src/docs/*.md`"),
            (r"\w\w\.md", "no regular expression"),
            ("\"*.md\"", "give `*.md`"),
            ("'*.md'", "give `*.md`"),
            ("*.ts,*.tsx", "give `{*.ts,*.tsx}`"),
            ("*.ts | *.tsx", "give `{*.ts,*.tsx}`"),
            ("*.ts *.tsx", "give `{*.ts,*.tsx}`"),
            ("todo", "`*todo*` finds"),
            ("docs/todo", "`**/docs/*todo*` finds"),
            ("!*.md", "`*.md` finds those"),
            ("TODO.md", "`*TODO.md*` finds"),
        ] {
            let said = doubt(glob, ".", &Skipped::default()).unwrap_or_default();
            assert!(said.contains(give), "{glob}: {said}");
        }
    }

    #[test]
    fn a_glob_from_above_the_start_is_told_to_begin_there() {
        for (glob, path, give) in [
            ("s/a.md", "s", "give `a.md`"),
            ("./s/t/*.md", "./s/t/", "give `*.md`"),
            ("s/a.md", ".", "`**/s/*a.md*`"),
            ("st/a.md", "s", "`**/st/*a.md*`"),
        ] {
            let said = doubt(glob, path, &Skipped::default()).unwrap();
            assert!(said.contains(give), "{glob} {path}: {said}");
        }
    }

    #[test]
    fn what_was_left_out_is_said_before_a_guess_and_behind_a_mistake() {
        let mut skipped = Skipped::default();
        (skipped.ignored, skipped.too_deep) = (1, 2);
        let said = doubt("a.md", ".", &skipped).unwrap();
        assert!(
            said.contains("1 name was left out by ignore files: `gitignore: false`"),
            "{said}"
        );
        assert!(said.contains("2 directories lie too deep"), "{said}");
        assert!(doubt("'a.md'", ".", &skipped).unwrap().contains("quotes"));
        assert_eq!(doubt("*.md", ".", &Skipped::default()), None);
    }

    #[test]
    fn ordinary_globs_are_not_doubted() {
        for glob in [
            "*.md",
            "src/**/*.rs",
            "*.{ts,tsx}",
            "[ab]?.txt",
            "**/x/*",
            "*todo*",
        ] {
            assert_eq!(doubt(glob, ".", &Skipped::default()), None, "{glob}");
        }
    }

    #[test]
    fn what_is_said_to_give_is_a_glob() {
        for glob in [r".*\.py$", "^foo", "/abs/[a-z]*.txt", "*.a,*.b", "a/b"] {
            let said = doubt(glob, ".", &Skipped::default()).unwrap();
            let given = said.split('`').skip(1).step_by(2);
            let mut globs = given.filter(|it| it.contains('*') && it.len() > 1);
            assert!(
                globs.all(|glob| Pattern::new(glob, Spelling::default()).is_ok()),
                "{said}"
            );
        }
    }

    #[test]
    fn regular_expressions_are_known_by_their_signs() {
        for text in ["^fn", "end$", r"fn \w+", "a|b", "x.*y", "[^a]", "[a-z]+"] {
            assert!(is_regex(text), "{text}");
        }
        for text in ["a.b", "f(x)", "x*", "a[0]", "$x"] {
            assert!(!is_regex(text), "{text}");
        }
    }
}
