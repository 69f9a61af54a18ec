//! What a person sees of a change before answering.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use similar::TextDiff;

use crate::screen;

/// Files larger than this are not compared line by line.
const MAX_COMPARED: u64 = 256 << 10;
/// Lines of a diff that are shown.
const MAX_LINES: usize = 40;

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
        let diff = TextDiff::from_lines(&old, &new);
        let text = diff.unified_diff().context_radius(2).to_string();
        let mut lines: Vec<String> = text.lines().take(MAX_LINES).map(screen::escaped).collect();
        let more = text.lines().count().saturating_sub(MAX_LINES);
        if more > 0 {
            lines.push(format!("… {more} more lines"));
        }
        Some(lines.join("\n"))
    }
}

fn read_text(file: &OwnedFd) -> Option<String> {
    let size = rustix::fs::fstat(file).ok()?.st_size as u64;
    if size > MAX_COMPARED {
        return None;
    }
    let mut bytes = vec![0; size as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::io::pread(file, &mut bytes[filled..], filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(_) => return None,
        }
    }
    bytes.truncate(filled);
    String::from_utf8(bytes).ok()
}
