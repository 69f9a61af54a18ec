//! What could not be read of a document that could.

use super::Error;

/// Warnings that are shown one by one.
pub(super) const MAX_WARNINGS: usize = 20;

/// Warnings, bounded whatever a document holds.
#[derive(Default)]
pub(super) struct Warnings {
    shown: Vec<String>,
    /// How many there are beyond those.
    more: usize,
}

impl Warnings {
    pub(super) fn push(&mut self, warning: &str) {
        if self.shown.len() < MAX_WARNINGS {
            self.shown.push(warning.to_owned());
        } else {
            self.more += 1;
        }
    }

    /// Turns what concerns one part only into a warning.
    pub(super) fn unless<T>(
        &mut self,
        what: &str,
        answer: Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        match answer {
            Err(error) if error.concerns_one_part() => {
                self.push(&format!("{what}: {}", error.message()));
                Ok(None)
            }
            answer => answer.map(Some),
        }
    }

    pub(super) fn into_list(mut self) -> Vec<String> {
        if self.more > 0 {
            let more = format!("{} more warnings are not shown", self.more);
            self.shown.push(more);
        }
        self.shown
    }
}
