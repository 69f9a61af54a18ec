//! What a call has asked for and not yet been given.
//!
//! New files and whatever destroys are staged here; the guest sees its own pending changes
//! by name. Nothing becomes visible to others before the commit, except new directories.

mod commit;
mod describe;
mod effect;
mod perform;
mod staged;
mod tree;
mod verify;

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use crate::journal::Noted;
use crate::policy::{Operation, RiskClass};
use crate::roots::RootIndex;
use crate::walk::{self, Kind, ObjectId};

pub(crate) use commit::{CommitOrder, CommitRecorder, commit, preview};
pub(crate) use effect::{Before, Effect, Place, Slot, StagedIndex, hide_unread};
pub use effect::{Covers, EffectReceipt};
pub(crate) use staged::{StagedFile, is_temporary_name, make_directory, temporary_name};
pub(crate) use tree::{MAX_OBJECTS, MAX_TREE_DEPTH, Tree, TreeError};
pub(crate) use verify::verify_expected;

/// What a name stands for within the call, where that differs from the file system.
#[derive(Clone, Debug)]
pub(crate) enum Pending {
    /// A staged file.
    File(StagedIndex),
    /// Nothing any more.
    Gone,
    /// The object that still stands at another place.
    Moved(Place, Before),
}

/// A directory that the call made.
#[derive(Debug)]
pub(crate) struct MadeDirectory {
    pub(crate) place: Place,
    pub(crate) object: ObjectId,
    /// Struck out of the journal when the call is over.
    pub(crate) noted: Noted,
}

/// The pending changes of one call.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    effects: Vec<Effect>,
    pending: HashMap<Slot, Pending>,
    files: Vec<StagedFile>,
    directories: Vec<MadeDirectory>,
}

impl Transaction {
    /// Whether some name differs from what the file system says.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The changes that hold descriptors of the host: staged files, those that were taken
    /// back included, and whatever else is pending.
    pub(crate) fn changes(&self) -> usize {
        let without_file = |effect: &&Effect| effect.staged.is_none();
        let others = self.effects.iter().filter(without_file).count();
        self.files.len() + others + self.directories.len()
    }

    /// A handle of the directory that some pending change holds already.
    pub(crate) fn handle_of(&self, directory: ObjectId) -> Option<Arc<OwnedFd>> {
        let of_effects = self
            .effects
            .iter()
            .flat_map(|effect| std::iter::once(&effect.place).chain(&effect.to));
        let of_directories = self.directories.iter().map(|made| &made.place);
        of_effects
            .chain(of_directories)
            .find(|place| place.slot.parent == directory)
            .map(|place| Arc::clone(&place.directory))
    }

    /// The directories in which names will change.
    pub(crate) fn parents(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let places = (self.effects.iter())
            .flat_map(|effect| std::iter::once(&effect.place).chain(&effect.to));
        places.map(Place::directory)
    }

    /// The first of the staged effects, for a record that names one.
    pub(crate) fn first_effect(&self) -> Option<&Effect> {
        let destroys = |effect: &&Effect| effect.risk >= RiskClass::Destructive;
        self.effects.iter().find(destroys).or(self.effects.first())
    }

    /// The files that are changed on top of a content that may not be read, and what is deleted
    /// with a content that may not.
    pub(crate) fn changed_unread(&self) -> Vec<(RootIndex, String)> {
        let unread = |effect: &&Effect| match effect.operation {
            Operation::DeleteTree => !effect.readable,
            Operation::Change => (effect.staged).is_some_and(|index| !self.files[index].readable),
            _ => false,
        };
        let changed = self.effects.iter().filter(unread);
        changed
            .map(|effect| (effect.place.root, effect.place.path.clone()))
            .collect()
    }

