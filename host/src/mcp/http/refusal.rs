//! Answers of the door: why a request is not served, as the JSON-RPC error without an id that
//! Streamable HTTP allows in their bodies.

use std::convert::Infallible;

use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use rmcp::model::ErrorCode;
use serde_json::{Value, json};

pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

const JSON: &str = "application/json";

/// Why a request is not served.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    why: String,
    code: ErrorCode,
    id: Value,
    is_last: bool,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self {
            status,
            why: why.into(),
            code: ErrorCode::INVALID_REQUEST,
            id: Value::Null,
            is_last: false,
        }
    }

    /// One after which nothing that comes on the connection is a request.
    pub(super) fn last(self) -> Self {
        Self {
            is_last: true,
            ..self
        }
    }

    pub(super) fn bad_request(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, why)
    }

    /// The error that answers a body which is no message.
    pub(super) fn no_message(code: ErrorCode, id: Value, why: impl Into<String>) -> Self {
        Self {
            code,
            id,
            ..Self::bad_request(why)
        }
    }

    pub(super) fn answer(self) -> Answer {
        let error = json!({ "code": self.code.0, "message": self.why });
        let body = json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string();
        let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
        *answer.status_mut() = self.status;
        let passes = matches!(
            self.status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        );
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.is_last {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if passes {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        answer
    }
}

/// The SDK's refusals are plain text; their status, headers and words stay.
pub(super) async fn as_json(answer: Answer) -> Answer {
    let refuses = answer.status().is_client_error() || answer.status().is_server_error();
    if !refuses || is_json(&answer) {
        return answer;
    }
    let (head, body) = answer.into_parts();
    // It is in memory and cannot fail.
    let words = body.collect().await.map(|body| body.to_bytes());
    let words = words.unwrap_or_default();
    let words = String::from_utf8_lossy(&words).into_owned();
    let mut refusal = Refusal::new(head.status, words).answer();
    for (name, value) in &head.headers {
        if *name != CONTENT_TYPE {
            refusal.headers_mut().insert(name.clone(), value.clone());
        }
    }
    refusal
}

fn is_json(answer: &Answer) -> bool {
    let kind = answer.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(JSON.as_bytes()))
}
