//! File names as patches spell them.

/// The name in a `---`, `+++` or `rename` line: up to a tab, unquoted where git quoted it, and
/// not trimmed, since a blank may be its end.
/// Nothing for quotes that do not hold a name in UTF-8.
pub(super) fn name(field: &str) -> Option<String> {
    match field.strip_prefix('"') {
        Some(quoted) => unquoted(quoted),
        None => Some(field.split('\t').next().unwrap_or(field).to_owned()),
    }
}

/// Undoes git's quoting: that of C string literals.
fn unquoted(quoted: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes();
    loop {
        match rest.next()? {
            b'"' => return String::from_utf8(bytes).ok(),
            b'\\' => bytes.push(escaped(&mut rest)?),
            byte => bytes.push(byte),
        }
    }
}

fn escaped(rest: &mut impl Iterator<Item = u8>) -> Option<u8> {
    Some(match rest.next()? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'v' => 11,
        b'f' => 12,
        first @ b'0'..=b'3' => {
            let mut digit = || Some(rest.next()?.checked_sub(b'0')?).filter(|digit| *digit < 8);
            (first - b'0') * 64 + digit()? * 8 + digit()?
        }
        other => other,
    })
}

/// Takes `a/` and `b/` off, where both names have them as git writes them.
pub(super) fn without_prefixes(
    old: Option<String>,
    new: Option<String>,
) -> (Option<String>, Option<String>) {
    let has = |name: &Option<String>, prefix: &str| {
        name.as_deref().is_none_or(|name| name.starts_with(prefix))
    };
    if !(has(&old, "a/") && has(&new, "b/")) {
        return (old, new);
    }
    let cut = |name: String| name[2..].to_owned();
    (old.map(cut), new.map(cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_a_tab_and_are_unquoted() {
        assert_eq!(name("a/b c.txt\t2024-01-01").as_deref(), Some("a/b c.txt"));
        assert_eq!(name(r#""a/\303\244\t\"x""#).as_deref(), Some("a/ä\t\"x"));
        assert_eq!(name(r#""a/\377""#), None);
        assert_eq!(name(r#""a"#), None);
    }

    #[test]
    fn prefixes_come_off_in_pairs() {
        let pair = |old: Option<&str>, new: Option<&str>| {
            without_prefixes(old.map(str::to_owned), new.map(str::to_owned))
        };
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(pair(Some("a/x"), Some("b/x")), (named("x"), named("x")));
        assert_eq!(pair(None, Some("b/x")), (None, named("x")));
        assert_eq!(pair(Some("a/x"), Some("a/x")), (named("a/x"), named("a/x")));
    }
}
