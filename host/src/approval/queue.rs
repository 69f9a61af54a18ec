//! Questions and answers on disk, so that they survive a restart and can be answered from
//! another terminal.
//!
//! One file a question, named by its id, in a private directory. Every step takes the lock
//! of the directory; using an answer removes its file, which succeeds once.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{ApprovalRequest, Approver, Decision, Unanswered};
use crate::ambient::{self, DirectoryLock};
use crate::place::Place;

/// Questions that may wait at one time, so that a tool cannot fill the disk with them.
const MAX_WAITING: usize = 1000;
/// Those of one principal, so that none takes the room of all others.
const MAX_OF_ONE: usize = MAX_WAITING / 4;
/// How long a question and its answer are good.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
const SUFFIX: &str = ".json";
/// Bytes of a question: it holds the effects of one call, and previews that are bounded.
const MOST_BYTES: u64 = 64 << 20;

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// Nobody has answered yet.
    Pending,
    /// The next identical call is admitted, once.
    Approved,
    /// Identical calls are refused until the question expires.
    Denied,
}

/// A question, as it is listed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueuedApproval {
    /// By which it is answered.
    pub id: String,
    /// What became of it.
    pub state: ApprovalState,
    /// The tool that asked.
    pub tool: String,
    /// On whose behalf.
    pub principal: String,
    /// The session that asked first, as the audit log names it.
    #[serde(default)]
    pub session: String,
    /// The digest that the answer is bound to.
    pub digest: String,
    /// The effects, one sentence each; text of strangers is escaped.
    pub effects: Vec<String>,
    /// The whole question as [`ApprovalRequest::describe`] puts it, with what can be shown of
    /// contents.
    #[serde(default)]
    pub question: String,
    /// Seconds since 1970 at which question and answer are void.
    pub expires: u64,
}

/// Why the queue cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// No question has this id, or it has expired or was used.
    #[error("no approval with the id `{0}` waits")]
    Unknown(String),
    /// It was denied, and a no is final.
    #[error("the approval `{0}` was denied, and stays so until the question expires")]
    Denied(String),
    /// The directory cannot be used.
    #[error("the approval queue cannot be used: {0}")]
    Io(#[from] io::Error),
}

fn directory_of_user() -> io::Result<PathBuf> {
    let nowhere = || {
        io::Error::new(
            io::ErrorKind::NotFound,
            "neither XDG_STATE_HOME nor HOME is an absolute path",
        )
    };
    let state = ambient::state_directory().ok_or_else(nowhere)?;
    Ok(state.join("approvals"))
}

/// A queue of questions in a directory that only its user may enter.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (work, state) = (tempfile::tempdir()?, tempfile::tempdir()?);
/// # std::fs::write(work.path().join("old.md"), "x")?;
/// # let (work, state) = (work.path(), state.path().join("approvals"));
/// use rootbound::{ApprovalQueue, AuditLog, Session};
///
/// let queue = ApprovalQueue::open(&state)?;
/// let session = Session::builder()
///     .work_root(work)
///     .approver(queue.clone())
///     .audit(AuditLog::none())
///     .build()?;
/// let delete = || session.call("delete_file", r#"{"path": "old.md"}"#);
/// assert_eq!(delete().unwrap_err().code(), "approval-required");
///
/// // A person looks, perhaps in another process.
/// for question in queue.list()? {
///     assert!(question.effects[0].starts_with("delete "));
///     queue.approve(&question.id)?;
/// }
/// delete()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ApprovalQueue {
    directory: PathBuf,
    lifetime: Duration,
}

