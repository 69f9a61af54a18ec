//! One connection: each request shows its token first, then sends a body of bounded size in
//! bounded time, then meets the SDK's service, which checks Host, Origin and the protocol.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::Service;
use super::owners::Owners;
use super::patient::Patient;
use super::tokens::Tokens;

/// Most bytes of a request's body, as for a line of the standard input.
pub(super) const MAX_BODY: usize = 16 << 20;
/// Most bytes of a request that begins a session: the client's name and what it can do are kept
/// as long as the session.
const MAX_BEGINNING: usize = 64 << 10;
/// Most bytes and number of a request's headers.
const MAX_HEAD: usize = 32 << 10;
const MAX_HEADERS: usize = 64;
/// How long a client may take to send its headers, counted from when the connection is
/// free for them; and its body.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
const BODY_PATIENCE: Duration = Duration::from_secs(30);

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What stands before the service.
pub(super) struct Door {
    pub(super) service: Service,
    pub(super) tokens: Tokens,
    pub(super) owners: Owners,
    /// Whether older clients have sessions.
    pub(super) keeps_sessions: bool,
}

/// Serves one connection until it ends, or until the answers under way are out once the
/// server stops.
pub(super) async fn serve(stream: TcpStream, door: Arc<Door>, stopping: CancellationToken) {
    // Answers are written whole; waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request| {
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(Patient::new(stream)), answer);
    let mut connection = std::pin::pin!(connection);
    // How a connection fails is the client's affair.
    tokio::select! {
        _ = &mut connection => return,
        () = stopping.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

impl Door {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let Some(principal) = self.tokens.principal(request.headers()) else {
            let mut answer = refuse(StatusCode::UNAUTHORIZED, "a bearer token is needed");
            let scheme = HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return answer;
        };
        if !matches!(request.uri().path(), "/mcp" | "/") {
            return refuse(StatusCode::NOT_FOUND, "the server is at `/mcp`");
        }
        let (mut head, body) = request.into_parts();
        if !self.owners.admit(&head.headers, &principal) {
            return refuse(StatusCode::NOT_FOUND, "there is no such session");
        }
        let begins = self.keeps_sessions && Owners::begins(&head.headers);
        if begins && !self.owners.have_room() {
            return refuse(
                StatusCode::SERVICE_UNAVAILABLE,
                "there are too many sessions",
            );
        }
        let most = if begins { MAX_BEGINNING } else { MAX_BODY };
        if body.size_hint().lower() > most as u64 {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large");
        }
        head.extensions.insert(principal.clone());
        let body = Limited::new(body, most).collect();
        match tokio::time::timeout(BODY_PATIENCE, body).await {
            Ok(Ok(body)) => {
                let ends = head.method == Method::DELETE;
                let asked = head.headers.clone();
                let request = Request::from_parts(head, Full::new(body.to_bytes()));
                let mut answer = self.service.handle(request).await;
                // The SDK says that it accepted to end the session; clients take only that
                // it did (Python's `mcp` warns of 202).
                if ends && answer.status() == StatusCode::ACCEPTED {
                    *answer.status_mut() = StatusCode::NO_CONTENT;
                    self.owners.forget(&asked);
                } else {
                    self.owners.note(answer.headers(), &principal);
                }
                answer
            }
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large")
            }
            Ok(Err(_)) => refuse(StatusCode::BAD_REQUEST, "the body broke off"),
            Err(_) => refuse(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
        }
    }
}

fn refuse(status: StatusCode, why: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(why.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}
