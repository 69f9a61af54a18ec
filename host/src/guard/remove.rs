//! Making and removing directories, deleting and renaming.

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::ask::Asked;
use super::excluded::holds_excluded;
use super::fault::Fault;
use super::state::{CallState, Directory};
use crate::audit::{EntryKind, Object};
use crate::bindings::filesystem::ErrorCode;
use crate::errno;
use crate::error::{CallError, code};
use crate::paths::{self, Use};
use crate::policy::{Operation, RiskClass};
use crate::transaction::{
    self, Before, MAX_OBJECTS, MAX_TREE_DEPTH, MadeDirectory, Pending, Place, Tree, TreeError,
    is_temporary_name,
};
use crate::walk::{self, Kind, ObjectId};

/// Directories that one call may make.
const MAX_DIRECTORIES: u32 = 1000;

/// What a directory holds.
enum Holds {
    Nothing,
    /// What the operator's patterns exclude, so that it seems empty.
    OnlyExcluded,
    Something,
}

impl CallState {
    pub(super) fn create_directory(&mut self, base: &Directory, path: String) -> Result<(), Fault> {
        let asked = self.ask(Operation::CreateDirectory, base, path, Use::TargetAny)?;
        let place = self.locate_target(&asked)?;
        match self.transaction.pending(&place.slot) {
            Some(Pending::Gone) => return Err(asked.pending()),
            Some(_) => return Err(Fault::errno(Errno::EXIST)),
            None => {}
        }
        if self.look(&asked, &place)?.is_some() {
            return Err(Fault::errno(Errno::EXIST));
        }
        paths::check_new_name(place.name(), self.shared.policy.paths)
            .map_err(|error| asked.refuse(ErrorCode::Invalid, error))?;
        self.count_directory(&asked)?;
        self.charge_new(&asked)?;
        self.record_directory(&place, None)?;
        let journal = &self.shared.journal;
        let made = transaction::make_directory(journal, place.directory(), place.name());
        let (object, noted) = match made {
            Ok(made) => made,
            Err(errno) => {
                self.record_directory(&place, Some("failed"))?;
                return Err(errno.into());
            }
        };
        // Known to the transaction first: what cannot be recorded is taken back.
        self.transaction.made_directory(MadeDirectory {
            place: place.clone(),
            object,
            noted,
        });
        let mut entry = self.directory_entry(&place, Some("ok"));
        entry.object = Some(Object::new(object, None));
        self.record(vec![entry]).map_err(Fault::Trap)
    }

    /// Every directory is two lines in the audit log, whether it is removed again or not.
    fn count_directory(&mut self, asked: &Asked) -> Result<(), Fault> {
        self.directories_made += 1;
        if self.directories_made <= MAX_DIRECTORIES {
            return Ok(());
        }
        let most = u64::from(MAX_DIRECTORIES);
        Err(asked.refuse(
            ErrorCode::Quota,
            CallError::limit("directories", most, most + 1),
        ))
    }

    /// The intent to make a directory, or what became of it.
    fn record_directory(
        &mut self,
        place: &Place,
        outcome: Option<&'static str>,
    ) -> Result<(), Fault> {
        let entry = self.directory_entry(place, outcome);
        self.record(vec![entry]).map_err(Fault::Trap)
    }

    pub(crate) fn directory_entry(
        &self,
        place: &Place,
        outcome: Option<&'static str>,
    ) -> crate::audit::Entry {
        let kind = if outcome.is_some() {
            EntryKind::Outcome
        } else {
            EntryKind::Intent
        };
        let mut entry = self.entry(kind);
        entry.operation = Some(Operation::CreateDirectory);
        entry.risk = Some(RiskClass::Draft);
        entry.decision = Some("allow");
        entry.root = Some(self.shared.roots.label(place.root).to_owned());
        entry.path = Some(place.path.clone());
        entry.outcome = outcome;
        entry
    }

    pub(super) fn unlink_file(&mut self, base: &Directory, path: String) -> Result<(), Fault> {
        let asked = self.ask(Operation::Delete, base, path, Use::TargetFile)?;
        let place = self.locate_target(&asked)?;
        match self.transaction.pending(&place.slot).cloned() {
            Some(Pending::Gone) => return Err(Fault::errno(Errno::NOENT)),
            Some(Pending::File(index)) => return self.delete_staged(&asked, index),
            Some(Pending::Moved(_, before)) if before.kind == Kind::Directory => {
                return Err(Fault::errno(Errno::ISDIR));
            }
            Some(Pending::Moved(..)) => return self.delete_moved(&asked, &place),
            None => {}
        }
        let stat = self
            .look(&asked, &place)?
            .ok_or_else(|| self.absent(&asked, &place))?;
        self.judge_place(&asked, &place, Kind::of(&stat).into())?;
        if Kind::of(&stat) == Kind::Directory {
            self.called_directory = Some(place.slot);
            return Err(Fault::errno(Errno::ISDIR));
        }
        let risk = self.risk_of(Operation::Delete, &stat);
        self.transaction.delete(place, Before::of(&stat), risk);
        Ok(())
    }

