//! Names as the host lists them.

/// The name to show, and whether it can be used as a path.
///
/// The host marks a name that no path can carry with a leading NUL, which no real name has,
/// and escapes the rest of it for display.
pub fn shown(name: &str) -> (&str, bool) {
    match name.strip_prefix('\0') {
        Some(display) => (display, false),
        None => (name, true),
    }
}

/// Whether two paths from one root are the same but for slashes and `.`. Links and `..` are not
/// looked into.
pub(super) fn is_same_path(one: &str, other: &str) -> bool {
    names(one).eq(names(other))
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !matches!(*name, "" | "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_and_dots_make_no_other_path() {
        for (one, other, is_same) in [
            ("a", "a", true),
            ("./a//b/", "a/b", true),
            ("a", "A", false),
            ("a/b", "b", false),
        ] {
            assert_eq!(is_same_path(one, other), is_same, "{one} {other}");
        }
    }
}
