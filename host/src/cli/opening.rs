//! Opening what a command works with: sessions, one for each component, and the kernel's
//! confinement round all of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rootbound::{
    AuditLog, KernelConfinement, Limits, Quotas, Session, SessionBuilder, Tenant, ToolHost,
};
use serde_json::Value;

use super::components::Wanted;
use super::session_args::SessionArgs;
use super::{Failure, print};

/// The tools of all components, and whether the kernel confines the process.
pub(crate) struct Opened {
    pub(crate) tenant: Tenant,
    pub(crate) landlock: &'static str,
    /// Who answers where the policy says `ask`.
    pub(crate) approver: &'static str,
    /// Where the audit log is exported to.
    pub(crate) otlp: Option<String>,
    /// The policy of the session, as it was set.
    pub(crate) policy: Value,
    /// The same of each component, before what that declares narrows it.
    pub(crate) policies: BTreeMap<String, Value>,
}

/// What a command opens sessions for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Calls,
    /// Calls of which none changes anything.
    DryRuns,
    /// To tell about them, and to change nothing on the disk.
    Preview,
}

/// A component's name and session, and the policy that was set for it.
struct OfComponent {
    name: String,
    session: Session,
    policy: Value,
}

impl SessionArgs {
    /// Opens the sessions, tells the operator what is risky about them, and lets the kernel
    /// confine the process. No other thread runs yet.
    pub(crate) fn open(&self, purpose: Purpose) -> Result<Opened, Failure> {
        self.open_with_output(purpose, Limits::default().max_output_bytes)
    }

    /// As [`SessionArgs::open`], with another default for the bytes of a result.
    pub(crate) fn open_with_output(
        &self,
        purpose: Purpose,
        max_output_bytes: u64,
    ) -> Result<Opened, Failure> {
        let sessions = self.sessions(purpose, max_output_bytes)?;
        let host = ToolHost::default();
        let mut warnings: Vec<&String> = Vec::new();
        for OfComponent { name, session, .. } in &sessions {
            host.load_session(name, session.clone())?;
            for warning in session.warnings() {
                if !warnings.contains(&warning) {
                    print::to_stderr(&format!("warning: {warning}"));
                    warnings.push(warning);
                }
            }
        }
        let Some(OfComponent { session: first, .. }) = sessions.first() else {
            return Err(anyhow::anyhow!("there is no component").into());
        };
        if first.audit().describe() == "none" {
            print::to_stderr("warning: no audit log: nothing that the tools do is recorded");
        }
        let tenant = host.tenant(first.clone());
        let landlock = match self.policy.no_landlock {
            true => "off, by --no-landlock",
            false => match tenant.confine_thread().map_err(anyhow::Error::from)? {
                KernelConfinement::Enforced => "on",
                KernelConfinement::Unavailable => "off, the kernel does not offer it",
            },
        };
        tenant.session().audit().keep_synced()?;
        Ok(Opened {
            tenant,
            landlock,
            approver: self.policy.approver(),
            otlp: self.policy.otlp(),
            policy: self.policy_json(max_output_bytes),
            policies: (sessions.into_iter())
                .map(|it| (it.name, it.policy))
                .collect(),
        })
    }

    /// A session for each component. All write to one log, and the quotas of the session are
    /// for the calls of all of them together, whatever their tables say.
    fn sessions(
        &self,
        purpose: Purpose,
        max_output_bytes: u64,
    ) -> Result<Vec<OfComponent>, Failure> {
        let mut sessions: Vec<OfComponent> = Vec::new();
        let components = match purpose {
            Purpose::Preview => self.components.preview(&self.sources)?,
            Purpose::Calls | Purpose::DryRuns => self.components.load(&self.sources)?,
        };
        let files: Vec<PathBuf> = components
            .iter()
            .filter_map(|wanted| wanted.file.clone())
            .collect();
        let quotas = Quotas::new(&self.policy.limits(max_output_bytes));
        for wanted in components {
            let log = sessions.first().map(|it| it.session.audit().clone());
            let builder = self.builder(purpose, &wanted, &files, log, &quotas, max_output_bytes)?;
            sessions.push(OfComponent {
                name: wanted.name,
                policy: builder.policy_json(),
                session: match purpose {
                    Purpose::Calls => builder.build()?,
                    Purpose::DryRuns => builder.take_back_directories(true).build()?,
                    Purpose::Preview => builder.preview()?,
                },
            });
        }
        Ok(sessions)
    }

    fn builder(
        &self,
        purpose: Purpose,
        wanted: &Wanted,
        component_files: &[PathBuf],
        log: Option<AuditLog>,
        quotas: &Quotas,
        max_output_bytes: u64,
    ) -> Result<SessionBuilder, Failure> {
        let (grants, policy) = match &wanted.own {
            Some(own) => (&own.grants, &own.policy),
            None => (&self.grants, &self.policy),
        };
        let mut builder = grants.apply(Session::builder())?;
        // One toolset is offered of the built-in component, however often it runs.
        builder = builder.toolset(self.grants.toolset());
        builder = policy.apply(builder, purpose, max_output_bytes, log)?;
        for file in self.components.deciding_files(&self.sources) {
            builder = builder.configuration_file(file);
        }
        builder = (self.sources.secrets.iter()).fold(builder, SessionBuilder::secret_file);
        builder = (component_files.iter()).fold(builder, SessionBuilder::component_file);
        Ok(builder
            .quotas(quotas)
            .component(wanted.component.clone())
            .guest_log(|line| {
                print::to_stderr(&format!("{} {}: {}", line.tool, line.stream, line.text))
            }))
    }

    /// The policy of the session, which is none of a component's own.
    fn policy_json(&self, max_output_bytes: u64) -> Value {
        let builder = Session::builder().toolset(self.grants.toolset());
        self.policy.rules(builder, max_output_bytes).policy_json()
    }

    /// Whether the operator said who is asked.
    pub(crate) fn names_an_approver(&self) -> bool {
        self.policy.approve.is_some()
    }
}
