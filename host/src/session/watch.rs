//! A call as another thread sees it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::trace::TraceParent;

/// How far a call has got, seen from another thread, which may also end it: by
/// [`CallWatch::cancel`], or by [`Session::abandon`](crate::Session::abandon) where a system call does not return.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let inputs = tempfile::tempdir()?;
/// # let inputs = inputs.path();
/// use std::sync::Arc;
/// use rootbound::{AuditLog, CallOptions, CallWatch, Session, code};
///
/// let session = Session::builder().read_root(inputs).audit(AuditLog::none()).build()?;
/// let watch = Arc::new(CallWatch::default());
/// assert!(watch.cancel());
/// let options = CallOptions { watch: Some(watch), ..CallOptions::default() };
/// let cancelled = session.call_with("list_files", "{}", options).unwrap_err();
/// assert_eq!(cancelled.code(), code::CANCELLED);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct CallWatch {
    pub(super) call: OnceLock<(String, Option<TraceParent>)>,
    phase: AtomicU8,
    operations: AtomicU64,
}

/// A call runs, and then either commits or is ended from outside.
#[derive(Clone, Copy)]
pub(super) enum Phase {
    Running = 0,
    Committing = 1,
    Abandoned = 2,
    Cancelled = 3,
}

impl CallWatch {
    /// Stops the call and discards what it staged. Says whether that was possible: a call
    /// that has begun to commit, or was abandoned, goes its way.
    pub fn cancel(&self) -> bool {
        self.enter(Phase::Cancelled)
    }

    /// How many operations the tool has asked of the host so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    pub(crate) fn count_operation(&self) {
        self.operations.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == Phase::Cancelled as u8
    }

    /// Leaves `Running`, if nobody else has.
    pub(super) fn enter(&self, phase: Phase) -> bool {
        let (from, to) = (Phase::Running as u8, phase as u8);
        self.phase
            .compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }
}
