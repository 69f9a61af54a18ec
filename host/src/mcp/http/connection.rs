//! One connection: each request shows its token first, then sends a body of bounded size in
//! bounded time, then meets the SDK's service, which checks Host, Origin and the protocol.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::header::WWW_AUTHENTICATE;
use http::request::Parts;
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::Service;
use super::head::{self, Names, Origins};
use super::owners::{Asked, Message, Owners};
use super::patient::Patient;
use super::places::{Place, Use};
use super::refusal::{self, Answer, Refusal};
use super::shares::{Share, Shares};
use super::tokens::Tokens;
use crate::mcp::handler::Principal;
use crate::mcp::stdio::message::{fault_of, weight};
use crate::mcp::under_way::UnderWay;

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
/// Requests that may be under way at one time, from their heads to the ends of their answers,
/// and of their calls where nobody waits for the answers any more. That leaves connections for
/// calls that wait for a person, of which no more than 64 can run.
pub(super) const MAX_REQUESTS: usize = 192;
/// Pieces of bodies that may be in memory at one time, and the size of one.
pub(super) const MAX_PIECES: usize = 1024;
const PIECE: usize = 64 << 10;

/// What stands before the service.
pub(super) struct Door {
    pub(super) service: Service,
    pub(super) tokens: Tokens,
    pub(super) names: Names,
    pub(super) origins: Origins,
    pub(super) owners: Arc<Owners>,
    pub(super) requests: Arc<Shares>,
    pub(super) pieces: Arc<Shares>,
    /// Whether older clients have sessions.
    pub(super) keeps_sessions: bool,
    /// Cancelled when the server ends.
    pub(super) stopping: CancellationToken,
}

