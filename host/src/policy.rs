//! What may be done: limits, overwriting, deleting, and how operations are classed.

use std::time::Duration;

use serde::Serialize;

use crate::paths::PathRules;
use crate::patterns::Patterns;

/// Whether something that destroys may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Consent {
    /// Refused without asking.
    #[default]
    Deny,
    /// An approver is asked; without one the answer is no.
    Ask,
    /// Done without asking.
    Allow,
}

/// How much harm an operation can do, decided from the operation and the state of the
/// object, never from a tool's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RiskClass {
    /// Reads, lists, or looks up metadata.
    Read,
    /// Creates what did not exist, or touches only what this session created.
    Draft,
    /// Changes, replaces, renames or deletes what existed.
    Destructive,
    /// Reaches something that is not a file.
    Send,
}

impl RiskClass {
    /// The name as the audit log and front-ends write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Draft => "DRAFT",
            Self::Destructive => "DESTRUCTIVE",
            Self::Send => "SEND",
        }
    }
}

/// One thing asked of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Open an object for reading.
    Open,
    /// Read a file's bytes.
    Read,
    /// List a directory.
    List,
    /// Look up metadata.
    Stat,
    /// Create a file.
    Create,
    /// Create a directory.
    CreateDirectory,
    /// Change a file in place: append, offset write, truncation.
    Change,
    /// Replace a file's content.
    Replace,
    /// Delete a file or an empty directory.
    Delete,
    /// Delete a directory with what it holds.
    DeleteTree,
    /// Rename.
    Rename,
    /// Create a link.
    Link,
    /// Anything else.
    Other,
}

impl Operation {
    /// The name as the audit log writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::List => "list",
            Self::Stat => "stat",
            Self::Create => "create",
            Self::CreateDirectory => "create-directory",
            Self::Change => "change",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::DeleteTree => "delete-tree",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Other => "other",
        }
    }

    /// The operation that the audit log writes so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        const ALL: [Operation; 13] = [
            Operation::Open,
            Operation::Read,
            Operation::List,
            Operation::Stat,
            Operation::Create,
            Operation::CreateDirectory,
            Operation::Change,
            Operation::Replace,
            Operation::Delete,
            Operation::DeleteTree,
            Operation::Rename,
            Operation::Link,
            Operation::Other,
        ];
        ALL.into_iter().find(|operation| operation.as_str() == name)
    }

    /// The class of the operation on an object that the session did not create.
    #[must_use]
    pub fn risk(self) -> RiskClass {
        match self {
            Self::Open | Self::Read | Self::List | Self::Stat => RiskClass::Read,
            Self::Create | Self::CreateDirectory => RiskClass::Draft,
            Self::Change
            | Self::Replace
            | Self::Delete
            | Self::DeleteTree
            | Self::Rename
            | Self::Link => RiskClass::Destructive,
            Self::Other => RiskClass::Send,
        }
    }
}

/// Whether a success means that the change survives a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Content and directory entry are synced before the call succeeds.
    #[default]
    Full,
    /// Nothing is synced. Each file is still old or new, never a mix, as long as the
    /// system keeps running.
    Fast,
}

