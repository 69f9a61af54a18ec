//! The rules for path text (which spellings a tool may use, and why not).
//!
//! This check runs at every WASI call before any I/O. It improves messages; it is not the
//! boundary. The boundary is the directory handle and the kernel's walk beneath it, so no
//! function here decides what is reachable.

use crate::error::{CallError, code};
use crate::hook;

/// Longest path that Linux takes, without the closing NUL (`PATH_MAX` - 1).
const MAX_PATH_BYTES: usize = 4095;
/// Longest name that Linux file systems take (`NAME_MAX`).
const MAX_NAME_BYTES: usize = 255;

/// Characters in the longest device name of Windows, `CONOUT$`.
const LONGEST_DEVICE: usize = 7;

/// What the operator wants of path spellings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRules {
    /// Refuse any `..`, also one that stays inside. Default: false.
    pub strict: bool,
    /// Refuse names that mean something else on another system, and new names that
    /// deceive a reader. Default: true.
    pub portable_names: bool,
}

impl Default for PathRules {
    fn default() -> Self {
        Self {
            strict: false,
            portable_names: true,
        }
    }
}

/// What the path is used for, as far as its spelling matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Looked up; a file or a directory.
    Any,
    /// Read as a file.
    ReadFile,
    /// Written, created or removed as a file.
    TargetFile,
    /// Created or removed as a directory, or renamed.
    TargetAny,
}

impl Use {
    fn is_target(self) -> bool {
        matches!(self, Self::TargetFile | Self::TargetAny)
    }

    fn is_file(self) -> bool {
        matches!(self, Self::ReadFile | Self::TargetFile)
    }
}

/// Refuses a path that no tool may use. Rows are tried in the order of the documented
/// table; the first that fits answers.
///
/// `at_root` says whether the path starts at a root; only there does `~` look like a home
/// directory.
pub(crate) fn check(
    path: &str,
    rules: PathRules,
    usage: Use,
    at_root: bool,
) -> Result<(), CallError> {
    match first_row(path, rules, usage, at_root) {
        Some(_) if hook::guard_is_blind() => Ok(()),
        None => Ok(()),
        Some(reason) => Err(invalid(reason)),
    }
}

fn first_row(path: &str, rules: PathRules, usage: Use, at_root: bool) -> Option<&'static str> {
    if is_plain_name(path) {
        let device = rules.portable_names && is_windows_device(path);
        return device.then_some("windows-device");
    }
    if path.is_empty() {
        return Some("empty");
    }
    if is_unc(path) {
        return Some("unc");
    }
    if is_absolute(path) || has_url_scheme(path) {
        return Some("absolute");
    }
    if at_root && is_home(path) {
        return Some("home");
    }
    if climbs_out(path) || (rules.strict && path.split(is_separator).any(|name| name == "..")) {
        return Some("traversal");
    }
    if path.contains('\0') {
        return Some("nul");
    }
    if path.chars().any(char::is_control) {
        return Some("control");
    }
    if rules.portable_names
        && let Some(reason) = foreign_meaning(path)
    {
        return Some(reason);
    }
    if has_listing_escape(path) {
        return Some("backslash");
    }
    if path.len() > MAX_PATH_BYTES || path.split('/').any(|name| name.len() > MAX_NAME_BYTES) {
        return Some("too-long");
    }
    if usage.is_target()
        && let Some(reason) = not_a_target(path)
    {
        return Some(reason);
    }
    (usage.is_file() && ends_as_directory(path, usage)).then_some("trailing-slash")
}

/// Refuses what is too long from the root, however short it is from the directory it starts
/// at.
pub(crate) fn check_length(bytes: usize) -> Result<(), CallError> {
    match bytes {
        0..=MAX_PATH_BYTES => Ok(()),
        _ => Err(invalid("too-long")),
    }
}

/// Whether no row but the one of device names can be about the path. Listings ask about
/// every name, and nearly all names are of this kind.
fn is_plain_name(path: &str) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let bytes = path.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.len() <= MAX_NAME_BYTES
        && bytes.iter().all(plain)
}

/// Refuses a *new* name that deceives a reader.
pub(crate) fn check_new_name(name: &str, rules: PathRules) -> Result<(), CallError> {
    if rules.portable_names && is_deceptive(name) {
        return Err(invalid("unsafe-name"));
    }
    Ok(())
}