/// Serves one connection until it ends, its place is given away, or the answers under way
/// are out once the server stops.
pub(super) async fn serve(stream: TcpStream, door: Arc<Door>, place: Arc<Place>) {
    // Answers are written whole; waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let (asked, stopping) = (Arc::clone(&place), door.stopping.clone());
    let answer = service_fn(move |request| {
        let (door, place) = (Arc::clone(&door), Arc::clone(&asked));
        async move { Ok::<_, Infallible>(door.answer(request, &place).await) }
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
        () = place.given_away() => return,
        () = stopping.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

impl Door {
    /// Answers a request. While one whose token is known is served, its connection keeps its
    /// place.
    async fn answer(&self, request: Request<Incoming>, connection: &Arc<Place>) -> Answer {
        // Hyper's buffer grows beyond its bound by what it last read.
        if head::length(&request) > MAX_HEAD {
            return too_long().answer();
        }
        let Some(principal) = self.tokens.principal(request.headers()) else {
            return unauthorized();
        };
        // A stream that listens takes no place among the requests: its connection gives way.
        let (used, place) = match *request.method() {
            Method::GET => (Use::Listening, Ok(None)),
            _ => (Use::Busy, self.requests.take(&principal, 1).map(Some)),
        };
        let served = connection.serve(used);
        let admitted = match place {
            Ok(place) => self.admit(request, &principal, place).await,
            Err(refusal) => Err(refusal),
        };
        let (answer, place, asked) = match admitted {
            Ok(admitted) => self.serve(admitted, &principal).await,
            Err(refusal) => return refusal.answer(),
        };
        answer.map(|body| kept(body, (served, place, asked)))
    }

    /// Checks a request and reads its body.
    async fn admit(
        &self,
        request: Request<Incoming>,
        principal: &Principal,
        place: Option<Share>,
    ) -> Result<Admitted, Refusal> {
        let (mut head, body) = request.into_parts();
        self.names.check(&head)?;
        self.origins.check(&head)?;
        if !matches!(head.uri.path(), "/mcp" | "/") {
            let why = "the server is at `/mcp`";
            return Err(Refusal::new(StatusCode::NOT_FOUND, why));
        }
        if !self.owners.admit(&head.headers, principal) {
            let why = "there is no such session";
            return Err(Refusal::new(StatusCode::NOT_FOUND, why));
        }
        head::check_body(&head)?;
        head::check_version(&head)?;
        let mut pieces = self.pieces.take(principal, 0)?;
        // What is still to come would be discarded.
        let body = tokio::select! {
            body = read(body, &mut pieces) => body?,
            () = self.stopping.cancelled() => return Err(ending()),
        };
        let weight = weight(&body).map_err(Refusal::bad_request)?;
        pieces.grow((weight - body.len()).div_ceil(PIECE))?;
        let message = Message::of(&body);
        message.check()?;
        let begun = match self.keeps_sessions && message.begins(&head.headers) {
            true => Some(self.begin(&body, principal)?),
            false => None,
        };
        let asked = self.owners.ask(&head.headers, message)?;
        head.extensions.insert(principal.clone());
        // A call of a session goes on, and keeps its place, where nobody waits for it.
        let place = UnderWay::with((place, pieces));
        head.extensions.insert(place.clone());
        Ok(Admitted {
            head,
            body,
            place,
            begun,
            asked,
        })
    }

    /// The place of a session that a request begins.
    fn begin(&self, body: &Bytes, principal: &Principal) -> Result<Share, Refusal> {
        if body.len() > MAX_BEGINNING {
            return Err(too_large());
        }
        self.owners.begin(principal)
    }

    async fn serve(
        &self,
        admitted: Admitted,
        principal: &Principal,
    ) -> (Answer, UnderWay, Option<Asked>) {
        let Admitted {
            head,
            body,
            place,
            begun,
            asked,
        } = admitted;
        let (ends, headers) = (head.method == Method::DELETE, head.headers.clone());
        let request = Request::from_parts(head, Full::new(body.clone()));
        let mut answer = self.service.handle(request).await;
        match answer.status() {
            // The SDK says that it accepted to end the session; clients take only that it
            // did (Python's `mcp` warns of 202).
            StatusCode::ACCEPTED if ends => {
                *answer.status_mut() = StatusCode::NO_CONTENT;
                self.owners.forget(&headers);
            }
            // The type was checked: what the SDK does not take is the body.
            StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                let (code, id, why) = fault_of(&body, "body");
                answer = Refusal::no_message(code, id, why).answer();
            }
            _ => {
                if let Some(begun) = begun {
                    self.owners.note(answer.headers(), principal, begun);
                }
            }
        }
        (refusal::as_json(answer).await, place, asked)
    }
}

/// A request that was let in.
struct Admitted {
    head: Parts,
    body: Bytes,
    place: UnderWay,
    /// The place of the session that it begins.
    begun: Option<Share>,
    asked: Option<Asked>,
}

/// Reads a body of bounded size in bounded time.
async fn read(body: Incoming, pieces: &mut Share) -> Result<Bytes, Refusal> {
    if body.size_hint().lower() > MAX_BODY as u64 {
        return Err(too_large());
    }
    let read = tokio::time::timeout(BODY_PATIENCE, collect(body, pieces)).await;
    read.unwrap_or_else(|_| {
        let why = "the body took too long";
        Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, why))
    })
}

/// Reads a body as it comes, as far as there is room for it.
async fn collect(mut body: Incoming, pieces: &mut Share) -> Result<Bytes, Refusal> {
    let (mut whole, mut taken) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::bad_request("the body broke off"))?;
        // Trailers say nothing that is heeded.
        let Some(data) = frame.data_ref() else {
            continue;
        };
        if whole.len() + data.len() > MAX_BODY {
            return Err(too_large());
        }
        whole.extend_from_slice(data);
        let wanted = whole.len().div_ceil(PIECE);
        pieces.grow(wanted - taken)?;
        taken = wanted;
    }
    Ok(whole.into())
}

fn too_long() -> Refusal {
    let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    Refusal::new(status, "the headers are longer than 32 KiB").last()
}

fn too_large() -> Refusal {
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large")
}

fn ending() -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is ending").last()
}

fn unauthorized() -> Answer {
    let mut answer = Refusal::new(StatusCode::UNAUTHORIZED, "a bearer token is needed").answer();
    let scheme = HeaderValue::from_static("Bearer");
    answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
    answer
}

/// A body that keeps something until it is sent.
fn kept<T: Send + Sync + 'static>(
    body: BoxBody<Bytes, Infallible>,
    kept: T,
) -> BoxBody<Bytes, Infallible> {
    body.map_frame(move |frame| {
        let _ = &kept;
        frame
    })
    .boxed()
}