/// Ceilings, counted by the host for each call, and quotas for all calls of a session. One that
/// is reached answers `limit-exceeded` with its name, its value and the actual amount; time
/// answers `timeout`.
///
/// A 0 means none: with `max_write_bytes: 0` only what is empty can be written, with
/// `max_session_files: Some(0)` files can be changed and none made. Where that would leave no
/// call possible, no session starts; see [`Limits::check`].
///
/// # Examples
///
/// ```
/// use rootbound::Limits;
///
/// let limits = Limits { max_read_bytes: 1 << 20, ..Limits::default() };
/// assert_eq!(limits.max_write_bytes, 5 << 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes read of one object, all its descriptors and streams together.
    pub max_read_bytes: u64,
    /// Bytes read altogether.
    pub max_call_read_bytes: u64,
    /// Bytes written altogether; a hole counts as written.
    pub max_write_bytes: u64,
    /// Bytes of the result, fields and payload together, as MCP sends them: texts escaped as JSON
    /// strings, other bytes in base64. The receipt, which is the host's, comes on top.
    pub max_output_bytes: u64,
    /// Bytes of the guest's memory and tables.
    pub max_memory: u64,
    /// Levels of a recursive listing or search.
    pub max_depth: u32,
    /// Entries in one page of a directory. A component may ask for the next: what a call lists
    /// in all is bounded by its time and its results.
    pub max_entries: u64,
    /// Open descriptors, streams and other WASI resources at one time.
    pub max_handles: u32,
    /// Wall time, guest and host calls together. The clock stops when the commit begins.
    pub timeout: Duration,
    /// Bytes written by all calls of the session together. A call of which nothing stays, a
    /// dry run among them, counts nothing.
    pub max_session_write_bytes: Option<u64>,
    /// Files and directories made by all calls of the session together, likewise. A rename makes
    /// none, nor does what replaces a file, or is gone again when its call ends; what a later call
    /// deletes was made.
    pub max_session_files: Option<u64>,
    /// Calls of the session that may begin within any one second.
    pub max_calls_per_second: Option<u32>,
}

/// A limit of 0 that would leave no call possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{limit}` of 0 leaves nothing possible; leave it out, or give it a value")]
pub struct LimitError {
    /// The limit, by its name in the configuration.
    pub limit: &'static str,
}

impl Limits {
    /// Whether any call is possible within them.
    ///
    /// # Errors
    ///
    /// When `max_output_bytes`, `max_memory`, `max_handles`, `timeout` or `max_calls_per_second`
    /// is 0: every call gives a result, runs in memory, holds its directories, takes time, and is
    /// one.
    pub fn check(&self) -> Result<(), LimitError> {
        let needed = [
            ("max_output_bytes", self.max_output_bytes == 0),
            ("max_memory", self.max_memory == 0),
            ("max_handles", self.max_handles == 0),
            ("timeout_ms", self.timeout < Duration::from_millis(1)),
            ("max_calls_per_second", self.max_calls_per_second == Some(0)),
        ];
        let missing = needed.into_iter().find(|(_, is_zero)| *is_zero);
        match missing {
            Some((limit, _)) => Err(LimitError { limit }),
            None => Ok(()),
        }
    }
}

impl Default for Limits {
    /// The defaults are: 10 MiB read of one object and 512 MiB altogether; 5 MiB written;
    /// results up to 16 MiB; 256 MiB of guest memory; 10 levels; 10,000 entries in a
    /// page of a directory; 256 open handles; 5 seconds; no quotas for all calls of a session together.
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self {
            max_read_bytes: 10 * MIB,
            max_call_read_bytes: 512 * MIB,
            max_write_bytes: 5 * MIB,
            max_output_bytes: 16 * MIB,
            max_memory: 256 * MIB,
            max_depth: 10,
            max_entries: 10_000,
            max_handles: 256,
            timeout: Duration::from_secs(5),
            max_session_write_bytes: None,
            max_session_files: None,
            max_calls_per_second: None,
        }
    }
}

/// Everything that is decided about an operation besides the grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether an existing file may be changed, replaced, or renamed over.
    pub overwrite: Consent,
    /// Whether something that exists may be deleted or renamed away.
    pub delete: Consent,
    /// Which path spellings are taken.
    pub paths: PathRules,
    /// Which objects may be touched.
    pub patterns: Patterns,
    /// The ceilings.
    pub limits: Limits,
    /// Whether changes are synced.
    pub durability: Durability,
}

impl Default for Policy {
    /// The defaults are: nothing is overwritten; deletions are asked about; names must be
    /// portable; no patterns; [`Limits::default`]; changes are synced.
    fn default() -> Self {
        Self {
            overwrite: Consent::Deny,
            delete: Consent::Ask,
            paths: PathRules::default(),
            patterns: Patterns::default(),
            limits: Limits::default(),
            durability: Durability::Full,
        }
    }
}
