//! Who is asked before something is destroyed, and what an answer is good for.
//!
//! An approval is bound to a digest over the component, the tool, the grants and the
//! ordered effects. It is good for exactly those, once, for the same principal, for a
//! while. No tool and no argument can give one.

mod broker;
mod preview;
mod queue;
mod standing;
mod terminal;

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::error::{CallError, code};
use crate::screen;
use crate::transaction::EffectReceipt;

pub use broker::{Broker, BrokerAnswer};
pub(crate) use preview::ContentChange;
pub use queue::{ApprovalQueue, ApprovalState, QueueError, QueuedApproval};
pub(crate) use standing::Standing;
pub use terminal::TerminalApprover;

/// Lines of contents that one question shows; nobody reads more.
const MAX_PREVIEWED: usize = 200;

/// What an approver is asked: one tool call and everything it would do.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    /// The tool.
    pub tool: String,
    /// On whose behalf the call runs: the local user, or a name that a front-end gives.
    pub principal: String,
    /// The session, as the audit log names it; empty where none asks.
    pub session: String,
    /// SHA-256 over component, tool, grants and effects, 64 lower-case hexadecimal digits.
    /// Two requests with one digest ask for the same.
    pub digest: String,
    /// The changes, in the order in which they will be made. Empty for a tool that is not
    /// about files.
    pub effects: Vec<EffectReceipt>,
    pub(crate) contents: Vec<Option<Arc<ContentChange>>>,
}

impl ApprovalRequest {
    /// What would change in a text file, as a short unified diff: at most 40 lines of at most
    /// 160 letters, with control and direction-changing characters escaped. `None` where the
    /// effect is not about text or the file is large.
    #[must_use]
    pub fn diff(&self, effect: usize) -> Option<String> {
        self.contents.get(effect)?.as_ref()?.diff()
    }

    /// What can be shown of an effect's content: the differences, else how the content
    /// begins, else that it is not text. `None` where no content is at stake.
    #[must_use]
    pub fn preview(&self, effect: usize) -> Option<String> {
        let change = self.contents.get(effect)?.as_ref()?;
        change.diff().or_else(|| change.beginning())
    }

    /// The question for a person: what the tool wants, one line for each effect with the
    /// hash of new content, and below it what [`Self::preview`] shows, 200 lines of it in
    /// all. What strangers chose is escaped.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut text = format!("`{}` wants to\n", screen::escaped(&self.tool));
        let mut left = MAX_PREVIEWED;
        for (index, effect) in self.effects.iter().enumerate() {
            text.push_str("  ");
            text.push_str(&terminal::sentence(effect));
            text.push('\n');
            let preview = match left {
                0 => None,
                _ => self.preview(index),
            };
            for line in preview
                .iter()
                .flat_map(|preview| preview.lines())
                .take(left)
            {
                text.push_str("    ");
                text.push_str(line);
                text.push('\n');
                left -= 1;
            }
        }
        if left == 0 {
            text.push_str("  … no more contents are shown\n");
        }
        text
    }

    /// A short name for the request, from its digest.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.digest[..20]
    }
}

/// How far an approval reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// This call.
    Call,
    /// Changes to the same paths, in this session.
    Paths,
    /// Everything in this session.
    Session,
}

/// An approver's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The effects may happen.
    Approved {
        /// How far the answer reaches.
        scope: Scope,
        /// Who said so, for the audit log.
        by: String,
    },
    /// They may not.
    Refused {
        /// Who said so, for the audit log.
        by: String,
    },
    /// The question waits for an answer; the same call may be tried again then.
    Pending {
        /// By which it can be answered.
        id: String,
    },
    /// Nobody could be asked.
    Nobody,
    /// Somebody was asked, and nobody has said yes or no.
    Unanswered(Unanswered),
}

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unanswered {
    /// None came in time.
    NotInTime,
    /// Whoever was asked is gone.
    Gone,
    /// The call was cancelled meanwhile.
    Cancelled,
    /// What was to ask failed.
    Failed,
    /// The answer that came was used before.
    Used,
}

impl Unanswered {
    /// The `reason` of the answer and of the log's entry.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::NotInTime => "not-answered",
            Self::Gone => "client-gone",
            Self::Cancelled => "cancelled",
            Self::Failed => "approver-failed",
            Self::Used => "answer-used",
        }
    }

    fn refusal(self) -> CallError {
        let message = match self {
            Self::Cancelled => return CallError::cancelled(),
            Self::NotInTime => "nobody answered in time whether the change may be made",
            Self::Gone => "the client that was asked about the change is gone",
            Self::Failed => "the approver failed when it was asked about the change",
            Self::Used => "the answer about the change was used before",
        };
        CallError::new(code::APPROVAL_DENIED, message)
            .reason_of(self.reason())
            .hint_of("do not try the same change again without asking the user")
    }
}

impl Decision {
    /// An approval of this one call.
    #[must_use]
    pub fn approve_once(by: impl Into<String>) -> Self {
        Self::Approved {
            scope: Scope::Call,
            by: by.into(),
        }
    }