/// Whether an existing name, as a listing shows it, could be used in a path.
pub(crate) fn is_usable_name(name: &str, rules: PathRules) -> bool {
    first_row(name, rules, Use::Any, false).is_none()
}

/// Splits a checked path into its parent (`.` when there is none) and its last name.
/// Slashes and `/.` at the end are not part of the name. `None` when the path names no
/// entry of its parent: `.`, `..`, `a/..`.
pub(crate) fn split_last(path: &str) -> Option<(&str, &str)> {
    let mut trimmed = path.trim_end_matches('/');
    while let Some(shorter) = trimmed.strip_suffix("/.") {
        trimmed = shorter.trim_end_matches('/');
    }
    let (parent, name) = match trimmed.rsplit_once('/') {
        Some((parent, name)) => (parent, name),
        None => (".", trimmed),
    };
    (!name.is_empty() && name != "." && name != "..").then_some((parent, name))
}

fn invalid(reason: &'static str) -> CallError {
    let (message, hint) = words(reason);
    CallError::new(code::INVALID_PATH, message)
        .reason_of(reason)
        .hint_of(hint)
}

const RELATIVE: &str = "give a path relative to the granted directory, such as `notes/todo.md`; `.` is the directory itself";

fn words(reason: &str) -> (&'static str, &'static str) {
    match reason {
        "empty" => ("the path is empty", RELATIVE),
        "unc" => ("the path is a network or device path", RELATIVE),
        "absolute" => ("the path is absolute or a URL", RELATIVE),
        "home" => (
            "the path starts with `~`, which is not expanded",
            "give a path relative to the granted directory; for a file that is really named so, put `./` in front",
        ),
        "traversal" => (
            "the path climbs out of its directory with `..`",
            "only what lies below the granted directory can be reached",
        ),
        "nul" => (
            "the path contains a NUL character",
            "remove the NUL character",
        ),
        "control" => (
            "the path contains a control character",
            "remove line breaks, tabs and other control characters from the path",
        ),
        "windows-drive" => ("the path starts with a drive letter", RELATIVE),
        "windows-device" => (
            "a name in the path is a device name on Windows",
            "choose another name",
        ),
        "windows-stream" => (
            "the path contains a colon, which names a stream on Windows",
            "leave out `:` and what follows it, such as a line number, or choose another name",
        ),
        "backslash" => (
            "the path contains a backslash",
            "separate directories with `/`; a name that a listing shows with `usable: false` cannot be opened",
        ),
        "too-long" => (
            "a name is longer than 255 bytes or the path longer than 4095",
            "use shorter names",
        ),
        "root" => (
            "the path is the granted directory itself",
            "name a file or directory inside it",
        ),
        "trailing-slash" => (
            "the path ends like a directory where a file is meant",
            "remove the `/` or `/.` at the end",
        ),
        "unsafe-name" => (
            "the new name contains invisible or direction-changing characters, or ends in a dot or a space",
            "choose a name that reads as it is",
        ),
        "reserved" => (
            "the name is reserved for files that are being written",
            "choose another name",
        ),
        _ => ("the path cannot be used", RELATIVE),
    }
}

/// The refusal of a name that the host uses while it stages a file.
pub(crate) fn reserved_name() -> CallError {
    invalid("reserved")
}

fn is_separator(c: char) -> bool {
    c == '/' || c == '\\'
}

/// Two leading separators, a name, a separator, a name; or the prefixes `\\?\` and `\\.\`.
fn is_unc(path: &str) -> bool {
    let Some(rest) = path
        .strip_prefix(is_separator)
        .and_then(|rest| rest.strip_prefix(is_separator))
    else {
        return false;
    };
    let Some((server, share)) = rest.split_once(is_separator) else {
        return false;
    };
    let named = |part: &str| !part.is_empty() && !part.starts_with(is_separator);
    server == "?" || server == "." || (named(server) && named(share))
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(is_separator)
}

/// A scheme as in RFC 3986, section 3.1, followed by `://`. One letter is a drive.
fn has_url_scheme(path: &str) -> bool {
    let Some((scheme, rest)) = path.split_once(':') else {
        return false;
    };
    rest.starts_with("//")
        && scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'))
}

/// `~`, `~/…` or `~name/…`; a shell would expand these.
fn is_home(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('~') else {
        return false;
    };
    rest.is_empty()
        || rest.split_once('/').is_some_and(|(name, _)| {
            name.chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        })
}

