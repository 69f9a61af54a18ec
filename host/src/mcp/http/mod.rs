//! MCP over Streamable HTTP, closed by default: loopback, a token, Host and Origin checks,
//! and a limit on everything that a stranger could make large or long.

mod connection;
mod owners;
mod patient;
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
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::handler::{Handler, Server};
use crate::cli::{HttpArgs, print};
use owners::Owners;
use tokens::Tokens;
pub(super) use tokens::read_key;

/// Connections at one time; a further one waits to be accepted.
const MAX_CONNECTIONS: usize = 256;
/// How long connections may take to end by themselves when the server does.
const FAREWELL: Duration = Duration::from_secs(5);

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
    hosts: Vec<String>,
    origins: Vec<String>,
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
        let listener = TcpListener::bind(wanted)
            .with_context(|| format!("nothing can listen on `{wanted}`"))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            address,
            tokens,
            hosts: hosts(address.ip(), &args.http_host),
            origins: args.http_origin.clone(),
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
            .with_allowed_hosts(&self.hosts)
            .with_allowed_origins(&self.origins)
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
        let service = Service::new(factory, Arc::default(), config);
        let door = Arc::new(connection::Door {
            service,
            tokens: self.tokens,
            owners: Owners::default(),
            keeps_sessions: self.legacy_sessions,
        });
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        while let Some(place) = accept_place(&places, &stopping).await {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stopping.cancelled() => break,
            };
            // What fails here is one connection, gone before it was there.
            let Ok((stream, _)) = accepted else { continue };
            let (door, stopping) = (Arc::clone(&door), stopping.clone());
            tokio::spawn(async move {
                connection::serve(stream, door, stopping).await;
                drop(place);
            });
        }
        drop(listener);
        let gone = places.acquire_many(MAX_CONNECTIONS as u32);
        let _ = tokio::time::timeout(FAREWELL, gone).await;
        sessions.cancel();
        Ok(())
    }
}

async fn accept_place(
    places: &Arc<Semaphore>,
    stopping: &CancellationToken,
) -> Option<tokio::sync::OwnedSemaphorePermit> {
    tokio::select! {
        place = Arc::clone(places).acquire_owned() => place.ok(),
        () = stopping.cancelled() => None,
    }
}

/// The names by which a request may call the server: a page that was lured here by DNS
/// calls it by another.
fn hosts(address: IpAddr, named: &[String]) -> Vec<String> {
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    if !address.is_unspecified() {
        hosts.push(address.to_string());
    }
    hosts.extend_from_slice(named);
    hosts
}