    /// A refusal.
    #[must_use]
    pub fn refuse(by: impl Into<String>) -> Self {
        Self::Refused { by: by.into() }
    }
}

/// Decides about effects that destroy, one question a call.
///
/// Any `Fn(&ApprovalRequest) -> Decision` that is `Send + Sync` is an approver;
/// [`AsyncApprover`] makes one of an async function. An approver that panics has refused.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let work = tempfile::tempdir()?;
/// # std::fs::write(work.path().join("old.md"), "x")?;
/// # let work = work.path();
/// use rootbound::{ApprovalRequest, AuditLog, Decision, Operation, Session};
///
/// let only_drafts = |request: &ApprovalRequest| {
///     let harmless = request.effects.iter().all(|effect| {
///         effect.operation == Operation::Delete && effect.path.starts_with("drafts/")
///     });
///     match harmless {
///         true => Decision::approve_once("only drafts"),
///         false => Decision::refuse("only drafts"),
///     }
/// };
/// let session = Session::builder()
///     .work_root(work)
///     .approver(only_drafts)
///     .audit(AuditLog::none())
///     .build()?;
/// let refused = session.call("delete_file", r#"{"path": "old.md"}"#).unwrap_err();
/// assert_eq!(refused.code(), "approval-denied");
/// # Ok(())
/// # }
/// ```
pub trait Approver: Send + Sync {
    /// Answers one request. Called after the tool has finished and before anything
    /// changes; the call's clock stands still meanwhile.
    fn decide(&self, request: &ApprovalRequest) -> Decision;

    /// A directory that no tool may reach, because answers are kept there.
    fn state_directory(&self) -> Option<&Path> {
        None
    }
}

impl<F> Approver for F
where
    F: Fn(&ApprovalRequest) -> Decision + Send + Sync,
{
    fn decide(&self, request: &ApprovalRequest) -> Decision {
        self(request)
    }
}

/// The default: there is nobody to ask, so nothing is approved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Approver for Nobody {
    fn decide(&self, _: &ApprovalRequest) -> Decision {
        Decision::Nobody
    }
}

/// Refuses whatever needs an approval.
#[derive(Clone, Copy, Debug, Default)]
pub struct RefuseEverything;

impl Approver for RefuseEverything {
    fn decide(&self, _: &ApprovalRequest) -> Decision {
        Decision::refuse("refuse-everything")
    }
}

/// Approves whatever is asked, without anybody having looked. The name is meant to be
/// noticed in review.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApproveEverythingUnseen;

impl Approver for ApproveEverythingUnseen {
    fn decide(&self, _: &ApprovalRequest) -> Decision {
        Decision::approve_once("approve-everything-unseen")
    }
}

/// An approver from an async function. The calling thread waits for the answer, at most
/// for the patience given; no answer in time is as good as a refusal.
#[derive(Clone, Copy, Debug)]
pub struct AsyncApprover<F> {
    ask: F,
    patience: Duration,
}

impl<F> AsyncApprover<F> {
    /// Asks with `ask`, and waits up to `patience`.
    pub fn new(ask: F, patience: Duration) -> Self {
        Self { ask, patience }
    }
}

impl<F, A> Approver for AsyncApprover<F>
where
    F: Fn(ApprovalRequest) -> A + Send + Sync,
    A: Future<Output = Decision>,
{
    fn decide(&self, request: &ApprovalRequest) -> Decision {
        wait_for((self.ask)(request.clone()), self.patience)
            .unwrap_or(Decision::Unanswered(Unanswered::NotInTime))
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn wait_for<T>(future: impl Future<Output = T>, patience: Duration) -> Option<T> {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let give_up = Instant::now() + patience;
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(value);
        }
        thread::park_timeout(give_up.checked_duration_since(Instant::now())?);
    }
}

/// Asks, and takes a panic for a refusal.
pub(crate) fn ask(approver: &dyn Approver, request: &ApprovalRequest) -> Decision {
    let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| approver.decide(request)));
    asked.unwrap_or(Decision::Unanswered(Unanswered::Failed))
}

/// The answer to a call whose approval was not given.
pub(crate) fn refusal_of(decision: &Decision) -> Option<CallError> {
    let required = |message: &str| CallError::new(code::APPROVAL_REQUIRED, message);
    match decision {
        Decision::Approved { .. } => None,
        Decision::Unanswered(why) => Some(why.refusal()),
        Decision::Refused { .. } => Some(
            CallError::new(code::APPROVAL_DENIED, "the approver refused the change")
                .hint_of("do not try the same change again without asking the user"),
        ),
        Decision::Pending { id } => Some(
            required("the change waits for an approval")
                .hint_of("ask the user to answer it, then make the same call again")
                .detail("approval", id.as_str()),
        ),
        Decision::Nobody => Some(
            required("the change needs an approval, and nobody is there to give it").hint_of(
                "ask the user to make the change, or to start the session with an approver",
            ),
        ),
    }
}
