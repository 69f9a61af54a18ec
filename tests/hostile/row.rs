//! What a row of the table says.

use std::path::PathBuf;
use std::time::Duration;

use rootbound::{Consent, Limits, Session, SessionBuilder};

use crate::support::Fixture;

/// An attack and what must come of it.
#[derive(Clone, Copy)]
pub struct Row {
    pub attack: &'static str,
    /// The arguments, a JSON object.
    pub arguments: &'static str,
    /// Bytes of `data.bin` below both roots, where the attack needs one.
    pub data: Option<u64>,
    /// Files of 1,000 bytes in `inputs/many`.
    pub many: u64,
    pub grants: Grants,
    pub policy: fn(SessionBuilder) -> SessionBuilder,
    /// What the call answers.
    pub answer: Answer,
    /// The audit entries of the call, in words.
    pub audit: &'static [&'static str],
    /// What is otherwise in the directories afterwards, because the policy allows it.
    pub leaves: &'static [&'static str],
    /// What comes of it under a host that does what it is asked.
    pub unguarded: Unguarded,
}

/// Which directories are granted.
#[derive(Clone, Copy)]
pub enum Grants {
    /// `inputs` for reading, `workspace` for writing.
    Apart,
    /// `workspace` both ways.
    OneDirectory,
    /// `workspace/done` for reading inside `workspace` for writing.
    Nested,
}

/// What a call answers.
#[derive(Clone, Copy)]
pub enum Answer {
    /// The attack's own report: nothing gained, and by which WASI errors it was stopped how
    /// often, in the order of their names.
    Stopped(&'static [&'static str]),
    /// The same, with an amount.
    Counted(u64, &'static [&'static str]),
    /// A result, and the first effect of its receipt without versions.
    Fields(&'static str),
    /// An error: its code, and its reason behind a slash.
    Error(&'static str),
}

/// What comes of an attack that nothing guards against.
#[derive(Clone, Copy)]
pub enum Unguarded {
    /// It works: it gains something, gets more, changes more, or does not end.
    Works,
    /// WASI or cap-std stops it as well.
    StoppedToo,
    /// There is nothing to be shown, and this is why.
    #[expect(dead_code, reason = "the reason is for whoever reads the table")]
    NotShown(&'static str),
}

/// Both directories, everything allowed: where an attack is stopped then, no policy did it.
pub const ORDINARY: Row = Row {
    attack: "",
    arguments: "{}",
    data: None,
    many: 0,
    grants: Grants::Apart,
    policy: everything,
    answer: Answer::Stopped(&[]),
    audit: &["call ok"],
    leaves: &[],
    unguarded: Unguarded::Works,
};

impl Grants {
    pub fn session(self, fixture: &Fixture) -> SessionBuilder {
        let work = fixture.workspace();
        match self {
            Self::Apart => Session::builder()
                .read_root(fixture.inputs())
                .write_root(work),
            Self::OneDirectory => Session::builder().work_root(work),
            Self::Nested => Session::builder()
                .read_root(work.join("done"))
                .write_root(work),
        }
    }

    /// The same directories by the names of their preopens.
    pub fn preopens(self, fixture: &Fixture) -> [(PathBuf, &'static str); 2] {
        let read = match self {
            Self::Apart => fixture.inputs(),
            Self::OneDirectory => fixture.workspace(),
            Self::Nested => fixture.workspace().join("done"),
        };
        [(read, "/read/0"), (fixture.workspace(), "/write")]
    }
}

/// Overwriting and deleting are allowed.
pub fn everything(builder: SessionBuilder) -> SessionBuilder {
    builder.overwrite(Consent::Allow).delete(Consent::Allow)
}

/// Everything is allowed, but for what has one of three names.
pub fn patterned(builder: SessionBuilder) -> SessionBuilder {
    let builder = everything(builder).deny("deep.md").deny("report.md");
    builder.deny("/done/inner")
}

/// Deleting is allowed, overwriting is not.
pub fn no_overwriting(builder: SessionBuilder) -> SessionBuilder {
    builder.delete(Consent::Allow)
}

/// Overwriting is allowed, deleting is not.
pub fn no_deleting(builder: SessionBuilder) -> SessionBuilder {
    builder.overwrite(Consent::Allow).delete(Consent::Deny)
}

/// Both are asked about, and nobody is there.
pub fn asking_nobody(builder: SessionBuilder) -> SessionBuilder {
    builder.overwrite(Consent::Ask).delete(Consent::Ask)
}

/// Bytes that may be read of one object, under [`small`].
pub const READ: u64 = 20_000;
/// Bytes that may be read altogether.
pub const CALL_READ: u64 = 50_000;
/// Bytes that may be written.
pub const WRITE: u64 = 30_000;
/// Bytes of a result.
pub const OUTPUT: u64 = 100_000;

/// Everything is allowed, within small limits.
pub fn small(builder: SessionBuilder) -> SessionBuilder {
    everything(builder).limits(Limits {
        max_read_bytes: READ,
        max_call_read_bytes: CALL_READ,
        max_write_bytes: WRITE,
        max_output_bytes: OUTPUT,
        ..Limits::default()
    })
}

/// Everything is allowed, for a fifth of a second.
pub fn briefly(builder: SessionBuilder) -> SessionBuilder {
    everything(builder).timeout(Duration::from_millis(200))
}

/// Everything is allowed, and for as long as a flood needs to reach its own limit on a slow
/// machine.
pub fn patiently(builder: SessionBuilder) -> SessionBuilder {
    everything(builder).timeout(Duration::from_secs(60))
}
