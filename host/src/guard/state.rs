//! What the host keeps for one tool call.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::Stat;
use wasmtime::component::{Resource, ResourceTable};

use super::ask::Asked;
use super::fault::{Fault, Refusal};
use super::found::Found;
use crate::audit::{AccessedObject, Entry, EntryKind, Object};
use crate::bindings::filesystem::ErrorCode;
use crate::error::{CallError, code};
use crate::expected::CallerWord;
use crate::failures::Failures;
use crate::optional::Captured;
use crate::policy::{Operation, RiskClass};
use crate::quotas::Taken;
use crate::roots::{Rights, Root, RootIndex};
use crate::session::CallWatch;
use crate::shared::Shared;
use crate::trace::TraceParent;
use crate::transaction::{Slot, StagedIndex, Transaction};
use crate::walk::ObjectId;

/// Refusals after which a call is ended: each is a line in the audit log, and a guest must
/// not be able to fill the disk with them.
const MAX_REFUSALS: u32 = 10_000;
/// Accesses after which a call is ended: they are held until the call ends.
const MAX_ACCESSES: usize = 250_000;
/// Bytes of paths in all accesses of a call, for the same reason: the record's lines are made
/// of them, so that twice as much is held at the end, and more where characters are escaped.
const MAX_ACCESS_BYTES: usize = 16 << 20;
/// Bytes of paths in all refusals of a call. Control characters take six times as many in
/// the log.
const MAX_REFUSAL_BYTES: usize = 1 << 20;
/// Accesses in one entry of the audit log.
const OBJECTS_PER_ENTRY: usize = 256;
/// Bytes of their paths. Escaped they are twice as many, which with all the rest is still less
/// than the longest line of a log.
const BYTES_PER_ENTRY: usize = 1 << 20;
/// Bytes of a name or path that the audit log keeps; longer ones are refused anyway
/// (`PATH_MAX`).
const MAX_RECORDED_BYTES: usize = 4096;

/// An open file or directory inside WASI.
#[derive(Clone, Debug)]
pub enum Descriptor {
    Directory(Directory),
    File(OpenFile),
}

/// A directory, as a place to start walks from.
#[derive(Clone, Debug)]
pub struct Directory {
    pub(crate) handle: Arc<OwnedFd>,
    pub(crate) id: ObjectId,
    pub(crate) root: RootIndex,
    /// Path from the root, as the guest spelled it; empty at the root itself.
    pub(crate) path: Arc<str>,
    /// Whether that is surely where it stands: it was reached without links and `..`.
    pub(crate) straight: bool,
    /// Which access of the call's record this directory's use is counted in.
    pub(crate) access: Option<usize>,
    /// How many directories were opened from one another to get here; a root and what is
    /// opened from a root, by whatever path, is the first level of a listing.
    pub(crate) level: u32,
}

impl Directory {
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// The root-relative spelling of a path that starts here.
    pub(crate) fn spell(&self, path: &str) -> String {
        if self.path.is_empty() {
            path.to_owned()
        } else {
            format!("{}/{path}", self.path)
        }
    }
}

/// A regular file.
#[derive(Clone, Debug)]
pub struct OpenFile {
    pub(crate) handle: Arc<OwnedFd>,
    pub(crate) id: ObjectId,
    pub(crate) root: RootIndex,
    pub(crate) path: Arc<str>,
    pub(crate) readable: bool,
    pub(crate) staged: Option<StagedIndex>,
    pub(crate) access: Option<usize>,
}

/// Something the call read, listed or looked up.
#[derive(Debug)]
pub(crate) struct Access {
    operation: Operation,
    root: RootIndex,
    path: Arc<str>,
    id: ObjectId,
    resolved: Option<Arc<str>>,
    bytes: u64,
    entries: u64,
}

impl Access {
    fn path_bytes(&self) -> usize {
        self.path.len() + self.resolved.as_ref().map_or(0, |path| path.len())
    }

    fn object(&self) -> Object {
        Object::new(self.id, self.resolved.as_deref())
    }
}

/// Why the host ended a call from outside the guest's view.
#[derive(Debug)]
pub(crate) struct Stop(pub(crate) CallError);

