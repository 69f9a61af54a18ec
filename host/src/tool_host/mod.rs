//! Many components side by side: loaded once, called by any number of tenants.

mod opened;
mod table;
mod tenant;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::component::{ComponentError, Definition, ToolComponent};
use crate::error::CallError;
use crate::screen::escaped;
use crate::session::Session;
use opened::Opened;
use table::{Hosted, Table};
pub use tenant::Tenant;

/// Components by name, which can be loaded, replaced and unloaded while calls run.
///
/// A component is compiled once and shared by all tenants; what it may touch is each
/// [`Tenant`]'s. Calls that run when a component is replaced or unloaded end with the one that
/// they began with. What one component does, traps and loops included, harms only the call.
///
/// A tool is listed by its own name where no other component has a tool of that name, and as
/// `name__tool` where one has. It can always be called as `name__tool`.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let inputs = tempfile::tempdir()?;
/// # std::fs::write(inputs.path().join("notes.md"), "hello")?;
/// use rootbound::{AuditLog, Session, ToolComponent, ToolHost};
///
/// let host = ToolHost::default();
/// host.load("files", ToolComponent::file_tools()?)?;
///
/// let session = Session::builder().read_root(inputs.path()).audit(AuditLog::none()).build()?;
/// let tenant = host.tenant(session);
/// let notes = tenant.call("files__read_file", r#"{"path": "notes.md"}"#)?;
/// assert_eq!(notes.text(), Some("hello"));
///
/// assert!(host.unload("files"));
/// let gone = tenant.call("read_file", "{}").unwrap_err();
/// assert_eq!(gone.code(), "unknown-tool");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolHost {
    table: Arc<RwLock<Arc<Table>>>,
    /// Numbers of what was ever loaded, so that a name that is used again means another.
    numbers: Arc<AtomicU64>,
    opened: Arc<Opened>,
}

/// A tool of one of the components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedTool {
    /// The name of its component.
    pub component: String,
    /// What it says about itself, under the name by which it is listed here.
    pub definition: Definition,
    /// Its name within the component.
    own_name: String,
}

/// Why a component is not hosted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HostError {
    /// Names are 1 to 32 letters, digits, `-` and single `_`, with letters or digits at both
    /// ends.
    #[error(
        "`{}` cannot be a component's name: use 1 to 32 letters, digits, `-` and single `_`",
        escaped(.0)
    )]
    Name(String),
    /// Another component has the name.
    #[error("there is a component `{0}` already")]
    Taken(String),
    /// No component has the name.
    #[error("there is no component `{}`", escaped(.0))]
    Unknown(String),
    /// The component does not list its tools as it should.
    #[error("`{component}`: {error}")]
    Tools {
        /// The component.
        component: String,
        /// What is wrong with its list, `tools-invalid`.
        error: ComponentError,
    },
    /// Two components have a tool of one name, and with the component's name before it the
    /// name is longer than 64 characters.
    #[error(
        "the tool `{tool}` of `{component}` has a name that another has, and is too long for `{component}__` before it"
    )]
    LongName {
        /// The component.
        component: String,
        /// The tool.
        tool: String,
    },
}

impl ToolHost {
    /// Refuses what cannot be a component's name.
    ///
    /// # Errors
    ///
    /// [`HostError::Name`].
    pub fn check_name(name: &str) -> Result<(), HostError> {
        match table::is_name(name) {
            true => Ok(()),
            false => Err(HostError::Name(
                name.chars().take(table::MAX_NAME).collect(),
            )),
        }
    }

    /// Adds a component, which runs with the grants and the policy of each tenant.
    ///
    /// # Errors
    ///
    /// When the name is taken or is none, or the component does not list its tools as it
    /// should: it is asked here, with no grants.
    pub fn load(&self, name: &str, component: ToolComponent) -> Result<(), HostError> {
        self.add(self.hosted(name, component, None)?)
    }