impl ApprovalQueue {
    /// Opens or makes a queue. The directory must lie outside every root; a session that
    /// uses it refuses to start otherwise.
    ///
    /// # Errors
    ///
    /// When the directory cannot be made, or others may enter it.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, QueueError> {
        let directory = directory.as_ref().to_owned();
        ambient::create_private_directory(&directory)?;
        ambient::require_private(&directory)?;
        Ok(Self {
            directory,
            lifetime: DEFAULT_LIFETIME,
        })
    }

    /// The user's queue, `$XDG_STATE_HOME/rootbound/approvals/`.
    ///
    /// # Errors
    ///
    /// As [`ApprovalQueue::open`], and when there is no state directory.
    pub fn in_state_directory() -> Result<Self, QueueError> {
        Self::open(directory_of_user()?)
    }

    /// The user's queue, which is not made where it is absent: for a session that only tells what
    /// it would be ([`SessionBuilder::preview`](crate::SessionBuilder::preview)).
    ///
    /// # Errors
    ///
    /// As [`ApprovalQueue::in_state_directory`].
    pub fn preview() -> Result<Self, QueueError> {
        let directory = directory_of_user()?;
        let place = Place::of(&directory)?;
        match place.is_there() {
            true => ambient::require_private(&directory)?,
            false => place.check_makeable()?,
        }
        Ok(Self {
            directory,
            lifetime: DEFAULT_LIFETIME,
        })
    }

    /// How long questions and answers are good. Default: a day.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// The questions that have not expired, in the order of their ids.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read.
    pub fn list(&self) -> Result<Vec<QueuedApproval>, QueueError> {
        let _lock = self.lock()?;
        self.read_all()
    }

    /// One question, which has not expired.
    ///
    /// # Errors
    ///
    /// When there is no such question, or the directory cannot be read.
    pub fn find(&self, id: &str) -> Result<QueuedApproval, QueueError> {
        let _lock = self.lock()?;
        self.read(id)?
            .ok_or_else(|| QueueError::Unknown(id.to_owned()))
    }

    /// Approves a question: the next identical call is admitted once.
    ///
    /// # Errors
    ///
    /// When there is no such question, it was denied, or the directory cannot be written.
    pub fn approve(&self, id: &str) -> Result<QueuedApproval, QueueError> {
        self.answer(id, ApprovalState::Approved)
    }

    /// Denies a question, also one that was approved and not used yet.
    ///
    /// # Errors
    ///
    /// When there is no such question, or the directory cannot be written.
    pub fn deny(&self, id: &str) -> Result<QueuedApproval, QueueError> {
        self.answer(id, ApprovalState::Denied)
    }

    fn answer(&self, id: &str, state: ApprovalState) -> Result<QueuedApproval, QueueError> {
        let _lock = self.lock()?;
        let mut question = self
            .read(id)?
            .ok_or_else(|| QueueError::Unknown(id.to_owned()))?;
        if question.state == ApprovalState::Denied && state != ApprovalState::Denied {
            return Err(QueueError::Denied(id.to_owned()));
        }
        question.state = state;
        self.write(&question)?;
        Ok(question)
    }

    fn lock(&self) -> io::Result<DirectoryLock> {
        DirectoryLock::take(&self.directory)
    }

    fn file_of(&self, id: &str) -> Option<PathBuf> {
        let hexadecimal =
            !id.is_empty() && id.len() <= 64 && id.bytes().all(|b| b.is_ascii_hexdigit());
        hexadecimal.then(|| self.directory.join(format!("{id}{SUFFIX}")))
    }

    /// A question that has not expired; an expired one is removed.
    fn read(&self, id: &str) -> io::Result<Option<QueuedApproval>> {
        let Some(file) = self.file_of(id) else {
            return Ok(None);
        };
        let bytes = match ambient::read_at_most(&file, MOST_BYTES) {
            Ok(bytes) => bytes.unwrap_or_default(),
            // What is no file is no question either, and stays.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::InvalidInput
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        // What cannot be understood approves nothing.
        let question = serde_json::from_slice::<QueuedApproval>(&bytes)
            .ok()
            .filter(|question| question.id == id && question.expires > now());
        if question.is_none() {
            ambient::remove_file(&file)?;
        }
        Ok(question)
    }

    fn read_all(&self) -> Result<Vec<QueuedApproval>, QueueError> {
        let mut questions = Vec::new();
        for name in ambient::file_names(&self.directory)? {
            if let Some(id) = name.strip_suffix(SUFFIX)
                && let Some(question) = self.read(id)?
            {
                questions.push(question);
            }
        }
        questions.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(questions)
    }

    fn write(&self, question: &QueuedApproval) -> io::Result<()> {
        let Some(file) = self.file_of(&question.id) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        ambient::write_private_file(&file, &serde_json::to_vec(question)?)
    }

    fn decide_locked(&self, request: &ApprovalRequest) -> Result<Decision, QueueError> {
        let _lock = self.lock()?;
        let id = question_id(request);
        let pending = Decision::Pending { id: id.clone() };
        match self.read(&id)? {
            Some(question) if !is_about(&question, request) => Ok(Decision::refuse("queue")),
            Some(question) if question.state == ApprovalState::Approved => {
                self.use_up(&id)?;
                Ok(Decision::approve_once("queue"))
            }
            Some(question) if question.state == ApprovalState::Denied => {
                Ok(Decision::refuse("queue"))
            }
            Some(_) => Ok(pending),
            None if !has_room(&self.read_all()?, &request.principal) => Ok(Decision::Nobody),
            None => {
                self.write(&self.question(id, request))?;
                Ok(pending)
            }
        }
    }

    fn use_up(&self, id: &str) -> io::Result<()> {
        match self.file_of(id) {
            Some(file) => ambient::remove_file(&file),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn question(&self, id: String, request: &ApprovalRequest) -> QueuedApproval {
        QueuedApproval {
            id,
            state: ApprovalState::Pending,
            tool: crate::screen::escaped(&request.tool),
            principal: request.principal.clone(),
            session: request.session.clone(),
            digest: request.digest.clone(),
            question: request.describe(),
            effects: request
                .effects
                .iter()
                .map(super::terminal::sentence)
                .collect(),
            expires: now().saturating_add(self.lifetime.as_secs().max(1)),
        }
    }
}

/// Whether one more question of a principal may wait beside these.
fn has_room(waiting: &[QueuedApproval], principal: &str) -> bool {
    let own = waiting.iter().filter(|it| it.principal == principal);
    waiting.len() < MAX_WAITING && own.count() < MAX_OF_ONE
}

/// Two principals that ask for the same have two questions.
fn question_id(request: &ApprovalRequest) -> String {
    use sha2::{Digest, Sha256};
    let bound = format!("{}\n{}", request.digest, request.principal);
    crate::random::hex_of(&Sha256::digest(bound.as_bytes())[..10])
}

fn is_about(question: &QueuedApproval, request: &ApprovalRequest) -> bool {
    question.digest == request.digest && question.principal == request.principal
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(u64::MAX, |since| since.as_secs())
}

impl Approver for ApprovalQueue {
    fn decide(&self, request: &ApprovalRequest) -> Decision {
        self.decide_locked(request)
            .unwrap_or(Decision::Unanswered(Unanswered::Failed))
    }

    fn state_directory(&self) -> Option<&Path> {
        Some(&self.directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(digest: char, principal: &str) -> ApprovalRequest {
        ApprovalRequest {
            tool: "delete_file".into(),
            principal: principal.into(),
            session: "s".into(),
            digest: digest.to_string().repeat(64),
            effects: Vec::new(),
            contents: Vec::new(),
        }
    }

    fn queue() -> (tempfile::TempDir, ApprovalQueue) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let queue = ApprovalQueue::open(directory.path().join("q")).expect("a queue");
        (directory, queue)
    }

    fn pending_id(decision: Decision) -> String {
        match decision {
            Decision::Pending { id } => id,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_approval_admits_the_same_request_once() {
        let (_directory, queue) = queue();
        let id = pending_id(queue.decide(&request('a', "me")));
        assert_eq!(pending_id(queue.decide(&request('a', "me"))), id);
        queue.approve(&id).expect("it waits");
        assert!(matches!(
            queue.decide(&request('b', "me")),
            Decision::Pending { .. }
        ));
        assert!(matches!(
            queue.decide(&request('a', "you")),
            Decision::Pending { .. }
        ));
        assert_eq!(
            queue.decide(&request('a', "me")),
            Decision::approve_once("queue")
        );
        assert!(matches!(
            queue.decide(&request('a', "me")),
            Decision::Pending { .. }
        ));
    }

    #[test]
    fn a_denial_stays_and_an_expired_question_is_gone() {
        let (_directory, queue) = queue();
        let id = pending_id(queue.decide(&request('a', "me")));
        queue.deny(&id).expect("it waits");
        assert_eq!(queue.decide(&request('a', "me")), Decision::refuse("queue"));
        assert!(matches!(queue.approve(&id), Err(QueueError::Denied(_))));
        queue.deny(&id).expect("a no may be said twice");
        assert_eq!(queue.decide(&request('a', "me")), Decision::refuse("queue"));
        let mut old = queue.list().expect("a list").remove(0);
        old.expires = 1;
        queue.write(&old).expect("written");
        assert!(queue.list().expect("a list").is_empty());
        assert!(matches!(queue.approve(&id), Err(QueueError::Unknown(_))));
    }

    #[test]
    fn one_principal_cannot_take_the_room_of_the_others() {
        let (_directory, queue) = queue();
        pending_id(queue.decide(&request('a', "me")));
        let one = queue.list().expect("a list").remove(0);
        let of = |principal: &str, count: usize| {
            let principal = principal.to_owned();
            vec![
                QueuedApproval {
                    principal,
                    ..one.clone()
                };
                count
            ]
        };
        assert!(has_room(&of("one", MAX_OF_ONE - 1), "one"));
        assert!(!has_room(&of("one", MAX_OF_ONE), "one"));
        assert!(has_room(&of("one", MAX_OF_ONE), "two"));
        // All together have a bound as well.
        let others = of("others", MAX_WAITING - 1);
        assert!(has_room(&others, "one"));
        assert!(!has_room(&[others, of("more", 1)].concat(), "one"));
    }

    #[test]
    fn an_id_is_not_a_path() {
        let (_directory, queue) = queue();
        for id in ["../x", "", "a/b", "zz"] {
            assert!(
                matches!(queue.approve(id), Err(QueueError::Unknown(_))),
                "{id}"
            );
        }
    }
}
