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
