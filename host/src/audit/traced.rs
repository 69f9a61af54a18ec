//! Audit entries as events of `tracing`.

use std::io;

use serde_json::Value;

use super::AuditSink;

/// Gives each entry to the program's `tracing` subscriber, as an event of the target
/// `rootbound::audit`: level `WARN` for what was refused, else `INFO`.
///
/// The fields have the names that they have in the log: `kind`, `seq`, `session`, `call`,
/// `tool`, `operation`, `root`, `path`, `decision`, `code`, `reason`, `outcome`; `entry` is
/// the whole line, with its hash. Whoever keeps those keeps a log that verifies.
///
/// What nobody subscribes to is refused, so that no call runs unrecorded. Beyond that, what
/// an [`AuditSink`] promises is promised by the subscriber: one that drops or samples events
/// is none for an audit log.
///
/// # Examples
///
/// ```
/// use rootbound::{AuditLog, Session, TracingSink};
///
/// // Nobody subscribes here, so nothing may run.
/// let log = AuditLog::sink(TracingSink);
/// let refused = Session::builder().audit(log).build();
/// assert!(refused.is_err());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingSink;

impl AuditSink for TracingSink {
    fn append(&self, lines: &str) -> io::Result<()> {
        lines.lines().try_for_each(emit)
    }
}

/// A level is part of an event's static description, so each has its own.
macro_rules! event {
    ($level:ident, $entry:ident, $line:ident) => {{
        if !tracing::enabled!(target: "rootbound::audit", tracing::Level::$level) {
            return Err(nobody_listens());
        }
        tracing::event!(
            target: "rootbound::audit",
            tracing::Level::$level,
            kind = $entry["kind"].as_str(),
            seq = $entry["seq"].as_u64(),
            session = $entry["session"].as_str(),
            call = $entry["call"].as_str(),
            tool = $entry["tool"].as_str(),
            operation = $entry["operation"].as_str(),
            root = $entry["root"].as_str(),
            path = $entry["path"].as_str(),
            decision = $entry["decision"].as_str(),
            code = $entry["code"].as_str(),
            reason = $entry["reason"].as_str(),
            outcome = $entry["outcome"].as_str(),
            entry = $line,
        );
    }};
}

fn emit(line: &str) -> io::Result<()> {
    let entry: Value = serde_json::from_str(line)?;
    if entry["kind"] == "refusal" {
        event!(WARN, entry, line);
    } else {
        event!(INFO, entry, line);
    }
    Ok(())
}

fn nobody_listens() -> io::Error {
    io::Error::new(
        io::ErrorKind::NotConnected,
        "no subscriber takes the events of `rootbound::audit`",
    )
}