/// A new file that may not be, and why. It can reserve a name for what is renamed to it.
struct Owed {
    index: StagedIndex,
    error: CallError,
}

/// Everything that belongs to one call and is gone after it.
pub(crate) struct CallState {
    pub(crate) shared: Arc<Shared>,
    pub(crate) call: String,
    pub(crate) tool: String,
    /// The most that the tool declared it would do; nothing for a tool that the component
    /// does not list.
    pub(crate) ceiling: Option<RiskClass>,
    pub(crate) dry_run: bool,
    /// What the caller's arguments say to the host.
    pub(crate) word: CallerWord,
    pub(crate) deadline: Instant,
    /// By which another thread counts the call's operations and cancels it.
    pub(crate) watch: Option<Arc<CallWatch>>,
    /// The trace that the call belongs to.
    pub(crate) trace: Option<TraceParent>,
    pub(crate) table: ResourceTable,
    pub(crate) transaction: Transaction,
    /// The answer to give when the guest says `host`.
    pub(crate) last_failure: Option<CallError>,
    /// The answers to give where the guest says `refused` and names a path.
    pub(crate) failures: Failures,
    /// What the guest last looked for below a root.
    pub(super) sought: String,
    pub(crate) stop: Option<Stop>,
    /// When the call's clock was started.
    pub(crate) began: Instant,
    /// What the guest wrote to its standard streams, where it has them.
    pub(crate) captured: Captured,
    accesses: Vec<Access>,
    access_bytes: usize,
    refusals: u32,
    refusal_bytes: usize,
    /// Directories that the call made, those that it removed again included.
    pub(super) directories_made: u32,
    /// The name that was last refused to be unlinked because a directory had it.
    pub(super) called_directory: Option<Slot>,
    /// Entries in all open listings.
    pub(super) held_entries: usize,
    handles: u32,
    bytes_read: u64,
    bytes_read_of: HashMap<ObjectId, u64>,
    bytes_written: u64,
    /// What the call has taken of the session's quotas.
    taken: Taken,
    /// A new file that may not be, as long as nothing is written to it.
    owed: Option<Owed>,
    /// Bytes of all the guest's memories together.
    pub(crate) memory: u64,
    /// Elements of all the guest's tables together.
    pub(crate) table_elements: usize,
}

impl CallState {
    pub(crate) fn new(
        shared: Arc<Shared>,
        call: String,
        tool: &str,
        ceiling: Option<RiskClass>,
    ) -> Self {
        let began = Instant::now();
        let deadline = began + shared.policy.limits.timeout;
        Self {
            shared,
            call,
            tool: clipped(tool),
            ceiling,
            dry_run: false,
            word: CallerWord::default(),
            deadline,
            watch: None,
            trace: None,
            table: ResourceTable::new(),
            transaction: Transaction::default(),
            last_failure: None,
            failures: Failures::default(),
            sought: String::new(),
            stop: None,
            began,
            captured: Captured::default(),
            accesses: Vec::new(),
            access_bytes: 0,
            refusals: 0,
            refusal_bytes: 0,
            directories_made: 0,
            called_directory: None,
            held_entries: 0,
            handles: 0,
            bytes_read: 0,
            bytes_read_of: HashMap::new(),
            bytes_written: 0,
            taken: Taken::default(),
            owed: None,
            memory: 0,
            table_elements: 0,
        }
    }

    /// Starts the call's clock anew: waiting for a place is not the guest's time.
    pub(crate) fn start_clock(&mut self) {
        self.began = Instant::now();
        self.deadline = self.began + self.shared.policy.limits.timeout;
    }

    /// Whether the guard said no to anything that the guest asked.
    pub(crate) fn was_refused(&self) -> bool {
        self.refusals > 0
    }

    pub(crate) fn root(&self, index: RootIndex) -> &Root {
        self.shared.roots.get(index)
    }

    pub(crate) fn may(&self, index: RootIndex, rights: Rights) -> bool {
        self.root(index).rights == rights
    }

