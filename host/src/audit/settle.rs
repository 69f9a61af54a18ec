//! What became of the changes that a killed process had announced: the next process that
//! continues its log looks, and writes what it finds.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::intents::OpenIntent;
use super::{AuditLog, Covered, Entry, EntryKind, Object};
use crate::policy::{Operation, RiskClass};
use crate::random;
use crate::roots::{Rights, Root, Roots};
use crate::transaction::Tree;
use crate::walk::{self, Kind, ObjectId, Version};

/// What stands where a change was announced.
enum Finding {
    /// The change was made, and this is its version.
    Made(Option<Version>),
    /// A recursive deletion went this far.
    Partly(Covered, Version),
    /// Everything is as it was before.
    NotMade,
    /// Neither can be said.
    Unknown(&'static str),
}

/// An `outcome` for each change that the process before announced, and whose outcome it did
/// not record. Called once, when whatever it left half-done is cleared up.
pub(crate) fn settlements(log: &AuditLog, roots: &Roots) -> Vec<Entry> {
    let open = log.take_open();
    open.iter().filter_map(|open| settle(open, roots)).collect()
}

/// Whether the directories of a change are granted here, by what they are and not only by their
/// labels.
pub(super) fn is_granted(open: &OpenIntent, roots: &Roots) -> bool {
    let names = ["root", "to_root"].map(|name| open.entry[name].as_str());
    let mut names = names.into_iter().flatten();
    names.all(|label| granted(open, roots, label).is_some())
}

/// The root that is granted here and was granted to the session of a change, under one label.
fn granted<'a>(open: &OpenIntent, roots: &'a Roots, label: &str) -> Option<&'a Root> {
    let mut grants = open.genesis.as_ref()?["grants"].as_array()?.iter();
    let was = grants.find(|grant| grant["label"] == label && grant["rights"] == "write")?;
    let object: Object = serde_json::from_value(was["object"].clone()).ok()?;
    let mut roots = roots.iter().filter(|root| root.rights == Rights::Write);
    roots.find(|root| object.is(root.id))
}

/// The outcome of a change.
pub(super) fn settle(open: &OpenIntent, roots: &Roots) -> Option<Entry> {
    let intent = &open.entry;
    let text = |name: &str| intent[name].as_str().map(str::to_owned);
    let mut entry = Entry::new(EntryKind::Outcome);
    entry.settles = intent["seq"].as_u64();
    entry.call = text("call");
    entry.tool = text("tool");
    entry.operation = Some(Operation::named(intent["operation"].as_str()?)?);
    entry.risk = match intent["risk"].as_str() {
        Some("DRAFT") => Some(RiskClass::Draft),
        _ => Some(RiskClass::Destructive),
    };
    entry.root = text("root");
    entry.path = text("path");
    entry.to_root = text("to_root");
    entry.to_path = text("to_path");
    entry.bytes = intent["bytes"].as_u64();
    entry.object = serde_json::from_value(intent["object"].clone()).ok();
    entry.version_before = text("version_before");
    entry.sha256_after = text("sha256_after");
    match Announced::read(open, roots).map_or_else(Finding::Unknown, |change| change.look()) {
        Finding::Made(version) => {
            entry.outcome = Some("ok");
            entry.reason = Some("settled");
            entry.version_after = version.map(|version| version.to_string());
            entry.covers = covers_of(intent).map(|covers| Covered {
                sha256: None,
                ..covers
            });
        }
        Finding::Partly(gone, version) => {
            entry.outcome = Some("failed");
            entry.reason = Some("partial");
            entry.version_after = Some(version.to_string());
            entry.bytes = Some(gone.bytes);
            entry.covers = Some(gone);
        }
        Finding::NotMade => {
            entry.outcome = Some("rolled-back");
            entry.reason = Some("settled");
        }
        Finding::Unknown(why) => entry.reason = Some(why),
    }
    Some(entry)
}

/// What a recursive deletion was to delete.
fn covers_of(intent: &Value) -> Option<Covered> {
    serde_json::from_value(intent["covers"].clone()).ok()
}

/// A change as its intent announced it, and the directories where it was to be made.
struct Announced<'a> {
    operation: Operation,
    intent: &'a Value,
    object: Option<Object>,
    at: Site,
    to: Option<Site>,
}

/// A name in a directory, if there is that directory.
struct Site {
    directory: Option<OwnedFd>,
    name: String,
}

