//! Someone who calls the tools of a host.

use std::sync::Arc;
use std::time::Duration;

use super::opened::Sessions;
use super::table::Hosted;
use super::{HostedTool, ToolHost};
use crate::error::CallError;
use crate::output::Output;
use crate::policy::Policy;
use crate::session::{Arguments, CallOptions, CallWatch, Session};
use crate::toolset::Toolset;

/// Letters of a tool's name that an answer repeats; real ones have 64 or fewer.
const MAX_NAME: usize = 64;

/// Someone who calls the tools of a [`ToolHost`]. Cloning is cheap, and clones may be used from
/// many threads at once.
///
/// A tenant has a session for each component that it has called: what one component made is not
/// another's own work, and the quotas of the tenant's session hold for all of them together. A
/// component that was loaded with a session has that one's quotas, and those that the session
/// shares ([`SessionBuilder::quotas`](crate::SessionBuilder::quotas)).
#[derive(Clone, Debug)]
pub struct Tenant {
    host: ToolHost,
    base: Session,
    /// On whose behalf it calls, if not on that of whoever opened the sessions.
    principal: Option<Arc<str>>,
    sessions: Arc<Sessions>,
}

impl Tenant {
    pub(super) fn new(host: ToolHost, base: Session) -> Self {
        Self {
            sessions: host.opened.another(),
            host,
            base,
            principal: None,
        }
    }

    /// Calls a tool, by the name by which it is listed or as `name__tool`.
    ///
    /// # Errors
    ///
    /// As [`Session::call`].
    pub fn call(&self, tool: &str, arguments: impl Into<Arguments>) -> Result<Output, CallError> {
        self.call_with(tool, arguments, CallOptions::default())
    }

    /// Calls a tool with options.
    ///
    /// # Errors
    ///
    /// As [`Session::call`].
    pub fn call_with(
        &self,
        tool: &str,
        arguments: impl Into<Arguments>,
        options: CallOptions,
    ) -> Result<Output, CallError> {
        if self.base.is_closed() {
            return Err(CallError::closed());
        }
        let table = self.host.table();
        match table.find(tool) {
            Some((hosted, own_name)) => {
                let session = self.session_for(hosted)?;
                session.call_with(own_name, arguments, options)
            }
            None => Err(self
                .base
                .unknown(tool, arguments.into(), self.no_such(tool))),
        }
    }

    /// No tool has the name, or more than one has.
    fn no_such(&self, tool: &str) -> CallError {
        let tools = self.host.tools();
        let names = |tools: &mut dyn Iterator<Item = &HostedTool>| -> Vec<String> {
            let names = tools.map(|it| it.definition.name.clone());
            names.collect()
        };
        let mut alike = names(&mut tools.iter().filter(|it| it.own_name == tool));
        if alike.is_empty() {
            let is_alias =
                |it: &&HostedTool| it.definition.other_names().iter().any(|name| name == tool);
            alike = names(&mut tools.iter().filter(is_alias));
        }
        if alike.is_empty() {
            return CallError::unknown_tool(tool, names(&mut tools.iter()));
        }
        let tool: String = tool.chars().take(MAX_NAME).collect();
        let message = format!("more than one component has a tool `{tool}`");
        CallError::unknown_tool(&tool, alike).saying(message)
    }

    /// The session in which a component runs for this tenant, opened when it is first needed.
    fn session_for(&self, hosted: &Hosted) -> Result<Session, CallError> {
        let mut sessions = self.sessions.locked();
        if let Some((_, session)) = sessions.iter().find(|(number, _)| *number == hosted.number) {
            return Ok(session.clone());
        }
        let session = match (&hosted.session, &self.principal) {
            (Some(own), None) => own.clone(),
            (Some(own), Some(_)) => own.apart_beside(&self.base),
            (None, _) => self.base.with_component(&hosted.component)?,
        };
        // A component that was taken away meanwhile must not be kept alive.
        if self.host.table().has(hosted.number) {
            sessions.push((hosted.number, session.clone()));
        }
        Ok(session)
    }