    /// Ends the call: the guest does not run on.
    pub(crate) fn stop(&mut self, error: CallError) -> wasmtime::Error {
        let message = error.to_string();
        self.stop.get_or_insert(Stop(error));
        wasmtime::Error::msg(message)
    }

    /// Refuses what would need one more handle than the guest may have. Asked before the
    /// operation too, so that what is refused for want of a handle is not done.
    pub(crate) fn room_for_a_handle(&self) -> Result<(), Fault> {
        let limit = self.shared.policy.limits.max_handles;
        if self.handles < limit {
            return Ok(());
        }
        let error = CallError::limit("max_handles", limit.into(), u64::from(limit) + 1);
        Err(self.refused(Operation::Open, ErrorCode::Quota, error))
    }

    /// Hands a resource to the guest, if it has not too many.
    pub(crate) fn hand_out<T: Send + 'static>(&mut self, value: T) -> Result<Resource<T>, Fault> {
        self.room_for_a_handle()?;
        let resource = self.table.push(value)?;
        self.handles += 1;
        Ok(resource)
    }

    /// Takes a resource back.
    pub(crate) fn take_back<T: Send + 'static>(
        &mut self,
        resource: Resource<T>,
    ) -> wasmtime::Result<()> {
        self.table.delete(resource)?;
        self.handles = self.handles.saturating_sub(1);
        Ok(())
    }

    /// A refusal that concerns no path.
    pub(crate) fn refused(&self, operation: Operation, wasi: ErrorCode, error: CallError) -> Fault {
        Fault::Refused(Box::new(Refusal {
            wasi,
            error,
            operation,
            root: None,
            path: String::new(),
            to: None,
        }))
    }

    /// The single way out for everything that goes wrong in a WASI call: keeps the answer,
    /// records a refusal, and gives the guest its code.
    pub(crate) fn settle(&mut self, fault: Fault) -> wasmtime::Result<ErrorCode> {
        match fault {
            Fault::Trap(error) => Err(error),
            Fault::Late => {
                let late = || self.late(self.deadline);
                let error = self.end_from_outside().unwrap_or_else(late);
                Err(self.stop(error))
            }
            Fault::Failed(failure) => {
                let (wasi, error) = *failure;
                self.failed(error);
                Ok(wasi)
            }
            Fault::Refused(refusal) => {
                let entry = self.refusal_entry(&refusal);
                self.refusals += 1;
                self.refusal_bytes += entry.path.as_ref().map_or(0, String::len)
                    + entry.to_path.as_ref().map_or(0, String::len);
                if self.refusals > MAX_REFUSALS || self.refusal_bytes > MAX_REFUSAL_BYTES {
                    let most = u64::from(MAX_REFUSALS);
                    return Err(self.stop(CallError::limit("refusals", most, most + 1)));
                }
                self.record(vec![entry])?;
                self.failed(refusal.error);
                Ok(refusal.wasi)
            }
        }
    }

    fn failed(&mut self, error: CallError) {
        self.failures.note(&error);
        self.last_failure = Some(error);
    }

    fn refusal_entry(&self, refusal: &Refusal) -> Entry {
        let label = |root: RootIndex| self.shared.roots.label(root).to_owned();
        let mut entry = self.entry(EntryKind::Refusal);
        entry.operation = Some(refusal.operation);
        entry.risk = Some(refusal.operation.risk());
        entry.decision = Some("deny");
        entry.code = Some(refusal.error.code().to_owned());
        entry.reason = refusal.error.static_reason();
        entry.root = refusal.root.map(label);
        entry.path = Some(clipped(&refusal.path));
        entry.to_root = refusal.to.as_ref().map(|(root, _)| label(*root));
        entry.to_path = refusal.to.as_ref().map(|(_, path)| clipped(path));
        entry
    }

    /// An entry that names this call.
    pub(crate) fn entry(&self, kind: EntryKind) -> Entry {
        let mut entry = Entry::new(kind);
        entry.session.clone_from(&self.shared.id);
        entry.call = Some(self.call.clone());
        entry.tool = Some(self.tool.clone());
        entry.traceparent = self.trace;
        entry
    }

    /// Writes entries now. When that fails, the call is over.
    pub(crate) fn record(&mut self, entries: Vec<Entry>) -> wasmtime::Result<()> {
        match self.shared.audit.append(entries) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.stop(error)),
        }
    }

    /// Notes an access; it is written before the result leaves the host. Looking at the
    /// same thing twice in a row is one access.
    pub(crate) fn accessed(
        &mut self,
        operation: Operation,
        root: RootIndex,
        path: Arc<str>,
        found: Found,
    ) -> Result<usize, Fault> {
        let Found { id, resolved } = found;
        let again = |last: &Access| {
            last.operation == operation && last.id == id && last.root == root && last.path == path
        };
        if self.accesses.last().is_some_and(again) {
            return Ok(self.accesses.len() - 1);
        }
        self.access_bytes += path.len() + resolved.as_ref().map_or(0, |path| path.len());
        if self.accesses.len() >= MAX_ACCESSES || self.access_bytes > MAX_ACCESS_BYTES {
            let most = MAX_ACCESSES as u64;
            return Err(Fault::Trap(self.stop(CallError::limit(
                "accesses",
                most,
                most + 1,
            ))));
        }
        self.accesses.push(Access {
            operation,
            root,
            path,
            id,
            resolved,
            bytes: 0,
            entries: 0,
        });
        Ok(self.accesses.len() - 1)
    }

    pub(super) fn accesses_so_far(&self) -> usize {
        self.accesses.len()
    }

    /// Takes back what was noted since then, where nothing of it is told.
    pub(super) fn forget_accesses_since(&mut self, so_far: usize) {
        self.accesses.truncate(so_far);
    }

    /// Says more precisely what an access turned out to be.
    pub(crate) fn access_was(&mut self, access: Option<usize>, operation: Operation, bytes: u64) {
        if let Some(access) = access.and_then(|index| self.accesses.get_mut(index)) {
            access.operation = operation;
            access.bytes += bytes;
        }
    }

    /// Counts a look at an entry of a directory that the call has listed; other looks get
    /// an access of their own.
    pub(crate) fn looked_at_entry(&mut self, access: Option<usize>) -> bool {
        match access.and_then(|index| self.accesses.get_mut(index)) {
            Some(access) if access.operation == Operation::List => {
                access.entries += 1;
                true
            }
            _ => false,
        }
    }

    /// The call's accesses as audit entries, several objects in one.
    pub(crate) fn access_entries(&mut self) -> Vec<Entry> {
        let accesses = std::mem::take(&mut self.accesses);
        let roots = self.shared.roots.iter();
        let labels: Vec<Arc<str>> = roots.map(|root| root.label.as_str().into()).collect();
        let described = |access: &Access| AccessedObject {
            bytes: (access.operation == Operation::Read).then_some(access.bytes),
            entries: access.entries,
            object: access.object(),
            operation: access.operation,
            path: Arc::clone(&access.path),
            root: Arc::clone(&labels[access.root]),
        };
        batches(&accesses)
            .map(|batch| {
                let mut entry = self.entry(EntryKind::Access);
                entry.risk = Some(RiskClass::Read);
                entry.decision = Some("allow");
                match batch {
                    [one] => self.describe_one(&mut entry, one),
                    many => entry.objects = many.iter().map(&described).collect(),
                }
                entry
            })
            .collect()
    }

    fn describe_one(&self, entry: &mut Entry, access: &Access) {
        entry.operation = Some(access.operation);
        entry.root = Some(self.shared.roots.label(access.root).to_owned());
        entry.path = Some(access.path.to_string());
        entry.object = Some(access.object());
        entry.bytes = (access.operation == Operation::Read).then_some(access.bytes);
    }

    /// Asks for `amount` more bytes of an object of `size` bytes. Large files come in pieces,
    /// but what a refusal tells is how much all of it would be.
    pub(crate) fn charge_read(
        &mut self,
        id: ObjectId,
        amount: u64,
        size: u64,
    ) -> Result<(), CallError> {
        let limits = &self.shared.policy.limits;
        let of_object = self.bytes_read_of.entry(id).or_insert(0);
        let all = amount.max(size.saturating_sub(*of_object));
        let object_total = of_object.saturating_add(amount);
        if object_total > limits.max_read_bytes {
            return Err(CallError::limit(
                "max_read_bytes",
                limits.max_read_bytes,
                of_object.saturating_add(all),
            ));
        }
        let total = self.bytes_read.saturating_add(amount);
        if total > limits.max_call_read_bytes {
            return Err(CallError::limit(
                "max_call_read_bytes",
                limits.max_call_read_bytes,
                self.bytes_read.saturating_add(all),
            ));
        }
        *of_object = object_total;
        self.bytes_read = total;
        Ok(())
    }

    /// Whether `amount` more bytes of an object would be within the limits.
    pub(crate) fn has_read_budget(&self, id: ObjectId, amount: u64) -> bool {
        amount <= self.read_budget(id)
    }

    /// Bytes of an object that may still be read.
    pub(crate) fn read_budget(&self, id: ObjectId) -> u64 {
        let limits = &self.shared.policy.limits;
        let of_object = self.bytes_read_of.get(&id).copied().unwrap_or(0);
        let of_object = limits.max_read_bytes.saturating_sub(of_object);
        let of_call = limits.max_call_read_bytes.saturating_sub(self.bytes_read);
        of_object.min(of_call)
    }

    /// Bytes that may still be written.
    pub(crate) fn write_budget(&self) -> u64 {
        let limit = self.shared.policy.limits.max_write_bytes;
        limit.saturating_sub(self.bytes_written)
    }

    /// Gives back what was asked for and not read.
    pub(crate) fn refund_read(&mut self, id: ObjectId, amount: u64) {
        if let Some(of_object) = self.bytes_read_of.get_mut(&id) {
            *of_object = of_object.saturating_sub(amount);
        }
        self.bytes_read = self.bytes_read.saturating_sub(amount);
    }

    /// Asks for `amount` more bytes to be written, before they are.
    pub(crate) fn charge_write(&mut self, amount: u64) -> Result<(), CallError> {
        let limit = self.shared.policy.limits.max_write_bytes;
        let total = self.bytes_written.saturating_add(amount);
        if total > limit {
            return Err(CallError::limit("max_write_bytes", limit, total));
        }
        self.shared.quotas.write(&mut self.taken, amount)?;
        self.bytes_written = total;
        Ok(())
    }

    /// Asks for one more file or directory, before it is made.
    pub(crate) fn charge_new(&mut self, asked: &Asked) -> Result<(), Fault> {
        let taken = self.shared.quotas.create(&mut self.taken);
        taken.map_err(|error| asked.refuse(ErrorCode::Quota, error))
    }

    /// Asks for a new file. Where the quota has no room, one that nothing has may still reserve a
    /// name for what is renamed to it: a rename makes no file.
    pub(crate) fn charge_new_file(
        &mut self,
        asked: &Asked,
        reserves: bool,
    ) -> Result<Option<CallError>, Fault> {
        match self.shared.quotas.create(&mut self.taken) {
            Ok(()) => Ok(None),
            Err(error) if reserves && !self.owes() => Ok(Some(error)),
            Err(error) => Err(asked.refuse(ErrorCode::Quota, error)),
        }
    }

    pub(crate) fn owes(&self) -> bool {
        self.owed.is_some()
    }

    /// Remembers a new file that may not be: there is no room for it, or only a directory may
    /// have its name.
    pub(crate) fn owe(&mut self, index: StagedIndex, error: CallError) {
        self.owed = Some(Owed { index, error });
    }

    /// Refuses to write to a file that may not be, and takes it back.
    pub(crate) fn refuse_owed(&mut self, index: StagedIndex) -> Result<(), CallError> {
        match self.owed.take_if(|owed| owed.index == index) {
            None => Ok(()),
            Some(owed) => {
                self.transaction.take_back_file(index);
                Err(owed.error)
            }
        }
    }

    /// The refusal of a file that may not be, where it is there to the end.
    pub(crate) fn still_owed(&mut self) -> Result<(), CallError> {
        match self.owed.take() {
            None => Ok(()),
            Some(owed) => Err(owed.error),
        }
    }

    /// Gives the session back a new file that is not made after all.
    pub(crate) fn unmake_file(&mut self, index: StagedIndex) {
        if self.owed.take_if(|owed| owed.index == index).is_none() {
            self.refund_new();
        }
    }

    /// Gives the session back a file or directory that is not made after all.
    pub(crate) fn refund_new(&mut self) {
        self.shared.quotas.uncreate(&mut self.taken);
    }

    /// Gives the session back what a call took of which nothing stays.
    pub(crate) fn give_back(&mut self) {
        self.shared
            .quotas
            .give_back(std::mem::take(&mut self.taken));
    }

    /// Counts an operation, and refuses to go on after the deadline or a cancellation.
    pub(crate) fn check_deadline(&self) -> Result<(), Fault> {
        if let Some(watch) = &self.watch {
            watch.count_operation();
        }
        match self.end_from_outside() {
            None => Ok(()),
            Some(_) => Err(Fault::Late),
        }
    }

    /// Why the call must not run on, if it must not: its time is over, or nobody wants it.
    pub(crate) fn end_from_outside(&self) -> Option<CallError> {
        let watch = self.watch.as_ref();
        if watch.is_some_and(|watch| watch.is_cancelled()) {
            return Some(CallError::cancelled());
        }
        let now = Instant::now();
        self.is_late(now).then(|| self.late(now))
    }

    /// The deadline itself is too late.
    fn is_late(&self, now: Instant) -> bool {
        now >= self.deadline
    }

    fn late(&self, now: Instant) -> CallError {
        let limit = self.shared.policy.limits.timeout;
        timed_out(limit, limit + now.saturating_duration_since(self.deadline))
    }

    /// The class of a change to an object: `DRAFT` when this session created it and it is
    /// still as the session left it.
    pub(crate) fn risk_of(&self, operation: Operation, stat: &Stat) -> RiskClass {
        if self.shared.is_own_work(stat) {
            RiskClass::Draft
        } else {
            operation.risk()
        }
    }
}