impl<'a> Announced<'a> {
    /// Finds the places by root and path. Whether they are what they were shows by what stands
    /// there.
    fn read(open: &'a OpenIntent, roots: &Roots) -> Result<Self, &'static str> {
        let intent = &open.entry;
        let text = |name: &str| intent[name].as_str();
        let object: Option<Object> = serde_json::from_value(intent["object"].clone()).ok();
        let resolved = object
            .as_ref()
            .and_then(|object| object.resolved.as_deref());
        let path = resolved.or(text("path")).unwrap_or_default();
        let root = |label| granted(open, roots, label).ok_or("not-granted");
        let at = Site::find(root(text("root").unwrap_or_default())?, path)?;
        let to = match (text("to_root"), text("to_path")) {
            (Some(to), Some(path)) => Some(Site::find(root(to)?, path)?),
            _ => None,
        };
        Ok(Self {
            operation: text("operation")
                .and_then(Operation::named)
                .ok_or("unknown")?,
            intent,
            object,
            at,
            to,
        })
    }

    fn look(&self) -> Finding {
        let Ok(found) = self.at.look() else {
            return Finding::Unknown("unknown");
        };
        match (self.operation, found) {
            (Operation::CreateDirectory, Some(stat)) if Kind::of(&stat) == Kind::Directory => {
                Finding::Made(Some(Version::of(&stat)))
            }
            (Operation::CreateDirectory | Operation::Create, None) => Finding::NotMade,
            (Operation::Create | Operation::Change | Operation::Replace, Some(stat)) => {
                self.look_at_content(&stat)
            }
            // Without its directory this is not the place that was meant.
            (Operation::Delete | Operation::DeleteTree, None) if self.at.directory.is_some() => {
                Finding::Made(None)
            }
            (Operation::Delete, Some(stat)) if self.is_same(&stat) => Finding::NotMade,
            (Operation::DeleteTree, Some(stat)) if self.is_same(&stat) => self.look_inside(&stat),
            (Operation::Rename, found) => self.look_at_rename(found.as_ref()),
            _ => Finding::Unknown("unknown"),
        }
    }

    /// The new content and nothing else has this size and hash; the old object, untouched,
    /// has the version that it had.
    fn look_at_content(&self, stat: &Stat) -> Finding {
        let version = Version::of(stat);
        if self.intent["version_before"] == version.to_string() {
            return Finding::NotMade;
        }
        let same_size = self.intent["bytes"].as_u64() == Some(stat.st_size as u64);
        if Kind::of(stat) == Kind::File
            && same_size
            && self
                .at
                .sha256()
                .is_ok_and(|hash| self.intent["sha256_after"] == hash)
        {
            return Finding::Made(Some(version));
        }
        Finding::Unknown("unknown")
    }

    /// What is left of a directory that was to be deleted with what it holds: all of it,
    /// unaltered, or less of it. Where something came to it, what is gone cannot be counted.
    fn look_inside(&self, stat: &Stat) -> Finding {
        let unknown = Finding::Unknown("unknown");
        let (Some(before), Some(left)) = (covers_of(self.intent), self.at.survey(stat)) else {
            return unknown;
        };
        if before.sha256 == Some(left.digest()) {
            return Finding::NotMade;
        }
        match before.without(left.covers) {
            Some(gone) if !gone.is_nothing() => Finding::Partly(gone, Version::of(stat)),
            _ => unknown,
        }
    }

    fn look_at_rename(&self, from: Option<&Stat>) -> Finding {
        let to = self.to.as_ref().and_then(|to| to.look().ok().flatten());
        match (from, to) {
            (Some(stat), _) if self.is_same(stat) => Finding::NotMade,
            (_, Some(stat)) if self.is_same(&stat) => Finding::Made(Some(Version::of(&stat))),
            _ => Finding::Unknown("unknown"),
        }
    }

    fn is_same(&self, stat: &Stat) -> bool {
        let id = ObjectId::of(stat);
        self.object.as_ref().is_some_and(|object| object.is(id))
    }
}

impl Site {
    fn find(root: &Root, path: &str) -> Result<Self, &'static str> {
        let path = path.trim_end_matches('/');
        let (parent, name) = path.rsplit_once('/').unwrap_or((".", path));
        if !walk::is_single_name(name) {
            return Err("unknown");
        }
        let parent = if parent.is_empty() { "." } else { parent };
        let directory = walk::open_directory(root.handle.as_fd(), parent, root.boundary);
        let directory = match directory {
            Ok(directory) => Some(directory),
            Err(Errno::NOENT) => None,
            Err(_) => return Err("unknown"),
        };
        let name = name.to_owned();
        Ok(Self { directory, name })
    }

    fn look(&self) -> Result<Option<Stat>, Errno> {
        let Some(directory) = &self.directory else {
            return Ok(None);
        };
        match walk::look(directory.as_fd(), &self.name) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// What a directory holds, if it can be counted.
    fn survey(&self, stat: &Stat) -> Option<Tree> {
        let parent = self.directory.as_ref()?.as_fd();
        Tree::survey_of(parent, &self.name, ObjectId::of(stat), None).ok()
    }

    fn sha256(&self) -> io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let directory = self.directory.as_ref().ok_or(Errno::NOENT)?;
        let file = rustix::fs::openat(directory, &self.name, flags, Mode::empty())?;
        let mut file = File::from(file);
        let mut hash = Sha256::new();
        let mut piece = vec![0; 1 << 16];
        loop {
            let read = file.read(&mut piece)?;
            if read == 0 {
                return Ok(random::hex_of(&hash.finalize()));
            }
            hash.update(&piece[..read]);
        }
    }
}
