//! One line of the audit log.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::policy::{Operation, RiskClass};
use crate::trace::TraceParent;
use crate::transaction::{Covers, EffectReceipt, Tree};
use crate::walk::ObjectId;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EntryKind {
    Access,
    Approval,
    Call,
    Checkpoint,
    Genesis,
    Intent,
    Outcome,
    Refusal,
}

/// An audit entry. Fields stand in alphabetical order, so that what serde writes is the
/// canonical form of RFC 8785: sorted names, integers only, minimal escapes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approver: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arguments_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) audit: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) component: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) confinement: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) covers: Option<Covered>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<&'static str>,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) dry_run: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_us: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) effects: Vec<PlannedEffect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) grants: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) imports: Vec<&'static str>,
    pub(crate) kind: EntryKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) log: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<Object>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) objects: Vec<AccessedObject>,
    #[serde(serialize_with = "operation", skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<Operation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) policy: Option<Value>,
    pub(crate) prev: String,
    /// Who called, where that is not the user whose process this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) principal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) public_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repaired: Option<Repaired>,
    #[serde(serialize_with = "risk", skip_serializing_if = "Option::is_none")]
    pub(crate) risk: Option<RiskClass>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<String>,
    pub(crate) seq: u64,
    pub(crate) session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settles: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sha256_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signature: Option<String>,
    pub(crate) time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to_root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) traceparent: Option<TraceParent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version_after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version_before: Option<String>,
}

impl Entry {
    pub(crate) fn new(kind: EntryKind) -> Self {
        Self {
            approval: None,
            approver: None,
            arguments: None,
            arguments_sha256: None,
            audit: None,
            bytes: None,
            call: None,
            code: None,
            component: None,
            confinement: None,
            covers: None,
            decision: None,
            dry_run: false,
            duration_us: None,
            effects: Vec::new(),
            format: None,
            grants: None,
            imports: Vec::new(),
            kind,
            log: None,
            object: None,
            objects: Vec::new(),
            operation: None,
            outcome: None,
            path: None,
            policy: None,
            prev: String::new(),
            principal: None,
            public_key: None,
            reason: None,
            repaired: None,
            risk: None,
            root: None,
            seq: 0,
            session: String::new(),
            settles: None,
            sha256_after: None,
            signature: None,
            time: now(),
            to_path: None,
            to_root: None,
            tool: None,
            traceparent: None,
            version_after: None,
            version_before: None,
        }
    }
}

/// The last second of the year 9999, the end of RFC 3339.
const LAST_SECOND: u64 = 253_402_300_799;

/// The time as entries carry it.
pub(super) fn now() -> String {
    written(SystemTime::now())
}

/// A time as entries carry it. A clock that was never set, or was set to nonsense, stops no
/// record: it stands at the nearest time that can be written.
fn written(time: SystemTime) -> String {
    let latest = SystemTime::UNIX_EPOCH + Duration::new(LAST_SECOND, 999_999_999);
    let time = time.clamp(SystemTime::UNIX_EPOCH, latest);
    humantime::format_rfc3339_micros(time).to_string()
}

/// What stood at a path: device and inode, as strings, since both exceed what a JSON number
/// carries exactly; and its path from the root where that is not the one that was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Object {
    #[serde(with = "as_text")]
    device: u64,
    #[serde(with = "as_text")]
    inode: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resolved: Option<String>,
}

impl Object {
    pub(crate) fn new(id: ObjectId, resolved: Option<&str>) -> Self {
        Self {
            device: id.device,
            inode: id.inode,
            resolved: resolved.map(str::to_owned),
        }
    }

    /// Whether this is the object, wherever it stands.
    pub(crate) fn is(&self, id: ObjectId) -> bool {
        (self.device, self.inode) == (id.device, id.inode)
    }
}

/// What a recursive deletion is about to delete inside its directory, or has deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Covered {
    pub(super) bytes: u64,
    pub(super) directories: u64,
    pub(super) files: u64,
    /// Over all names and versions, of what is about to be deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<String>,
}

impl Covered {
    pub(crate) fn new(covers: Covers, tree: Option<&Tree>) -> Self {
        Self {
            bytes: covers.bytes,
            directories: covers.directories,
            files: covers.files,
            sha256: tree.map(Tree::digest),
        }
    }

    /// What is gone when only this is left; nothing when something came to it.
    pub(super) fn without(&self, left: Covers) -> Option<Self> {
        Some(Self {
            bytes: self.bytes.checked_sub(left.bytes)?,
            directories: self.directories.checked_sub(left.directories)?,
            files: self.files.checked_sub(left.files)?,
            sha256: None,
        })
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.files + self.directories == 0
    }
}

/// What a process that was killed, or a disk that was full, left half-written at the end of
/// a log, and the next start cut off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Repaired {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// One of several accesses in an `access` entry.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AccessedObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
    /// Entries of a listed directory that were looked up as well.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) entries: u64,
    pub(crate) object: Object,
    #[serde(serialize_with = "plain_operation")]
    pub(crate) operation: Operation,
    #[serde(serialize_with = "shared_text")]
    pub(crate) path: Arc<str>,
    #[serde(serialize_with = "shared_text")]
    pub(crate) root: Arc<str>,
}

/// One of the changes that an approver was asked about.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PlannedEffect {
    #[serde(serialize_with = "plain_operation")]
    operation: Operation,
    path: String,
    root: String,
}

impl From<&EffectReceipt> for PlannedEffect {
    fn from(effect: &EffectReceipt) -> Self {
        Self {
            operation: effect.operation,
            path: effect.path.clone(),
            root: effect.root.clone(),
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn operation<S: Serializer>(value: &Option<Operation>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(value.map_or("", Operation::as_str))
}

fn plain_operation<S: Serializer>(value: &Operation, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(value.as_str())
}

fn shared_text<S: Serializer>(value: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(value)
}

fn risk<S: Serializer>(value: &Option<RiskClass>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(value.map_or("", RiskClass::as_str))
}

/// A number as the decimal digits of a string.
mod as_text {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_no_year_has_still_gives_a_time() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for (time, expected) in [
            (at(0), "1970-01-01T00:00:00.000000Z"),
            (
                SystemTime::UNIX_EPOCH - Duration::from_micros(1),
                "1970-01-01T00:00:00.000000Z",
            ),
            (at(LAST_SECOND), "9999-12-31T23:59:59.000000Z"),
            (at(LAST_SECOND + 1), "9999-12-31T23:59:59.999999Z"),
            (at(LAST_SECOND * 20), "9999-12-31T23:59:59.999999Z"),
        ] {
            assert_eq!(written(time), expected);
        }
    }
}