    /// Deleting what this call staged takes the staging back; new content for an existing
    /// file gives way to the deletion of that file.
    fn delete_staged(&mut self, asked: &Asked, index: usize) -> Result<(), Fault> {
        let effect = self
            .transaction
            .take_back_file(index)
            .ok_or_else(|| asked.pending())?;
        match effect.before {
            Some(before) => self.transaction.delete(effect.place, before, effect.risk),
            None => self.unmake_file(index),
        }
        Ok(())
    }

    fn delete_moved(&mut self, asked: &Asked, place: &Place) -> Result<(), Fault> {
        let effect = self
            .transaction
            .take_back_rename(&place.slot)
            .ok_or_else(|| asked.pending())?;
        if let Some(before) = effect.before {
            self.transaction.delete(effect.place, before, effect.risk);
        }
        Ok(())
    }

    pub(super) fn remove_directory(&mut self, base: &Directory, path: String) -> Result<(), Fault> {
        let asked = self.ask(Operation::Delete, base, path, Use::TargetAny)?;
        let place = self.locate_target(&asked)?;
        match self.transaction.pending(&place.slot) {
            Some(Pending::Gone) => return Err(Fault::errno(Errno::NOENT)),
            Some(Pending::File(_)) => return Err(Fault::errno(Errno::NOTDIR)),
            Some(Pending::Moved(..)) => return Err(asked.pending()),
            None => {}
        }
        let stat = self
            .look(&asked, &place)?
            .ok_or_else(|| self.absent(&asked, &place))?;
        self.judge_place(&asked, &place, Kind::of(&stat).into())?;
        if Kind::of(&stat) != Kind::Directory {
            return Err(match &self.called_directory {
                Some(slot) if *slot == place.slot => asked.swapped(),
                _ => Fault::errno(Errno::NOTDIR),
            });
        }
        match self.content_of(&asked, &place, &stat)? {
            Holds::Nothing => {}
            _ if self.word.recursive => return self.remove_tree(&asked, place, &stat),
            Holds::Something => return Err(Fault::errno(Errno::NOTEMPTY)),
            Holds::OnlyExcluded => return Err(holds_excluded(&asked)),
        }
        if self.transaction.made(ObjectId::of(&stat)) {
            return self.unmake_directory(&place, &stat);
        }
        self.transaction.delete(
            place,
            Before::of(&stat),
            self.risk_of(Operation::Delete, &stat),
        );
        Ok(())
    }

    fn unmake_directory(&mut self, place: &Place, stat: &Stat) -> Result<(), Fault> {
        rustix::fs::unlinkat(place.directory(), place.name(), AtFlags::REMOVEDIR)?;
        self.transaction.forget_directory(ObjectId::of(stat));
        self.refund_new();
        self.record_directory(place, Some("rolled-back"))
    }

