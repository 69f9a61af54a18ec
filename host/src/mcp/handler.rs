//! What the server answers: the SDK calls this for each request.

use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, ClientCapabilities, CustomRequest,
    CustomResult, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ProgressToken, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer, ServerHandler};
use rootbound::{CallOptions, Tenant, TraceParent, code};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::approvals::{ClientApprovals, Way, takes_forms};
use super::calls::{Call, Calls};
use super::methods;
use super::results::{self, Results};
use super::stdio::message;
use super::tools::{DryRun, Tools, name_dry_run, take_dry_run};
use super::under_way::UnderWay;

/// How long a list of tools stays true: it never changes while the server runs.
const TOOLS_LIFETIME_MS: u64 = 60 * 60 * 1000;
/// How a caller names its trace, in `_meta` as in HTTP (W3C Trace Context).
const TRACEPARENT: &str = "traceparent";

/// What all sessions of the server share.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) tenant: Tenant,
    tools: Tools,
    results: Results,
    instructions: String,
    pub(super) calls: Calls,
    /// How the person at the client is asked; absent where the operator named an approver.
    approvals: Option<ClientApprovals>,
    /// Closed while there is no handler.
    present: watch::Sender<()>,
}

/// On whose behalf a request over HTTP comes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Principal(pub(super) String);

/// Who makes a call, and what is to become of its answer.
struct Caller {
    tenant: Tenant,
    way: Way,
    trace: Option<TraceParent>,
    progress: Option<(Peer<RoleServer>, ProgressToken)>,
    /// Cancelled when the answer is not wanted any more.
    unwanted: CancellationToken,
    place: Option<UnderWay>,
}

/// One session of the protocol.
#[derive(Clone, Debug)]
pub(super) struct Handler {
    server: Arc<Server>,
    /// Who calls the library; over HTTP set apart for the first caller.
    tenant: Arc<OnceLock<Tenant>>,
    /// Goes after the tenant.
    #[expect(dead_code, reason = "dropping it says that the handler is gone")]
    present: watch::Receiver<()>,
}

impl Server {
    pub(super) fn new(
        tenant: Tenant,
        calls: Calls,
        instructions: String,
        approvals: Option<ClientApprovals>,
    ) -> Self {
        Self {
            tools: Tools::of(&tenant),
            results: Results::with_output_limit(longest_output(&tenant)),
            instructions,
            calls,
            approvals,
            present: watch::Sender::new(()),
            tenant,
        }
    }

    /// Waits until no session of the protocol is left, and what each had is given back.
    pub(super) async fn all_gone(&self) {
        self.present.closed().await;
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        caller: Caller,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut arguments = request.arguments.unwrap_or_default();
        let changing = self.tools.changing(&request.name);
        let dry_run = take_dry_run(changing, &mut arguments);
        let options = CallOptions {
            dry_run: dry_run == DryRun::Asked,
            approver: caller.way.approver(),
            trace: caller.trace,
            ..CallOptions::default()
        };
        let (between, questions) = match caller.way {
            Way::None => (None, None),
            Way::During(_, questions) => (None, Some(questions)),
            Way::Between(approver) => {
                let principal = caller.tenant.principal().to_owned();
                (Some((approver, principal)), None)
            }
        };
        let toolset = caller.tenant.toolset_of(&request.name);
        let call = Call {
            tenant: caller.tenant,
            tool: request.name.into_owned(),
            arguments: serde_json::to_vec(&arguments).unwrap_or_default(),
            options,
            unwanted: caller.unwanted,
            place: caller.place,
            progress: caller.progress,
            questions,
        };
        drop(arguments);
        let result = self.calls.run(call).await?;
        if let (Err(error), Some((approver, principal)), Some(approvals)) =
            (&result, between, &self.approvals)
            && error.code() == code::APPROVAL_REQUIRED
            && let Some(asked) = approver.asked()
        {
            return Ok(approvals.states().question(&asked, &principal)?.into());
        }
        Ok(match result {
            Ok(output) => self.results.success(output).into(),
            // The tool does not know of the argument that its schema has.
            Err(error)
                if dry_run == DryRun::Misspelt && error.code() == code::INVALID_ARGUMENTS =>
            {
                results::misspelt_dry_run().into()
            }
            Err(error) => results::failure(toolset, &error, |error| {
                if let Some(tool) = changing {
                    name_dry_run(tool, dry_run, error);
                }
            })
            .into(),
        })
    }
}

/// The longest result that any of the components may give.
fn longest_output(tenant: &Tenant) -> u64 {
    let components = tenant.components();
    let outputs = components
        .iter()
        .map(|(_, session)| session.policy().limits.max_output_bytes);
    outputs.max().unwrap_or_default()
}