fn climbs_out(path: &str) -> bool {
    let mut depth = 0_i32;
    for name in path.split(is_separator) {
        match name {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

fn foreign_meaning(path: &str) -> Option<&'static str> {
    let bytes = path.as_bytes();
    if bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' {
        return Some("windows-drive");
    }
    if path.split(is_separator).any(is_windows_device) {
        return Some("windows-device");
    }
    if path.contains(':') {
        return Some("windows-stream");
    }
    path.contains('\\').then_some("backslash")
}

/// Whether Windows takes a name for a device. Device names keep their meaning in any case, in any
/// directory, with any extension, and with spaces before it; digits include the superscripts
/// (CVE-2024-51745).
#[must_use]
pub fn is_windows_device(name: &str) -> bool {
    let stem = name
        .split(['.', ':'])
        .next()
        .unwrap_or(name)
        .trim_end_matches(' ');
    // Every name is asked about, and few are short enough; upper case is never shorter.
    if stem.chars().nth(LONGEST_DEVICE).is_some() {
        return false;
    }
    let upper = stem.to_uppercase();
    if matches!(
        upper.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CLOCK$" | "CONIN$" | "CONOUT$"
    ) {
        return true;
    }
    let Some(digit) = upper
        .strip_prefix("COM")
        .or_else(|| upper.strip_prefix("LPT"))
    else {
        return false;
    };
    let mut digits = digit.chars();
    matches!(digits.next(), Some('0'..='9' | '¹' | '²' | '³')) && digits.next().is_none()
}

/// A byte that is not UTF-8 is listed as `\xHH`; a path with that spelling is never taken,
/// so that no listed name can open something else.
fn has_listing_escape(path: &str) -> bool {
    path.match_indices('\\').any(|(at, _)| {
        matches!(path.as_bytes()[at + 1..], [b'x', high, low, ..]
            if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
    })
}

/// A name or path as text, with bytes that are not UTF-8 as `\xHH`.
pub(crate) fn escaped(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len() + 8);
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Whether the path has nothing but names: no `.`, no `..`, no empty component.
pub(crate) fn has_only_names(path: &str) -> bool {
    path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

fn not_a_target(path: &str) -> Option<&'static str> {
    let mut depth = 0_i32;
    let mut last = ".";
    for name in path
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".")
    {
        depth += if name == ".." { -1 } else { 1 };
        last = name;
    }
    match (depth, last) {
        (0, _) => Some("root"),
        (_, "..") => Some("traversal"),
        _ => None,
    }
}

/// `f/.` names a directory as much as `f/` does. A reader finds out by opening it; a writer
/// must not, since the file would be written under its name without the ending.
fn ends_as_directory(path: &str, usage: Use) -> bool {
    path.ends_with('/') || (usage.is_target() && path.ends_with("/."))
}

/// Whether the text asks for a directory where either is allowed.
pub(crate) fn asks_for_directory(path: &str) -> bool {
    ends_as_directory(path, Use::TargetAny)
}

fn is_deceptive(name: &str) -> bool {
    name.ends_with(['.', ' '])
        || name.chars().any(|c| {
            matches!(c,
                // Bidirectional controls (Unicode Standard Annex 9, table of formatting characters).
                '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
                // Characters without width.
                | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY_NAMES: PathRules = PathRules {
        strict: false,
        portable_names: false,
    };

    fn reason(path: &str, usage: Use) -> Option<&'static str> {
        first_row(path, PathRules::default(), usage, true)
    }

    #[test]
    fn every_row_answers_with_its_reason() {
        let rows = [
            ("", "empty"),
            ("//host/share", "unc"),
            ("\\\\host\\share", "unc"),
            ("\\\\?\\", "unc"),
            ("\\\\.\\", "unc"),
            ("/\\server\\share", "unc"),
            ("/", "absolute"),
            ("//t", "absolute"),
            ("///t", "absolute"),
            ("\\", "absolute"),
            ("file:///x", "absolute"),
            ("~", "home"),
            ("~/x", "home"),
            ("~name/x", "home"),
            ("../x", "traversal"),
            ("a/../../x", "traversal"),
            ("..\\x", "traversal"),
            ("a/..\\../x", "traversal"),
            ("f\0.txt", "nul"),
            ("a\nb", "control"),
            ("a\u{7f}b", "control"),
            ("a\u{85}b", "control"),
            ("C:", "windows-drive"),
            ("C:x", "windows-drive"),
            ("C:\\x", "windows-drive"),
            ("CON", "windows-device"),
            ("d/nul.txt", "windows-device"),
            ("COM¹", "windows-device"),
            ("LPT9 .log", "windows-device"),
            ("CONIN$", "windows-device"),
            ("nul::$DATA", "windows-device"),
            ("dir/a:b", "windows-stream"),
            ("file::$DATA", "windows-stream"),
            ("a\\b", "backslash"),
        ];
        for (path, expected) in rows {
            assert_eq!(reason(path, Use::Any), Some(expected), "{path:?}");
        }
    }

    #[test]
    fn ordinary_names_pass() {
        for path in [
            ".",
            "./",
            "a/../b",
            "....",
            "..a/x",
            "a../x",
            "~$x.docx",
            "~root",
            "./~name/x",
            "CONSOLE",
            "COM10",
            "LPT",
            "-rf",
            "50%.txt",
            "%2e%2e/x",
            " lead",
            "d/",
            "a//b///t",
        ] {
            assert_eq!(reason(path, Use::Any), None, "{path:?}");
        }
    }

    #[test]
    fn length_limits_are_exact() {
        let name = |n| "n".repeat(n);
        assert_eq!(reason(&name(255), Use::Any), None);
        assert_eq!(reason(&name(256), Use::Any), Some("too-long"));
        let path = |n: usize| "a/".repeat(n / 2) + &name(n % 2);
        assert_eq!(reason(&path(4095), Use::Any), None);
        assert_eq!(reason(&path(4096), Use::Any), Some("too-long"));
    }

    #[test]
    fn the_root_is_never_a_target() {
        for path in [".", "./", "././", "d/.."] {
            assert_eq!(reason(path, Use::TargetAny), Some("root"), "{path:?}");
        }
        assert_eq!(reason("a/b/..", Use::TargetAny), Some("traversal"));
    }

    #[test]
    fn a_slash_at_the_end_is_not_a_file() {
        assert_eq!(reason("f/", Use::ReadFile), Some("trailing-slash"));
        assert_eq!(reason("f/", Use::TargetFile), Some("trailing-slash"));
        assert_eq!(reason("f/.", Use::TargetFile), Some("trailing-slash"));
        assert_eq!(reason("d/", Use::TargetAny), None);
    }

    #[test]
    fn new_names_must_read_as_they_are() {
        for name in [
            "a\u{202e}fdp.exe",
            "a\u{200b}",
            "trail.",
            "trail ",
            "\u{feff}x",
        ] {
            assert!(
                check_new_name(name, PathRules::default()).is_err(),
                "{name:?}"
            );
            assert!(check_new_name(name, ANY_NAMES).is_ok(), "{name:?}");
        }
        assert!(check_new_name("नमस्ते.txt", PathRules::default()).is_ok());
    }

    #[test]
    fn names_of_other_systems_can_be_allowed_but_not_what_escapes() {
        for path in ["C:x", "CON", "a:b", "a\\b", "x."] {
            assert_eq!(
                first_row(path, ANY_NAMES, Use::TargetFile, true),
                None,
                "{path:?}"
            );
        }
        for path in ["../x", "/x", "f\0", "~/x", ""] {
            assert!(
                first_row(path, ANY_NAMES, Use::Any, true).is_some(),
                "{path:?}"
            );
        }
    }

    #[test]
    fn a_listed_escape_never_names_a_file() {
        assert!(!is_usable_name("bad-\\xff", ANY_NAMES));
        assert!(is_usable_name("bad-\\xy", ANY_NAMES));
    }

    #[test]
    fn home_is_only_meant_at_a_root() {
        assert_eq!(
            first_row("~/x", PathRules::default(), Use::Any, false),
            None
        );
    }

    #[test]
    fn strict_rules_refuse_every_parent_step() {
        let strict = PathRules {
            strict: true,
            ..PathRules::default()
        };
        assert_eq!(
            first_row("a/../b", strict, Use::Any, true),
            Some("traversal")
        );
    }

    #[test]
    fn the_last_name_is_split_off() {
        assert_eq!(split_last("a"), Some((".", "a")));
        assert_eq!(split_last("a/b/"), Some(("a", "b")));
        assert_eq!(split_last("a//b/./"), Some(("a/", "b")));
        assert_eq!(split_last("a/.."), None);
        assert_eq!(split_last("."), None);
        assert_eq!(split_last("./."), None);
    }
}