    /// Whether the call changed or would change anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.effects.is_empty() && self.directories.is_empty()
    }

    pub(crate) fn pending(&self, slot: &Slot) -> Option<&Pending> {
        self.pending.get(slot)
    }

    /// The pending names of one directory.
    pub(crate) fn pending_in(&self, directory: ObjectId) -> impl Iterator<Item = (&str, &Pending)> {
        self.pending
            .iter()
            .filter(move |(slot, _)| slot.parent == directory)
            .map(|(slot, pending)| (slot.name.as_str(), pending))
    }

    /// The directories whose removal or renaming is pending; no path may lead through them.
    pub(crate) fn directories_in_motion(&self) -> impl Iterator<Item = ObjectId> {
        self.effects.iter().filter_map(|effect| {
            let before = effect.before?;
            (before.kind == Kind::Directory).then_some(before.object)
        })
    }

    /// The names of links whose removal is pending.
    pub(crate) fn links_that_go(&self) -> impl Iterator<Item = &str> {
        self.effects.iter().filter_map(|effect| {
            let before = effect.before?;
            (before.kind == Kind::Symlink).then(|| effect.place.name())
        })
    }

    pub(crate) fn file(&self, index: StagedIndex) -> &StagedFile {
        &self.files[index]
    }

    pub(crate) fn file_mut(&mut self, index: StagedIndex) -> &mut StagedFile {
        &mut self.files[index]
    }

    pub(crate) fn made_directory(&mut self, directory: MadeDirectory) {
        self.directories.push(directory);
    }

    /// Whether this call made the directory.
    pub(crate) fn made(&self, object: ObjectId) -> bool {
        self.directories.iter().any(|made| made.object == object)
    }

    pub(crate) fn forget_directory(&mut self, object: ObjectId) {
        self.directories.retain(|made| made.object != object);
    }

    /// A file under a name that does not exist.
    pub(crate) fn create(&mut self, place: Place, file: StagedFile) -> StagedIndex {
        let mut effect = Effect::new(Operation::Create, RiskClass::Draft, place);
        effect.staged = Some(self.files.len());
        self.stage_file(effect, file)
    }

    /// New content for an existing file.
    pub(crate) fn replace(
        &mut self,
        operation: Operation,
        place: Place,
        before: Before,
        risk: RiskClass,
        file: StagedFile,
    ) -> StagedIndex {
        let mut effect = Effect::new(operation, risk, place);
        effect.staged = Some(self.files.len());
        effect.before = Some(before);
        self.stage_file(effect, file)
    }

    fn stage_file(&mut self, effect: Effect, file: StagedFile) -> StagedIndex {
        let index = self.files.len();
        self.pending
            .insert(effect.place.slot.clone(), Pending::File(index));
        self.files.push(file);
        self.effects.push(effect);
        index
    }

    pub(crate) fn delete(&mut self, place: Place, before: Before, risk: RiskClass) {
        self.pending.insert(place.slot.clone(), Pending::Gone);
        let mut effect = Effect::new(Operation::Delete, risk, place);
        effect.before = Some(before);
        self.effects.push(effect);
    }

    /// A directory with what it holds.
    pub(crate) fn delete_tree(&mut self, place: Place, before: Before, tree: Tree, readable: bool) {
        self.pending.insert(place.slot.clone(), Pending::Gone);
        let mut effect = Effect::new(Operation::DeleteTree, RiskClass::Destructive, place);
        effect.before = Some(before);
        effect.tree = Some(Arc::new(tree));
        effect.readable = readable;
        self.effects.push(effect);
    }

    pub(crate) fn rename(
        &mut self,
        from: Place,
        to: Place,
        before: Before,
        replaced: Option<Before>,
        risk: RiskClass,
    ) {
        self.pending.insert(from.slot.clone(), Pending::Gone);
        self.pending
            .insert(to.slot.clone(), Pending::Moved(from.clone(), before));
        let mut effect = Effect::new(Operation::Rename, risk, from);
        effect.to = Some(to);
        effect.before = Some(before);
        effect.replaced = replaced;
        self.effects.push(effect);
    }

    /// Takes back the effect that gave a staged file its name.
    pub(crate) fn take_back_file(&mut self, index: StagedIndex) -> Option<Effect> {
        let at = self
            .effects
            .iter()
            .position(|effect| effect.staged == Some(index))?;
        let effect = self.effects.remove(at);
        self.pending.remove(&effect.place.slot);
        self.files[index].discard();
        Some(effect)
    }

    /// Takes back a pending deletion of a file, so that its name can be given new content.
    pub(crate) fn take_back_file_deletion(&mut self, slot: &Slot) -> Option<Effect> {
        let at = self.effects.iter().position(|effect| {
            effect.operation == Operation::Delete
                && effect.place.slot == *slot
                && effect
                    .before
                    .is_some_and(|before| before.kind == Kind::File)
        })?;
        self.pending.remove(slot);
        Some(self.effects.remove(at))
    }

    /// Takes back the rename that put an object at `slot`, unless it replaced another.
    pub(crate) fn take_back_rename(&mut self, slot: &Slot) -> Option<Effect> {
        let at = self.effects.iter().position(|effect| {
            effect.replaced.is_none() && effect.to.as_ref().is_some_and(|to| to.slot == *slot)
        })?;
        let effect = self.effects.remove(at);
        self.pending.remove(slot);
        self.pending.remove(&effect.place.slot);
        Some(effect)
    }

    /// Gives a staged new file another name: a free one, or that of a file which it then
    /// replaces, in the class that this replacement has.
    pub(crate) fn retarget(
        &mut self,
        index: StagedIndex,
        to: Place,
        replaced: Option<(Before, RiskClass)>,
    ) {
        if let Some(effect) = self
            .effects
            .iter_mut()
            .find(|effect| effect.staged == Some(index))
        {
            self.pending.remove(&effect.place.slot);
            self.pending.insert(to.slot.clone(), Pending::File(index));
            self.files[index].move_to(&to.directory);
            effect.place = to;
            if let Some((before, risk)) = replaced {
                effect.operation = Operation::Replace;
                effect.risk = risk;
                effect.before = Some(before);
            }
        }
    }

    /// Whether a staged file will get a name that nothing has.
    pub(crate) fn is_new(&self, index: StagedIndex) -> bool {
        self.effects
            .iter()
            .any(|effect| effect.staged == Some(index) && effect.before.is_none())
    }

    /// Forgets what the commit has done, so that nothing of it is taken back, neither at
    /// the end of the call nor at the next start.
    ///
    /// # Errors
    ///
    /// When the journal cannot be told. The directories are then still to be taken back.
    fn settle(&mut self) -> Result<(), Errno> {
        // The last made comes first: while it stands, those around it are not empty, so a
        // process that is killed in between leaves either all of a path or nothing.
        for made in self.directories.iter_mut().rev() {
            made.noted.strike().map_err(walk::errno_of)?;
        }
        self.effects.clear();
        self.pending.clear();
        self.directories.clear();
        Ok(())
    }

    /// Drops everything that is pending and removes the directories that the call made, as
    /// far as they are still the same and empty. Returns those that were removed.
    pub(crate) fn discard(&mut self) -> Vec<Place> {
        self.effects.clear();
        self.pending.clear();
        for file in &mut self.files {
            file.discard();
        }
        let mut removed = Vec::new();
        while let Some(made) = self.directories.pop() {
            removed.extend(made.remove());
        }
        removed
    }
}

impl MadeDirectory {
    /// Removes the directory if it is still the same and empty, and answers its place. One
    /// that cannot be removed stays noted, for the next start.
    fn remove(self) -> Option<Place> {
        let directory = self.place.directory.as_fd();
        let removed = walk::look(directory, self.place.name()).and_then(|stat| {
            if ObjectId::of(&stat) != self.object {
                return Err(Errno::NOENT);
            }
            rustix::fs::unlinkat(directory, self.place.name(), AtFlags::REMOVEDIR)
        });
        match removed {
            Ok(()) => return Some(self.place),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(_) => self.noted.leave(),
        }
        None
    }
}