impl Handler {
    /// For the one session of a process.
    pub(super) fn alone(server: Arc<Server>) -> Self {
        let tenant = Arc::new(OnceLock::from(server.tenant.clone()));
        let present = server.present.subscribe();
        Self {
            server,
            tenant,
            present,
        }
    }

    /// For one of many sessions.
    pub(super) fn apart(server: Arc<Server>) -> Self {
        let present = server.present.subscribe();
        Self {
            server,
            tenant: Arc::default(),
            present,
        }
    }

    /// What the caller has. Another caller cannot take it over.
    fn tenant_for(&self, context: &RequestContext<RoleServer>) -> Result<&Tenant, ErrorData> {
        let parts = context.extensions.get::<http::request::Parts>();
        let Some(Principal(principal)) = parts.and_then(|parts| parts.extensions.get()) else {
            return self.own_tenant();
        };
        let tenant = self
            .tenant
            .get_or_init(|| self.server.tenant.apart(principal));
        if tenant.principal() != principal {
            let why = "the session belongs to another token";
            return Err(ErrorData::invalid_request(why, None));
        }
        Ok(tenant)
    }

    /// What the one caller of a process has.
    fn own_tenant(&self) -> Result<&Tenant, ErrorData> {
        let none = || ErrorData::internal_error("the request has no principal", None);
        self.tenant.get().ok_or_else(none)
    }

    /// Whether no person is asked at a client that can do this.
    pub(super) fn asks_nobody_at(&self, client: ClientCapabilities) -> bool {
        self.server.approvals.is_none() || !takes_forms(client)
    }

    /// Makes a call for the one caller of a process, who is asked nothing and told nothing
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// As the SDK's `call_tool`: only where the protocol is at fault, or a thread failed.
    pub(super) async fn call_alone(
        &self,
        request: CallToolRequestParams,
        unwanted: CancellationToken,
        place: UnderWay,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = Caller {
            tenant: self.own_tenant()?.clone(),
            way: Way::None,
            trace: None,
            progress: None,
            unwanted,
            place: Some(place),
        };
        self.server.call(request, caller).await
    }

    /// Waits until no call runs.
    pub(super) async fn idle(&self) {
        self.server.calls.idle().await;
    }

    fn way(
        &self,
        request: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        principal: &str,
        place: Option<&UnderWay>,
    ) -> Result<Way, ErrorData> {
        match &self.server.approvals {
            Some(approvals) => approvals.way(request, context, principal, place),
            None => Ok(Way::None),
        }
    }
}

/// The caller's trace: what the request itself says (`_meta`, revision 2026-07-28), else what
/// HTTP says of it.
fn trace_of(context: &RequestContext<RoleServer>) -> Option<TraceParent> {
    let of_request = context.meta.get(TRACEPARENT).and_then(Value::as_str);
    let parts = context.extensions.get::<http::request::Parts>();
    let header = parts.and_then(|parts| parts.headers.get(TRACEPARENT)?.to_str().ok());
    of_request
        .and_then(|text| text.parse().ok())
        .or_else(|| header?.parse().ok())
}

/// The request's place: over the standard streams it comes with the request itself, over HTTP
/// with its head.
fn place_of(context: &mut RequestContext<RoleServer>) -> Option<UnderWay> {
    let parts = context.extensions.get::<http::request::Parts>();
    let of_head = parts.and_then(|parts| parts.extensions.get().cloned());
    of_head.or_else(|| context.extensions.remove())
}

/// Whether a token can be repeated with every notice of a call's progress.
fn is_short(token: &ProgressToken) -> bool {
    message::too_long(&token.0).is_none()
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let implementation = Implementation::new("rootbound", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(self.server.instructions.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = ListToolsResult::with_all_items(self.server.tools.list());
        list.ttl_ms = Some(TOOLS_LIFETIME_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let unknown = || methods::unknown(&request.method);
        Err(methods::misread(&request.method).unwrap_or_else(unknown))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.tools.find(name).cloned()
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tenant = self.tenant_for(&context)?.clone();
        let place = place_of(&mut context);
        let way = self.way(&mut request, &context, tenant.principal(), place.as_ref())?;
        let progress = context.meta.get_progress_token().filter(is_short);
        let caller = Caller {
            tenant,
            way,
            trace: trace_of(&context),
            progress: progress.map(|token| (context.peer.clone(), token)),
            unwanted: context.ct.clone(),
            place,
        };
        self.server.call(request, caller).await
    }
}