    /// Adds the component of a session, which runs with the grants and the policy of that
    /// session, whoever calls.
    ///
    /// # Errors
    ///
    /// As [`ToolHost::load`].
    pub fn load_session(&self, name: &str, session: Session) -> Result<(), HostError> {
        let component = session.component().clone();
        self.add(self.hosted(name, component, Some(session))?)
    }

    /// Puts another component in the place of one. Calls that run end with the old one.
    ///
    /// # Errors
    ///
    /// As [`ToolHost::load`], and when no component has the name; the old one then stays.
    pub fn replace(&self, name: &str, component: ToolComponent) -> Result<(), HostError> {
        let hosted = self.hosted(name, component, None)?;
        self.change(
            |table| match table.hosted.iter_mut().find(|it| it.name == name) {
                Some(old) => {
                    *old = hosted;
                    Ok(())
                }
                None => Err(HostError::Unknown(name.to_owned())),
            },
        )
    }

    /// Takes a component away, and says whether it was there. Calls that run end as they would
    /// have; then its memory is given back.
    pub fn unload(&self, name: &str) -> bool {
        let unloaded = self.change(|table| {
            let before = table.hosted.len();
            table.hosted.retain(|hosted| hosted.name != name);
            match table.hosted.len() < before {
                true => Ok(()),
                false => Err(HostError::Unknown(name.to_owned())),
            }
        });
        unloaded.is_ok()
    }

    /// The tools of all components, in the order in which these were loaded.
    #[must_use]
    pub fn tools(&self) -> Arc<[HostedTool]> {
        Arc::clone(&self.table().tools)
    }

    /// The components and their names, in the order in which they were loaded.
    #[must_use]
    pub fn components(&self) -> Vec<(String, ToolComponent)> {
        let named = |hosted: &Arc<Hosted>| (hosted.name.clone(), hosted.component.clone());
        self.table().hosted.iter().map(named).collect()
    }

    /// Ends the sessions that components were loaded with, as [`Session::close`]; each log is
    /// closed once. Whoever calls these components is answered `closed`.
    ///
    /// # Errors
    ///
    /// The first that ending one of them has; all are closed.
    pub fn close(&self) -> Result<(), CallError> {
        let table = self.table();
        let sessions = table.hosted.iter().filter_map(|it| it.session.as_ref());
        let sessions: Vec<&Session> = sessions.collect();
        let mut ended: Vec<_> = sessions.iter().map(|session| session.end()).collect();
        for (index, session) in sessions.iter().enumerate() {
            let audit = session.audit();
            let is_closed = |earlier: &&Session| earlier.audit().is_same(audit);
            if !sessions[..index].iter().any(is_closed) {
                ended.push(audit.close());
            }
        }
        ended.into_iter().collect()
    }

    /// Someone who calls tools, with the grants, the policy, the log and the approver of a
    /// session. Its memory is a few hundred bytes until it calls.
    #[must_use]
    pub fn tenant(&self, session: Session) -> Tenant {
        Tenant::new(self.clone(), session)
    }

    fn table(&self) -> Arc<Table> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&table)
    }

    fn hosted(
        &self,
        name: &str,
        component: ToolComponent,
        session: Option<Session>,
    ) -> Result<Arc<Hosted>, HostError> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        Hosted::new(number, name, component, session).map(Arc::new)
    }

    fn add(&self, hosted: Arc<Hosted>) -> Result<(), HostError> {
        self.change(|table| {
            if table.hosted.iter().any(|other| other.name == hosted.name) {
                return Err(HostError::Taken(hosted.name.clone()));
            }
            table.hosted.push(hosted);
            Ok(())
        })
    }

    /// Makes a new table of the old one, wholly or not at all. Who reads goes on with the old
    /// one.
    fn change(
        &self,
        change: impl FnOnce(&mut Table) -> Result<(), HostError>,
    ) -> Result<(), HostError> {
        let mut current = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let mut table = Table {
            hosted: current.hosted.clone(),
            tools: Arc::default(),
        };
        change(&mut table)?;
        table.tools = table.listed()?;
        let table = Arc::new(table);
        *current = Arc::clone(&table);
        drop(current);
        self.opened.retain(|number| table.has(number));
        Ok(())
    }
}
