//! MCP over Streamable HTTP, closed by default: loopback, a token, Host and Origin checks,
//! and a limit on everything that a stranger could make large or long.

mod connection;
mod head;
mod owners;
mod patient;
mod places;
mod refusal;
mod shares;
mod tokens;

#[expect(
    clippy::disallowed_types,
    reason = "this is the HTTP front-end, the one place that listens"
)]
use std::net::TcpListener;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio_util::sync::CancellationToken;

use super::handler::{Handler, Server};
use crate::cli::{HttpArgs, print};
use connection::Door;
use head::{Names, Origins};
use places::Places;
use shares::Shares;
use tokens::Tokens;
pub(super) use tokens::read_key;

/// How long connections may take to end by themselves when the server does.
const FAREWELL: Duration = Duration::from_secs(5);
/// How long nothing is accepted after that failed: where descriptors are short, trying again
/// at once would fail at once.
const PAUSE: Duration = Duration::from_millis(50);

/// The SDK's service over our handlers.
type Service = StreamableHttpService<Handler, LocalSessionManager>;

/// A socket that listens, from before the kernel closes the network, and who may use it.
pub(super) struct Bound {
    #[expect(
        clippy::disallowed_types,
        reason = "this is the HTTP front-end, the one place that listens"
    )]
    listener: TcpListener,
    address: SocketAddr,
    tokens: Tokens,
    names: Names,
    origins: Origins,
    legacy_sessions: bool,
}

impl Bound {
    #[expect(
        clippy::disallowed_types,
        reason = "this is the HTTP front-end, the one place that listens"
    )]
    pub(super) fn new(args: &HttpArgs, wanted: SocketAddr) -> anyhow::Result<Self> {
        if !wanted.ip().is_loopback() && !args.http_allow_remote {
            anyhow::bail!(
                "`{wanted}` can be reached from other machines; that needs `--http-allow-remote`, and a proxy that adds TLS"
            );
        }
        let tokens = Tokens::from(args)?;
        let names = names(wanted.ip(), &args.http_host)?;
        let origins = Origins::new(&args.http_origin)?;
        let listener = TcpListener::bind(wanted)
            .with_context(|| format!("nothing can listen on `{wanted}`"))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            address,
            tokens,
            names,
            origins,
            // Behind a load balancer the next request may meet another process, which does
            // not know this one's sessions.
            legacy_sessions: args.state_key.is_none(),
        })
    }

    fn announce(&self) {
        let address = self.address;
        print::to_stderr(&format!("listening on http://{address}/mcp"));
        if let Some(token) = self.tokens.generated() {
            print::to_stderr(&format!("token: {token}"));
        }
    }

    fn config(&self) -> StreamableHttpServerConfig {
        StreamableHttpServerConfig::default()
            .with_allowed_hosts(self.names.as_slice())
            .with_allowed_origins(self.origins.as_slice())
            .enforce_origin_validation()
            .with_legacy_session_mode(self.legacy_sessions)
            .with_json_response(true)
            .with_max_request_body_bytes(connection::MAX_BODY)
    }

    /// Serves until `stopping`, then lets the connections end.
    pub(super) async fn serve(
        self,
        server: Arc<Server>,
        stopping: CancellationToken,
    ) -> anyhow::Result<()> {
        self.announce();
        let config = self.config();
        let sessions = config.cancellation_token.clone();
        let factory = move || Ok(Handler::apart(Arc::clone(&server)));
        let service = Service::new(factory, session_keeper(), config);
        let door = Arc::new(Door {
            service,
            tokens: self.tokens,
            names: self.names,
            origins: self.origins,
            owners: Arc::default(),
            requests: Shares::new(connection::MAX_REQUESTS, "requests at one time"),
            pieces: Shares::new(connection::MAX_PIECES, "memory for requests"),
            keeps_sessions: self.legacy_sessions,
            stopping: stopping.clone(),
        });
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let places = Arc::new(Places::default());
        let accepting = accept(listener, &door, &places);
        tokio::select! {
            () = accepting => {}
            () = stopping.cancelled() => {}
        }
        // What is owed an answer gets it; then streams that only listen have ended.
        let _ = tokio::time::timeout(FAREWELL, places.quiet()).await;
        sessions.cancel();
        let _ = tokio::time::timeout(FAREWELL, places.empty()).await;
        Ok(())
    }
}

/// The SDK's sessions. What was answered is not kept for clients that come back for it.
fn session_keeper() -> Arc<LocalSessionManager> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.completed_cache_ttl = Duration::ZERO;
    Arc::new(sessions)
}

/// Takes connections for ever. One that finds no place waits for it here, and those after it
/// in the kernel.
async fn accept(listener: tokio::net::TcpListener, door: &Arc<Door>, places: &Arc<Places>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let (door, place) = (Arc::clone(door), places.take().await);
        tokio::spawn(connection::serve(stream, door, place));
    }
}

/// The names of the loopback interface, the address that is listened on, and those that the
/// operator gives.
fn names(address: IpAddr, named: &[String]) -> anyhow::Result<Names> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    if !address.is_unspecified() {
        names.push(address.to_string());
    }
    Names::new(names, named)
}
