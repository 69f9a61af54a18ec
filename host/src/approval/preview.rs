//! What a person sees of a change before answering.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use similar::TextDiff;

use crate::screen;

/// Files larger than this are not compared line by line.
const MAX_COMPARED: u64 = 256 << 10;
/// Lines of a diff that are shown.
const MAX_LINES: usize = 40;
/// Lines that are shown of what is too large to be compared, and how much of it is read.
const MAX_FIRST_LINES: usize = 12;
const MAX_BEGINNING: u64 = 16 << 10;
/// Letters of a line that are shown.
const MAX_WIDTH: usize = 160;
/// How long a comparison may look for the shortest difference; then a longer one will do.
const MAX_COMPARING: Duration = Duration::from_millis(500);

/// The old and the new content of a file.
#[derive(Debug)]
pub(crate) struct ContentChange {
    pub(crate) old: Option<OwnedFd>,
    pub(crate) new: Option<Arc<OwnedFd>>,
}

impl ContentChange {
    pub(super) fn diff(&self) -> Option<String> {
        let old = self.old.as_ref().map_or(Some(String::new()), read_text)?;
        let new = self.new.as_deref().map_or(Some(String::new()), read_text)?;
        let diff = TextDiff::configure()
            .timeout(MAX_COMPARING)
            .diff_lines(&old, &new);
        let text = diff.unified_diff().context_radius(2).to_string();
        let mut lines = clipped(&text, MAX_LINES, "");
        let more = text
            .split_terminator('\n')
            .count()
            .saturating_sub(MAX_LINES);
        if more > 0 {
            lines.push(format!("… {more} more lines"));
        }
        Some(lines.join("\n"))
    }

    /// How the new content begins, or the old where there is none: for what [`Self::diff`]
    /// cannot show.
    pub(super) fn beginning(&self) -> Option<String> {
        let (whose, file) = match (&self.new, &self.old) {
            (Some(new), _) => ("the new content", &**new),
            (None, Some(old)) => ("the content", old),
            (None, None) => return None,
        };
        let bytes = read(file, MAX_BEGINNING)?;
        let Some(text) = text_at_start(&bytes) else {
            return Some(format!("{whose} is not text"));
        };
        let lines = clipped(text, MAX_FIRST_LINES, "| ").join("\n");
        Some(format!("{whose} begins with\n{lines}\n…"))
    }
}

/// The first lines, as much of each as fits a screen, with nothing in them that deceives.
fn clipped(text: &str, most: usize, before: &str) -> Vec<String> {
    let shown = text.split_terminator('\n').take(most).map(|line| {
        let more = line.chars().count().saturating_sub(MAX_WIDTH);
        let start: String = line.chars().take(MAX_WIDTH).collect();
        match more {
            0 => format!("{before}{}", screen::escaped(&start)),
            _ => format!("{before}{}… {more} more letters", screen::escaped(&start)),
        }
    });
    shown.collect()
}

/// The text that these bytes begin with; a letter may be cut off at their end.
fn text_at_start(bytes: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    (!text.contains('\0')).then_some(text)
}

fn read_text(file: &OwnedFd) -> Option<String> {
    let size = rustix::fs::fstat(file).ok()?.st_size as u64;
    if size > MAX_COMPARED {
        return None;
    }
    String::from_utf8(read(file, size)?).ok()
}

/// The first bytes of a file.
fn read(file: &OwnedFd, most: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(most).ok()?];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::io::pread(file, &mut bytes[filled..], filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(_) => return None,
        }
    }
    bytes.truncate(filled);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_and_many_lines_are_cut_and_controls_escaped() {
        let text = format!("{}\nb\u{1b}[2J\r\nc\n", "a".repeat(200));
        let shown = clipped(&text, 2, "| ");
        let first = format!("| {}… 40 more letters", "a".repeat(160));
        assert_eq!(shown, [first.as_str(), "| b\\u{1b}[2J\\u{d}"]);
    }

    #[test]
    fn a_letter_that_is_cut_in_two_is_no_reason_to_call_it_no_text() {
        assert_eq!(text_at_start("aé".as_bytes()), Some("aé"));
        assert_eq!(text_at_start(&"aé".as_bytes()[..2]), Some("a"));
        assert_eq!(text_at_start(b"a\xffb"), None);
        assert_eq!(text_at_start(b"a\0b"), None);
    }
}
