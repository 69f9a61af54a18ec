//! One request after the other, over HTTP/1.1 and by the thread that asks.

use std::fmt;
use std::net::SocketAddr;

use http::header::HOST;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderValue, Request, Response, Uri};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use ureq::Agent;

use super::endpoint::Endpoint;

/// More than a collector has to say about a request.
const MAX_ANSWER: u64 = 1 << 20;

/// A client of one collector, by its addresses: once the kernel confines the process, names
/// cannot be looked up any more.
pub(super) struct Client {
    agent: Agent,
    addresses: Vec<SocketAddr>,
}

impl Client {
    pub(super) fn to(endpoint: Endpoint) -> Self {
        let agent = Agent::config_builder()
            .timeout_global(Some(endpoint.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .build();
        Self {
            agent: agent.new_agent(),
            addresses: endpoint.addresses,
        }
    }

    /// The first address that answers is the collector.
    fn send(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let mut failure: HttpError = "the host has no address".into();
        for address in &self.addresses {
            match self.send_to(*address, request) {
                Ok(response) => return Ok(response),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn send_to(
        &self,
        address: SocketAddr,
        request: &Request<Bytes>,
    ) -> Result<Response<Bytes>, HttpError> {
        let mut to = Request::post(with_address(request.uri(), address)?);
        for (name, value) in request.headers() {
            to = to.header(name, value);
        }
        if let Some(host) = request.uri().authority() {
            to = to.header(HOST, HeaderValue::from_str(host.as_str())?);
        }
        let response = self.agent.run(to.body(request.body().to_vec())?)?;
        let (parts, mut body) = response.into_parts();
        let bytes = body.with_config().limit(MAX_ANSWER).read_to_vec()?;
        Ok(Response::from_parts(parts, bytes.into()))
    }
}

fn with_address(uri: &Uri, address: SocketAddr) -> Result<Uri, HttpError> {
    let authority: Authority = address.to_string().parse()?;
    let path = uri.path_and_query().cloned();
    let built = Uri::builder()
        .scheme(Scheme::HTTP)
        .authority(authority)
        .path_and_query(path.unwrap_or(PathAndQuery::from_static("/")));
    Ok(built.build()?)
}

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        self.send(&request)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}