    /// The host whose tools are called.
    #[must_use]
    pub fn host(&self) -> &ToolHost {
        &self.host
    }

    /// Abandons a call at its deadline, as [`Session::abandon`].
    pub fn abandon(&self, tool: &str, watch: &CallWatch) -> Option<CallError> {
        let table = self.host.table();
        let found = table.find(tool);
        let session = found.and_then(|(hosted, _)| self.session_for(hosted).ok());
        session.as_ref().unwrap_or(&self.base).abandon(tool, watch)
    }

    /// How long a call of this tool may take.
    #[must_use]
    pub fn timeout(&self, tool: &str) -> Duration {
        let table = self.host.table();
        let own = table
            .find(tool)
            .and_then(|(hosted, _)| hosted.session.as_ref());
        own.unwrap_or(&self.base).policy().limits.timeout
    }

    /// The tools that can be called.
    #[must_use]
    pub fn tools(&self) -> Arc<[HostedTool]> {
        self.host.tools()
    }

    /// A tenant of the same host with the same grants and policy, which remembers nothing of
    /// this one, as [`Session::apart`].
    #[must_use]
    pub fn apart(&self, principal: impl Into<String>) -> Self {
        let principal = principal.into();
        Self {
            host: self.host.clone(),
            base: self.base.apart(principal.clone()),
            principal: Some(principal.into()),
            sessions: self.host.opened.another(),
        }
    }

    /// On whose behalf the calls run.
    #[must_use]
    pub fn principal(&self) -> &str {
        self.base.principal()
    }

    /// Which tools of the built-in component the tenant's session offers.
    #[must_use]
    pub fn toolset(&self) -> Toolset {
        self.base.toolset()
    }

    /// How failures of a tool look: a stranger's are those of [`Toolset::Files`].
    #[must_use]
    pub fn toolset_of(&self, tool: &str) -> Toolset {
        match self.host.table().find(tool) {
            Some((hosted, _)) if !hosted.component.is_built_in() => Toolset::Files,
            _ => self.base.toolset(),
        }
    }

    /// The policy of the tenant's session; a component that was loaded with a session has that
    /// one's.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        self.base.policy()
    }

    /// The session that the tenant was made with.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.base
    }

    /// Each component with the session in which it runs: its own, or the tenant's.
    #[must_use]
    pub fn components(&self) -> Vec<(String, Session)> {
        let session = |hosted: &Arc<Hosted>| {
            let own = hosted.session.as_ref().unwrap_or(&self.base);
            (hosted.name.clone(), own.clone())
        };
        self.host.table().hosted.iter().map(session).collect()
    }

    /// Ends the tenant's session, as [`Session::close`]. The sessions that components were loaded
    /// with are the host's, and other tenants call in them: [`ToolHost::close`] ends those.
    ///
    /// # Errors
    ///
    /// As [`Session::close`].
    pub fn close(&self) -> Result<(), CallError> {
        self.base.close()
    }
}

#[cfg(test)]
mod tests {
    use crate::{AuditLog, Session, ToolComponent, ToolHost};

    /// A session holds its component, so one that nobody calls any more would keep the code.
    #[test]
    fn no_session_stays_of_a_component_that_was_taken_away() {
        let host = ToolHost::default();
        let files = || ToolComponent::file_tools().expect("the file tools");
        let opened = |tenant: &super::Tenant| tenant.sessions.locked().len();
        host.load("one", files()).expect("a list of tools");
        host.load("two", files()).expect("a list of tools");
        let session = Session::builder().audit(AuditLog::none()).build();
        let tenant = host.tenant(session.expect("a session"));
        let _ = tenant.call("one__list_files", "{}");
        let _ = tenant.call("two__list_files", "{}");
        assert_eq!(opened(&tenant), 2);
        host.replace("one", files()).expect("another");
        assert_eq!(opened(&tenant), 1);
        assert!(host.unload("two"));
        assert_eq!(opened(&tenant), 0);
    }
}
