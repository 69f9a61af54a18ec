//! Belt and braces: the kernel's own confinement, under the guard's.

use std::os::fd::AsFd;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort,
    PathBeneath, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use crate::ambient;
use crate::roots::Rights;
use crate::session::Session;
use crate::tool_host::Tenant;

/// The rights that the rules speak of. Newer kernels know more; none of them opens a file
/// that these do not.
const KNOWN: ABI = ABI::V6;

/// Whether the kernel holds the thread to the session's directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelConfinement {
    /// Landlock is in force.
    Enforced,
    /// The kernel has no Landlock, or it is switched off.
    Unavailable,
}

/// Landlock is there and could not be applied.
#[derive(Debug, thiserror::Error)]
#[error("the kernel offers Landlock, but it could not be applied: {0}")]
pub struct ConfineError(String);

impl Session {
    /// Restricts the calling thread, and every thread that it starts afterwards, to the
    /// session's roots, this crate's state directory, and the directory of an audit log that
    /// is rotated, with Landlock. For programs that
    /// have nothing else to do; the library never does this by itself, and it cannot be
    /// taken back.
    ///
    /// Landlock does not cover looking up metadata and changing modes or times; files that
    /// are open already stay usable. TCP is closed altogether, but for the ports that an
    /// [`AuditObserver`](crate::AuditObserver) of the log connects to.
    ///
    /// # Errors
    ///
    /// When the kernel offers Landlock and a rule cannot be added. The thread may then be
    /// restricted in part; end it.
    pub fn confine_thread(&self) -> Result<KernelConfinement, ConfineError> {
        restrict(std::slice::from_ref(self)).map_err(|error| ConfineError(error.to_string()))
    }
}

impl Tenant {
    /// As [`Session::confine_thread`], to the roots of all components together.
    ///
    /// # Errors
    ///
    /// As [`Session::confine_thread`].
    pub fn confine_thread(&self) -> Result<KernelConfinement, ConfineError> {
        let mut sessions = vec![self.session().clone()];
        sessions.extend(self.components().into_iter().map(|(_, session)| session));
        restrict(&sessions).map_err(|error| ConfineError(error.to_string()))
    }
}

/// Takes every file and every port from the calling thread, and from those that it starts.
pub(crate) fn seal_thread() -> Result<KernelConfinement, ConfineError> {
    let sealed = nothing_allowed().and_then(in_force);
    sealed.map_err(|error| ConfineError(error.to_string()))
}

fn restrict(sessions: &[Session]) -> Result<KernelConfinement, Box<dyn std::error::Error>> {
    let mut ruleset = nothing_allowed()?;
    for session in sessions {
        ruleset = add_rules(ruleset, session)?;
    }
    if let Ok(terminal) = ambient::open_terminal() {
        let talk = AccessFs::ReadFile | AccessFs::WriteFile;
        ruleset = ruleset.add_rule(PathBeneath::new(terminal, talk))?;
    }
    in_force(ruleset)
}

fn nothing_allowed() -> Result<RulesetCreated, Box<dyn std::error::Error>> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(KNOWN))?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?;
    Ok(ruleset)
}

fn in_force(ruleset: RulesetCreated) -> Result<KernelConfinement, Box<dyn std::error::Error>> {
    let status = ruleset.restrict_self()?;
    match (status.landlock, status.ruleset) {
        (LandlockStatus::NotEnabled | LandlockStatus::NotImplemented, _) => {
            Ok(KernelConfinement::Unavailable)
        }
        (_, RulesetStatus::NotEnforced) => Err("the rules were not enforced".into()),
        _ => Ok(KernelConfinement::Enforced),
    }
}

/// Opens what one session may reach.
fn add_rules(
    mut ruleset: RulesetCreated,
    session: &Session,
) -> Result<RulesetCreated, Box<dyn std::error::Error>> {
    for root in session.shared().roots.iter() {
        ruleset = ruleset.add_rule(PathBeneath::new(
            root.handle.as_fd(),
            rights_below(root.rights),
        ))?;
    }
    if let Some(directory) = &session.shared().directory {
        // Sessions that a server starts later have directories beside it, and each is removed
        // when its session is over.
        let rights = rights_below(Rights::Write);
        ruleset = ruleset.add_rule(PathBeneath::new(directory.base().as_fd(), rights))?;
    }
    for made in &session.shared().made {
        // Where the session ends without having used it, it is taken away.
        ruleset = ruleset.add_rule(PathBeneath::new(made.parent(), AccessFs::RemoveDir))?;
    }
    if let Some(state) = &session.shared().state
        && is_state_there(session, state)
    {
        let (directory, _) = ambient::open_ambient_directory(state)?;
        ruleset = ruleset.add_rule(PathBeneath::new(directory, AccessFs::from_all(KNOWN)))?;
    }
    if let Some(log) = session.audit().grows_in() {
        let (directory, _) = ambient::open_ambient_directory(ambient::directory_of(log))?;
        ruleset = ruleset.add_rule(PathBeneath::new(directory, rights_to_rotate()))?;
    }
    for port in session.audit().ports() {
        ruleset = ruleset.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    Ok(ruleset)
}

/// A session that is opened for calls may make it.
fn is_state_there(session: &Session, state: &std::path::Path) -> bool {
    match session.shared().is_preview {
        true => ambient::open_ambient_directory(state).is_ok(),
        false => ambient::create_private_directory(state).is_ok(),
    }
}

/// Files of the log are made, renamed over one another, and read for their names.
fn rights_to_rotate() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::WriteFile
        | AccessFs::ReadDir
        | AccessFs::MakeReg
        | AccessFs::RemoveFile
        | AccessFs::Truncate
}

/// The write root is read as well: a file that will be replaced is copied and compared,
/// and its directory is locked and synced.
fn rights_below(rights: Rights) -> BitFlags<AccessFs> {
    match rights {
        Rights::Read => AccessFs::ReadFile | AccessFs::ReadDir,
        Rights::Write => AccessFs::from_all(KNOWN) & !BitFlags::from(AccessFs::Execute),
    }
}
