//! `rootbound mcp`: the tools for any client of the Model Context Protocol, over the
//! standard streams or over HTTP.

mod approvals;
mod calls;
mod handler;
mod http;
mod instructions;
mod methods;
mod pause;
mod places;
mod results;
mod signals;
mod stdio;
mod threads;
mod tools;
mod under_way;

use std::sync::{Arc, mpsc};
use std::time::Duration;

use rmcp::ServiceExt;
use rootbound::Tenant;
use tokio_util::sync::CancellationToken;

use crate::cli::{Exit, Failure, McpArgs, Purpose, print};
use approvals::{ClientApprovals, States};
use calls::Calls;
use handler::{Handler, Server};
use pause::Pause;
use signals::Signals;
use stdio::{Stdio, Streams};
use threads::Threads;

pub(crate) use tools::describe;

/// Most bytes of a result, unless the operator says otherwise: a model reads them all.
const MAX_OUTPUT_BYTES: u64 = 256 << 10;
/// How long calls may take to end when the server has to. A commit takes less; a system
/// call that does not return is not waited for.
const FAREWELL: Duration = Duration::from_secs(10);
/// How long sessions may take to give back what they had.
const LEAVING: Duration = Duration::from_secs(2);

/// Where clients are met.
enum Front {
    Stdio(Streams),
    Http(Box<http::Bound>),
}

pub(crate) fn run(args: &McpArgs) -> Result<Exit, Failure> {
    let heed_hang_up = signals::heeds_hang_up();
    // The kernel closes files and network afterwards, and no other thread may run before.
    let front = match args.http.http {
        Some(address) => Front::Http(Box::new(http::Bound::new(&args.http, address)?)),
        None => Front::Stdio(Streams::open().map_err(anyhow::Error::from)?),
    };
    let approvals = approvals(args)?;
    let opened = args
        .session
        .open_with_output(Purpose::Calls, MAX_OUTPUT_BYTES)?;
    let tenant = opened.tenant;
    let approver = match approvals {
        Some(_) => instructions::ASKS_AT_THE_CLIENT,
        None => opened.approver,
    };
    let instructions = instructions::for_tenant(&tenant, approver);
    let components = tenant.components().into_iter();
    let pause = Pause::preparing(components.map(|(_, session)| session.component().clone()));
    let threads = Threads::start(pause).map_err(anyhow::Error::from)?;
    let calls = Calls::on(threads.clone());
    let server = Arc::new(Server::new(tenant.clone(), calls, instructions, approvals));
    let (end, ended) = mpsc::channel();
    let on = threads.clone();
    threads.spawn(async move {
        let served = serve(front, server, on, heed_hang_up).await;
        // The program waits for it.
        let _ = end.send(served);
    });
    // A thread that the kernel holds does not hold the program.
    let served = ended.recv();
    close(&tenant);
    served.map_err(anyhow::Error::from)??;
    Ok(Exit::Success)
}

/// How the person at the client is asked, where the operator named no other approver.
fn approvals(args: &McpArgs) -> anyhow::Result<Option<ClientApprovals>> {
    if args.session.names_an_approver() {
        return Ok(None);
    }
    let key = match &args.http.state_key {
        Some(file) => http::read_key(file)?,
        None => approvals::random_key(),
    };
    let patience = Duration::from_millis(args.approval_timeout_ms);
    Ok(Some(ClientApprovals::new(patience, States::with_key(key)?)))
}

async fn serve(
    front: Front,
    server: Arc<Server>,
    threads: Threads,
    heed_hang_up: bool,
) -> anyhow::Result<()> {
    let stopping = server.calls.stopping.clone();
    let mut serving = match front {
        Front::Stdio(streams) => {
            let handler = Handler::alone(Arc::clone(&server));
            let unheard = server.calls.unheard.clone();
            let stdio = Stdio::new(streams, threads, handler.clone(), unheard)?;
            tokio::spawn(serve_stdio(stdio, handler, stopping.clone()))
        }
        Front::Http(bound) => tokio::spawn(bound.serve(Arc::clone(&server), stopping.clone())),
    };
    let mut signals = Signals::new(heed_hang_up)?;
    let ended = tokio::select! {
        ended = &mut serving => Some(ended),
        () = signals.ended() => None,
    };
    // What runs is discarded; what commits ends.
    stopping.cancel();
    let _ = tokio::time::timeout(FAREWELL, server.calls.idle()).await;
    let ended = match ended {
        Some(ended) => ended,
        // A client that is still not done is dropped.
        None => {
            let ended = tokio::time::timeout(FAREWELL, serving).await;
            ended.unwrap_or(Ok(Ok(())))
        }
    };
    // Directories of sessions go with them.
    let _ = tokio::time::timeout(LEAVING, server.all_gone()).await;
    ended?
}

async fn serve_stdio(
    stdio: Stdio,
    handler: Handler,
    stopping: CancellationToken,
) -> anyhow::Result<()> {
    let ended = CancellationToken::new();
    let calls = handler.clone();
    let stop = ended.clone();
    tokio::spawn(async move {
        stopping.cancelled().await;
        // Answers of the calls that ended are still written.
        calls.idle().await;
        stop.cancel();
    });
    // An end before the session began is an end like any other.
    if let Ok(session) = handler.serve_with_ct(stdio, ended).await {
        session.waiting().await?;
    }
    Ok(())
}

/// The answers are out; a log that cannot be synced is for the operator.
fn close(tenant: &Tenant) {
    if let Err(error) = tenant.host().close() {
        print::to_stderr(&format!("warning: {}", error.message()));
    }
}