    /// What the directory would hold after the commit. One that may not be read is left to the
    /// kernel, which looks again in any case.
    fn content_of(&self, asked: &Asked, place: &Place, stat: &Stat) -> Result<Holds, Fault> {
        let id = ObjectId::of(stat);
        let pending = |name: &str| {
            self.transaction
                .pending_in(id)
                .find(|(other, _)| *other == name)
                .map(|(_, pending)| pending)
        };
        let arrives = self
            .transaction
            .pending_in(id)
            .any(|(_, pending)| !matches!(pending, Pending::Gone));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = match rustix::fs::openat(place.directory(), place.name(), flags, Mode::empty())
        {
            Err(Errno::ACCESS) => return Ok(Holds::Nothing),
            // It was a directory a moment ago.
            Err(Errno::NOTDIR | Errno::LOOP) => return Err(asked.swapped()),
            other => other?,
        };
        if arrives {
            return Ok(Holds::Something);
        }
        let stands = self.judged_path(asked, place)?;
        let mut holds = Holds::Nothing;
        for entry in rustix::fs::Dir::new(handle)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            let stays = name != "."
                && name != ".."
                && !is_temporary_name(&name)
                && !matches!(pending(&name), Some(Pending::Gone));
            if !stays {
                continue;
            }
            let kind = Kind::from_type(entry.file_type());
            if !self.hides(stands.as_deref(), entry.file_name().to_bytes(), kind) {
                return Ok(Holds::Something);
            }
            holds = Holds::OnlyExcluded;
        }
        Ok(holds)
    }

    /// The caller asked for everything inside as well; the component could not have.
    fn remove_tree(&mut self, asked: &Asked, place: Place, stat: &Stat) -> Result<(), Fault> {
        if self.transaction.has_pending() || self.transaction.made(ObjectId::of(stat)) {
            return Err(asked.pending());
        }
        let before = Before::of(stat);
        let tree = Tree::survey(&place, before.object, Some(self.deadline))
            .map_err(|error| not_as_a_whole(asked, error))?;
        self.judge_inside(asked, &[(asked, &place)], &tree)?;
        let readable = self.is_readable(&place)?;
        self.transaction.delete_tree(place, before, tree, readable);
        Ok(())
    }

    pub(super) fn rename(
        &mut self,
        base: &Directory,
        path: String,
        new_base: &Directory,
        new_path: String,
    ) -> Result<(), Fault> {
        let to = Asked::of(Operation::Rename, new_base, new_path).with_source(base, &path);
        let from = Asked::of(Operation::Rename, base, path).with_target(new_base, &to.path);
        let from = self.ask_about(from, Use::TargetAny)?;
        let to = self.ask_about(to, Use::TargetAny)?;
        let (source, target) = (self.locate_target(&from)?, self.locate_target(&to)?);
        // A `/` behind the name of a file names nothing, on either side.
        let slash = [&from, &to].map(|asked| paths::asks_for_directory(&asked.path));
        let kind = self.kind_at(&from, &source)?;
        self.judge_place(&from, &source, kind.into())?;
        self.judge_place(&to, &target, kind.into())?;
        if kind == Kind::File && slash.contains(&true) {
            return Err(Fault::errno(Errno::NOTDIR));
        }
        if source.slot == target.slot {
            // A link is none that ends in a slash.
            if kind != Kind::Directory && slash.contains(&true) {
                return Err(Fault::errno(Errno::NOTDIR));
            }
            // A new file of this call is at most what reserves the name, and nothing to move.
            return match self.transaction.pending(&source.slot) {
                Some(Pending::File(index)) if self.transaction.file(*index).created => {
                    Err(Fault::errno(Errno::NOENT))
                }
                _ => Ok(()),
            };
        }
        if source.slot.parent.device != target.slot.parent.device {
            let error = errno::across_file_systems();
            return Err(Fault::failed(ErrorCode::CrossDevice, error));
        }
        paths::check_new_name(target.name(), self.shared.policy.paths)
            .map_err(|error| to.refuse(ErrorCode::Invalid, error))?;
        let before = match self.transaction.pending(&source.slot).cloned() {
            Some(Pending::Gone) => return Err(Fault::errno(Errno::NOENT)),
            Some(Pending::File(index)) if self.transaction.is_new(index) => {
                return self.rename_staged(&from, &to, index, target);
            }
            Some(_) => return Err(from.pending()),
            None => self.source_of_rename(&from, &source)?,
        };
        let directory = before.kind == Kind::Directory;
        // A file that this call made gives way to a file only, as everywhere.
        if directory
            && matches!(
                self.transaction.pending(&target.slot),
                Some(Pending::File(_))
            )
        {
            return Err(Fault::errno(Errno::EXIST));
        }
        let replaced = self.target_of_rename(&from, &to, &target)?;
        if directory && self.lies_within_any(target.directory(), &[before.object])? {
            return Err(into_itself());
        }
        if directory && replaced.is_some() {
            return Err(Fault::errno(Errno::EXIST));
        }
        if directory {
            self.judge_renamed((&from, &source), (&to, &target))?;
        }
        let risk = self.risk_of_rename(&source, replaced);
        self.transaction
            .rename(source, target, before, replaced, risk);
        Ok(())
    }

    /// What the call finds at a place, its own pending changes included.
    fn kind_at(&self, asked: &Asked, place: &Place) -> Result<Kind, Fault> {
        let kind = match self.transaction.pending(&place.slot) {
            Some(Pending::Gone) => None,
            Some(Pending::File(_)) => Some(Kind::File),
            Some(Pending::Moved(_, before)) => Some(before.kind),
            None => self.look(asked, place)?.as_ref().map(Kind::of),
        };
        kind.ok_or_else(|| self.absent(asked, place))
    }

    /// A link that moves may come to lead somewhere else, so links stay where they are.
    fn source_of_rename(&self, asked: &Asked, source: &Place) -> Result<Before, Fault> {
        let stat = self
            .look(asked, source)?
            .ok_or_else(|| Fault::errno(Errno::NOENT))?;
        match Kind::of(&stat) {
            Kind::Symlink => Err(self.refuse_symlink(asked)),
            Kind::Special => Err(asked.special()),
            // POSIX: a path that ends in a slash names a directory.
            Kind::File if asked.path.ends_with('/') => Err(Fault::errno(Errno::NOTDIR)),
            _ => Ok(Before::of(&stat)),
        }
    }

    /// What the rename would replace. An empty new file of this call that stands there is
    /// how a guest reserves the name, and gives way.
    fn target_of_rename(
        &mut self,
        from: &Asked,
        to: &Asked,
        target: &Place,
    ) -> Result<Option<Before>, Fault> {
        match self.transaction.pending(&target.slot).cloned() {
            Some(Pending::File(index)) if self.transaction.is_new(index) => {
                self.transaction.take_back_file(index);
                self.unmake_file(index);
                return Ok(None);
            }
            Some(_) => return Err(from.pending()),
            None => {}
        }
        let Some(stat) = self.look(to, target)? else {
            return Ok(None);
        };
        match Kind::of(&stat) {
            Kind::Directory => return Err(Fault::errno(Errno::EXIST)),
            Kind::Symlink => return Err(self.refuse_symlink(to)),
            Kind::Special => return Err(to.special()),
            Kind::File => {}
        }
        self.consent_to_overwrite(from)?;
        if stat.st_nlink > 1 {
            let error = CallError::new(
                code::HARD_LINK,
                "the file in the way has another name as well",
            )
            .hint_of("choose another name");
            return Err(to.refuse(ErrorCode::NotPermitted, error));
        }
        Ok(Some(Before::of(&stat)))
    }

    fn rename_staged(
        &mut self,
        from: &Asked,
        to: &Asked,
        index: usize,
        target: Place,
    ) -> Result<(), Fault> {
        let replaced = match self.transaction.pending(&target.slot).cloned() {
            Some(Pending::File(other)) if !self.transaction.is_new(other) => {
                self.replaced_already(other)
            }
            _ => self.replaced_on_disk(from, to, &target)?,
        };
        if replaced.is_some() {
            self.transaction.file(index).make_private()?;
            // It takes a name that is there, and makes none.
            self.unmake_file(index);
        }
        self.transaction.retarget(index, target, replaced);
        Ok(())
    }

    /// What the call was about to replace anyway, and now replaces with something else.
    fn replaced_already(&mut self, index: usize) -> Option<(Before, RiskClass)> {
        let effect = self.transaction.take_back_file(index)?;
        Some((effect.before?, effect.risk))
    }

    /// Writing beside a file and renaming over it is a replacement like any other.
    fn replaced_on_disk(
        &mut self,
        from: &Asked,
        to: &Asked,
        target: &Place,
    ) -> Result<Option<(Before, RiskClass)>, Fault> {
        let Some(before) = self.target_of_rename(from, to, target)? else {
            return Ok(None);
        };
        self.may_write(to, target)?;
        let stat = walk::look(target.directory(), target.name())?;
        if Before::of(&stat) != before {
            return Err(to.swapped());
        }
        Ok(Some((before, self.risk_of(Operation::Replace, &stat))))
    }

    fn risk_of_rename(&self, source: &Place, replaced: Option<Before>) -> RiskClass {
        match walk::look(source.directory(), source.name()) {
            Ok(stat) if replaced.is_none() => self.risk_of(Operation::Rename, &stat),
            _ => RiskClass::Destructive,
        }
    }
}

/// Why a directory is not deleted with what it holds.
pub(super) fn not_as_a_whole(asked: &Asked, error: TreeError) -> Fault {
    let over = |limit, most: usize| {
        let most = most as u64;
        asked.refuse(ErrorCode::Quota, CallError::limit(limit, most, most + 1))
    };
    match error {
        TreeError::Errno(errno) => asked.errno(errno),
        TreeError::TooLarge => over("deleted_objects", MAX_OBJECTS),
        TreeError::TooDeep => over("deleted_depth", MAX_TREE_DEPTH),
        TreeError::Changed => asked.swapped(),
        TreeError::Late => Fault::Late,
        TreeError::Mount => asked.not_granted(
            "another file system is mounted inside the directory",
            "delete what lies beside it in smaller steps",
        ),
    }
}

/// EINVAL, in words: the errno says too little for anybody to act on.
fn into_itself() -> Fault {
    let error = CallError::new(
        code::INVALID_ARGUMENTS,
        "a directory cannot be moved into itself",
    );
    Fault::failed(
        ErrorCode::Invalid,
        error.hint_of("choose a place outside it"),
    )
}
