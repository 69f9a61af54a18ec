//! Asking the person at the terminal.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use super::{ApprovalRequest, Approver, Decision, Scope, Unanswered};
use crate::ambient;
use crate::screen;
use crate::transaction::EffectReceipt;

/// The longest line that a terminal hands over (Linux's `N_TTY_BUF_SIZE`).
const MAX_LINE: usize = 4096;
/// Lines typed ahead that are read and forgotten; a terminal that hung up ends all reads at
/// once, without an error.
const MAX_FORGOTTEN: usize = 4096;
/// Digits of a hash that are shown: 64 bits, which nobody meets by chance. The answer is bound to all.
const SHORT_HASH: usize = 16;
/// How long an answer may lie before it is seen.
const PAUSE: Duration = Duration::from_millis(20);

/// Asks at the controlling terminal, not at the standard streams, which may belong to an
/// agent. Without a terminal nobody can be asked.
#[derive(Debug)]
pub struct TerminalApprover {
    patience: Duration,
    /// One question at a time: two would mix on the screen.
    asking: Mutex<()>,
}

impl Default for TerminalApprover {
    /// Waits up to five minutes for an answer.
    fn default() -> Self {
        Self::new(Duration::from_secs(300))
    }
}

impl TerminalApprover {
    /// Waits up to `patience` for an answer; none in time is a refusal.
    #[must_use]
    pub fn new(patience: Duration) -> Self {
        Self {
            patience,
            asking: Mutex::new(()),
        }
    }
}

impl Approver for TerminalApprover {
    fn decide(&self, request: &ApprovalRequest) -> Decision {
        let _one = self.asking.lock();
        let terminal = ambient::open_terminal();
        let keyboard = ambient::open_keyboard();
        let (Ok(mut terminal), Ok(mut keyboard)) = (terminal, keyboard) else {
            return Decision::Nobody;
        };
        forget_what_was_typed(&mut keyboard);
        if terminal.write_all(question(request).as_bytes()).is_err() {
            return Decision::Nobody;
        }
        match line_from(&mut keyboard, self.patience) {
            Some(line) => answer(&line),
            None => Decision::Unanswered(Unanswered::NotInTime),
        }
    }
}

/// What was typed before the question stood there was not meant for it.
fn forget_what_was_typed(keyboard: &mut File) {
    let mut line = [0; MAX_LINE];
    for _ in 0..MAX_FORGOTTEN {
        if keyboard.read(&mut line).is_err() {
            return;
        }
    }
}

/// The next line, or as much of it as was typed before the end of the input.
fn line_from(keyboard: &mut File, patience: Duration) -> Option<String> {
    let give_up = Instant::now() + patience;
    let mut line = Vec::new();
    let mut piece = [0; MAX_LINE];
    while !line.ends_with(b"\n") && line.len() < MAX_LINE {
        match keyboard.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => line.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() != ErrorKind::WouldBlock => return None,
            Err(_) if Instant::now() >= give_up => return None,
            Err(_) => thread::sleep(PAUSE),
        }
    }
    String::from_utf8(line).ok()
}

fn answer(line: &str) -> Decision {
    let approved = |scope| Decision::Approved {
        scope,
        by: "terminal".to_owned(),
    };
    match line.trim() {
        "y" | "yes" => approved(Scope::Call),
        "p" | "path" => approved(Scope::Paths),
        "s" | "session" => approved(Scope::Session),
        _ => Decision::refuse("terminal"),
    }
}

/// The question as it stands on the screen.
fn question(request: &ApprovalRequest) -> String {
    format!(
        "\n{}Allow? [y]es, this call · [p]aths, in this session · [s]ession, everything · [N]o: ",
        request.describe()
    )
}

pub(super) fn sentence(effect: &EffectReceipt) -> String {
    let place =
        |root: &str, path: &str| format!("{}:{}", screen::escaped(root), screen::escaped(path));
    let mut text = format!(
        "{} {}",
        effect.operation.as_str(),
        place(&effect.root, &effect.path)
    );
    if let Some((root, path)) = &effect.to {
        let _ = write!(text, " to {}", place(root, path));
    }
    if let Some(covers) = effect.covers {
        let _ = write!(text, ", {} files and {} bytes", covers.files, covers.bytes);
    }
    match (effect.bytes_before, effect.bytes) {
        (Some(before), Some(after)) => {
            let _ = write!(text, ", {before} bytes become {after}");
        }
        (Some(before), None) if effect.covers.is_none() => {
            let _ = write!(text, ", {before} bytes");
        }
        (None, Some(after)) => {
            let _ = write!(text, ", {after} bytes");
        }
        _ => {}
    }
    if let Some(sha256) = &effect.sha256 {
        let _ = write!(
            text,
            ", sha256 {}…",
            &sha256[..SHORT_HASH.min(sha256.len())]
        );
    }
    if let Some(version) = effect.version_before {
        let _ = write!(text, ", version {version}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Operation;

    fn request(path: &str) -> ApprovalRequest {
        ApprovalRequest {
            tool: "delete_file".into(),
            principal: "p".into(),
            session: "s".into(),
            digest: "0".repeat(64),
            effects: vec![EffectReceipt {
                operation: Operation::Delete,
                root: "work".into(),
                path: path.into(),
                to: None,
                bytes: None,
                bytes_before: Some(3),
                covers: None,
                sha256: None,
                version_before: None,
                version: None,
            }],
            contents: vec![None],
        }
    }

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        assert_eq!(answer("y\n"), Decision::approve_once("terminal"));
        for line in ["", "\n", "n", "Y?", "yep", "no\n"] {
            assert!(matches!(answer(line), Decision::Refused { .. }), "{line:?}");
        }
    }

    #[test]
    fn a_name_cannot_draw_on_the_screen() {
        let text = question(&request("a\u{1b}[2Jb\u{202e}c\n  approve everything"));
        assert!(
            text.contains("delete work:a\\u{1b}[2Jb\\u{202e}c\\u{a}  approve everything, 3 bytes")
        );
    }
}
