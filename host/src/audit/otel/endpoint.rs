//! Where telemetry goes, by what the operator and the environment say (OpenTelemetry
//! specification, OTLP exporter configuration).

use std::net::SocketAddr;
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;

use super::OtlpError;
use crate::ambient;

/// Where a collector on the same machine listens.
const DEFAULT: &str = "http://localhost:4318";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The one protocol that is spoken.
const PROTOCOL: &str = "http/protobuf";
const HTTP_PORT: u16 = 80;

/// A kind of telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Logs,
    Traces,
}

/// The place of one signal. Its host was looked up once, while that was still allowed.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    uri: Uri,
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) timeout: Duration,
}

impl Signal {
    /// A variable for this signal, else that for all of them.
    fn variable(self, what: &str) -> Option<(String, bool)> {
        let signal = match self {
            Self::Logs => "LOGS",
            Self::Traces => "TRACES",
        };
        let own = ambient::telemetry_variable(&format!("OTEL_EXPORTER_OTLP_{signal}_{what}"));
        let all = || ambient::telemetry_variable(&format!("OTEL_EXPORTER_OTLP_{what}"));
        own.map(|value| (value, true))
            .or_else(|| all().map(|value| (value, false)))
    }

    fn path(self) -> &'static str {
        match self {
            Self::Logs => "v1/logs",
            Self::Traces => "v1/traces",
        }
    }

    /// What was given is a base as the general variable is; a signal's own is taken as it is.
    fn uri(self, given: Option<&str>) -> String {
        let below = |base: &str| format!("{}/{}", base.trim_end_matches('/'), self.path());
        match (given, self.variable("ENDPOINT")) {
            (Some(given), _) => below(given),
            (None, Some((own, true))) => own,
            (None, Some((base, false))) => below(&base),
            (None, None) => below(DEFAULT),
        }
    }
}

impl Endpoint {
    pub(super) fn of(signal: Signal, given: Option<&str>) -> Result<Self, OtlpError> {
        refuse_other_protocols(signal, given)?;
        let text = signal.uri(given);
        let wrong = |why: &str| OtlpError(format!("`{text}` {why}"));
        let uri: Uri = text
            .parse()
            .map_err(|_| wrong("is no address such as `http://localhost:4318`"))?;
        if uri.scheme() != Some(&Scheme::HTTP) {
            return Err(wrong(
                "does not begin with `http://`: TLS is a local collector's job",
            ));
        }
        let host = uri.host().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| wrong("names no host"))?;
        let port = uri.port_u16().unwrap_or(HTTP_PORT);
        let bare = host.trim_matches(['[', ']']);
        let addresses = ambient::resolve(bare, port)
            .map_err(|error| wrong(&format!("cannot be looked up: {error}")))?;
        Ok(Self {
            uri,
            addresses,
            timeout: timeout(signal),
        })
    }

    pub(super) fn uri(&self) -> String {
        self.uri.to_string()
    }

    pub(super) fn port(&self) -> u16 {
        self.uri.port_u16().unwrap_or(HTTP_PORT)
    }
}

/// An endpoint that was made for another protocol would refuse everything, at every call.
fn refuse_other_protocols(signal: Signal, given: Option<&str>) -> Result<(), OtlpError> {
    match signal.variable("PROTOCOL") {
        Some((protocol, _)) if given.is_none() && protocol != PROTOCOL => Err(OtlpError(format!(
            "`OTEL_EXPORTER_OTLP_PROTOCOL` is `{protocol}`, and this is `{PROTOCOL}`"
        ))),
        _ => Ok(()),
    }
}

/// Milliseconds for one export.
fn timeout(signal: Signal) -> Duration {
    let given = signal.variable("TIMEOUT");
    let given = given.and_then(|(value, _)| value.parse().ok());
    given.map_or(DEFAULT_TIMEOUT, Duration::from_millis)
}