/// The answer to a call that has taken its time, and at least as much as `passed`.
pub(crate) fn timed_out(limit: Duration, passed: Duration) -> CallError {
    CallError::new(
        code::TIMEOUT,
        format!("the call took longer than {} ms", limit.as_millis()),
    )
    .hint_of("ask for less at a time, or have the operator raise the limit")
    .detail("limit", "timeout_ms")
    .detail("value", limit.as_millis() as u64)
    .detail("actual", passed.as_millis() as u64)
}

/// Accesses that fit into one entry: up to 256, and no more paths than leave the line short.
fn batches(accesses: &[Access]) -> impl Iterator<Item = &[Access]> {
    let (mut count, mut bytes) = (0, 0);
    accesses.chunk_by(move |access, next| {
        (count, bytes) = (count + 1, bytes + access.path_bytes());
        let fits = count < OBJECTS_PER_ENTRY && bytes + next.path_bytes() <= BYTES_PER_ENTRY;
        if !fits {
            (count, bytes) = (0, 0);
        }
        fits
    })
}

/// What the audit log keeps of text that a stranger chose.
fn clipped(text: &str) -> String {
    if text.len() <= MAX_RECORDED_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MAX_RECORDED_BYTES);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::AuditLog;
    use crate::component::ToolComponent;
    use crate::policy::Policy;

    #[test]
    fn a_call_has_its_time_and_not_a_nanosecond_more() {
        let component = ToolComponent::file_tools().unwrap();
        let policy = Policy::default();
        let limit = policy.limits.timeout;
        let shared = Shared::without_grants(component, policy, AuditLog::none());
        let state = CallState::new(shared, String::new(), "", None);
        let (deadline, tick) = (state.deadline, Duration::from_nanos(1));
        assert!(!state.is_late(deadline - tick));
        for late in [deadline, deadline + tick] {
            assert!(state.is_late(late));
            let error = state.late(late).to_json();
            assert_eq!(error["value"], limit.as_millis() as u64);
            assert_eq!(error["actual"], limit.as_millis() as u64);
        }
    }
}
