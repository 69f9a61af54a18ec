//! What a request's head may say: by which name it calls the server, and in what its body is
//! written. Decided before the body is read.

use std::net::Ipv6Addr;

use anyhow::{Context, bail};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, ORIGIN, TRANSFER_ENCODING};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, Method, Request, StatusCode};

use super::refusal::Refusal;

/// Where a request says which version of the protocol it speaks.
const VERSION: &str = "mcp-protocol-version";

/// The names by which a request may call the server: a page that was lured here by DNS calls
/// it by another. Upper and lower case are one, everything else is as it is written: `localhost.`
/// is not `localhost`. A name without a port is good with any, since what is forwarded comes
/// with the port of its forwarder.
#[derive(Debug)]
pub(super) struct Names(Vec<String>);

impl Names {
    /// From what the server is called in any case, and what the operator names.
    ///
    /// # Errors
    ///
    /// When one of the operator's is no name, which no request would ever have.
    pub(super) fn new(mut names: Vec<String>, named: &[String]) -> anyhow::Result<Self> {
        for name in named {
            let is_name = authority(name).is_ok_and(|name| is_host(&name));
            if !is_name && name.parse::<Ipv6Addr>().is_err() {
                bail!(
                    "`--http-host {name}` is no name of a host; it is `files.example` or `files.example:8443`, without a scheme, a path or `*`"
                );
            }
            names.push(name.clone());
        }
        Ok(Self(names))
    }

    pub(super) fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Checks the one `Host` that a request has to have (RFC 9112, section 3.2), and the
    /// authority that its target names besides.
    pub(super) fn check(&self, head: &Parts) -> Result<(), Refusal> {
        let host = only_host(&head.headers)?;
        let named = authority(host)?;
        let target = head.uri.authority();
        if target.is_some_and(|target| target.as_str().contains('@')) {
            return Err(Refusal::bad_request("the target names a user"));
        }
        for name in [Some(&named), target].into_iter().flatten() {
            if !self.has(name) {
                let why = "the server is not called by this name; `--http-host` adds one";
                return Err(Refusal::new(StatusCode::FORBIDDEN, why));
            }
        }
        Ok(())
    }

    fn has(&self, name: &Authority) -> bool {
        let host = name.host().trim_matches(['[', ']']);
        self.0.iter().any(|allowed| {
            let Ok(allowed_name) = Authority::try_from(allowed.as_str()) else {
                // An IPv6 address without brackets.
                return allowed.eq_ignore_ascii_case(host);
            };
            let allowed_host = allowed_name.host().trim_matches(['[', ']']);
            let same_port = |port| name.port_u16() == Some(port);
            allowed_host.eq_ignore_ascii_case(host) && allowed_name.port_u16().is_none_or(same_port)
        })
    }
}

/// The origins whose pages may send requests, in one spelling (RFC 6454, section 6.2, but always
/// with the port where the scheme has one).
#[derive(Debug)]
pub(super) struct Origins(Vec<String>);

impl Origins {
    /// # Errors
    ///
    /// When one is no origin, which no page would ever have.
    pub(super) fn new(named: &[String]) -> anyhow::Result<Self> {
        let origin = |text: &String| {
            origin(text).with_context(|| {
                format!(
                    "`--http-origin {text}` is no origin; it is `http://localhost:6274` or `https://app.example`, without a path or `*`, and without a port it means that of its scheme only"
                )
            })
        };
        named.iter().map(origin).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Checks from where a page sends a request. Other programs name no origin.
    pub(super) fn check(&self, head: &Parts) -> Result<(), Refusal> {
        let mut all = head.headers.get_all(ORIGIN).iter();
        let named = match (all.next(), all.next()) {
            (None, _) => return Ok(()),
            (Some(named), None) => named.to_str().ok().and_then(origin),
            (Some(_), Some(_)) => None,
        };
        if named.is_some_and(|named| self.0.contains(&named)) {
            return Ok(());
        }
        let why = "pages of this origin may not send requests; `--http-origin` names one that may";
        Err(Refusal::new(StatusCode::FORBIDDEN, why))
    }
}

/// An origin in its one spelling.
fn origin(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let named = authority(rest).ok().filter(is_host)?;
    if scheme.is_empty() || !scheme.chars().all(of_scheme) {
        return None;
    }
    let host = named.host().to_ascii_lowercase();
    let usual = match scheme.as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    Some(match named.port_u16().or(usual) {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    })
}

/// Whether it is a name or an address, where the grammar of URIs allows more.
fn is_host(authority: &Authority) -> bool {
    let host = authority.host();
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let inside = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match inside {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => host.chars().all(of_name),
    }
}

/// Bytes of a request's head, as it comes with one space where one is needed.
pub(super) fn length<T>(request: &Request<T>) -> usize {
    let line = request.method().as_str().len() + request.uri().to_string().len();
    let headers = request.headers().iter();
    let headers = headers.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    line + "  HTTP/1.1\r\n\r\n".len() + headers.sum::<usize>()
}

fn only_host(headers: &HeaderMap) -> Result<&str, Refusal> {
    let mut all = headers.get_all(HOST).iter();
    match (all.next(), all.next()) {
        (Some(host), None) => host
            .to_str()
            .map_err(|_| Refusal::bad_request("the `Host` header is no text")),
        (None, _) => Err(Refusal::bad_request("a request needs a `Host` header")),
        (Some(_), Some(_)) => Err(Refusal::bad_request("a request has one `Host` header")),
    }
}

/// A host and perhaps a port, and nothing else.
fn authority(text: &str) -> Result<Authority, Refusal> {
    let malformed = || Refusal::bad_request("the `Host` header is not a host and a port");
    let authority = Authority::try_from(text).map_err(|_| malformed())?;
    let after = &text[authority.host().len().min(text.len())..];
    let port = after.strip_prefix(':').unwrap_or(after);
    let is_port = port.is_empty() || port.parse::<u16>().is_ok();
    let begins = text.starts_with(authority.host());
    (begins && is_port && !authority.host().is_empty())
        .then_some(authority)
        .ok_or_else(malformed)
}

/// Checks that a request names one version of the protocol: others, through which it came, may
/// have read the other one.
pub(super) fn check_version(head: &Parts) -> Result<(), Refusal> {
    match head.headers.get_all(VERSION).iter().count() {
        0 | 1 => Ok(()),
        _ => Err(Refusal::bad_request(
            "a request has one `MCP-Protocol-Version` header",
        )),
    }
}

/// Checks that a body comes and is JSON as it stands.
pub(super) fn check_body(head: &Parts) -> Result<(), Refusal> {
    // Others, through which the request came, may not take the rest for the same body.
    let mut codings = head.headers.get_all(TRANSFER_ENCODING).iter();
    if codings.any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked")) {
        let why = "a request's body has no `Transfer-Encoding` but `chunked`";
        return Err(Refusal::bad_request(why).last());
    }
    if head.method != Method::POST {
        return Ok(());
    }
    let mut kinds = head.headers.get_all(CONTENT_TYPE).iter();
    let essence = match (kinds.next(), kinds.next()) {
        (Some(kind), None) => kind.to_str().unwrap_or_default(),
        _ => "",
    };
    let essence = essence.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/json") {
        let why = "a request's `Content-Type` is `application/json`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    let encoded = head.headers.get_all(CONTENT_ENCODING).iter();
    let mut encoded = encoded.filter(|coding| *coding != "identity");
    if encoded.next().is_some() {
        let why = "a request's body has no `Content-Encoding`";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(target: &str, hosts: &[&str]) -> u16 {
        let names = ["localhost", "127.0.0.1", "::1", "files.example:8443"];
        let names = Names::new(names.map(str::to_owned).into(), &[]).expect("names");
        let mut request = http::Request::builder().uri(target);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        names
            .check(&head)
            .map_or_else(|refusal| refusal.status.as_u16(), |()| 200)
    }

    #[test]
    fn a_server_is_called_by_its_names_and_no_other() {
        for (host, expected) in [
            ("localhost", 200),
            ("LocalHost:8931", 200),
            ("localhost:", 200),
            ("127.0.0.1:1", 200),
            ("[::1]", 200),
            ("[::1]:8931", 200),
            ("files.example:8443", 200),
            ("files.example", 403),
            ("files.example:8444", 403),
            ("localhost.", 403),
            ("localhost.evil.example", 403),
            ("evil.example", 403),
            ("127.0.0.2", 403),
            ("127.1", 403),
            ("2130706433", 403),
            ("[0:0:0:0:0:0:0:1]", 403),
            ("[::ffff:127.0.0.1]", 403),
            ("", 400),
            (":80", 400),
            ("evil.example@localhost", 400),
            ("localhost:http", 400),
            ("localhost:99999", 400),
            ("localhost/x", 400),
            ("localhost, evil.example", 400),
            ("::1", 400),
        ] {
            assert_eq!(status("/mcp", &[host]), expected, "{host:?}");
        }
    }

    #[test]
    fn an_origin_without_a_port_has_that_of_its_scheme_and_no_other() {
        let named = [
            "https://App.example",
            "http://localhost",
            "http://[::1]:6274",
            "x-view://a",
        ];
        let origins = Origins::new(&named.map(str::to_owned)).expect("origins");
        let allowed = |origin: &str| {
            let request = http::Request::builder().header(ORIGIN, origin);
            let (head, ()) = request.body(()).expect("a request").into_parts();
            origins.check(&head).is_ok()
        };
        for origin in [
            "https://app.example",
            "https://app.example:443",
            "http://localhost",
            "http://localhost:80",
            "http://[::1]:6274",
            "x-view://a",
        ] {
            assert!(allowed(origin), "{origin}");
        }
        for origin in [
            "https://app.example:8443",
            "http://app.example",
            "https://app.example.evil.example",
            "https://evil.example@app.example",
            "http://localhost:3000",
            "http://[::1]",
            "http://localhost/",
            "localhost",
            "null",
            "",
            "*",
        ] {
            assert!(!allowed(origin), "{origin}");
        }
    }

    #[test]
    fn what_no_request_can_have_is_not_taken_for_a_name_or_an_origin() {
        for wrong in [
            "*",
            "",
            "localhost:6274",
            "null",
            "http://*",
            "http://*.example",
            "http://localhost:*",
            "http://localhost/path",
            "http://me@localhost",
            "http://localhost:99999",
            "://x",
        ] {
            assert!(Origins::new(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
        for wrong in [
            "*",
            "",
            "*.example",
            "http://files.example",
            "a/b",
            "a b",
            "a:http",
            "me@a",
        ] {
            assert!(
                Names::new(Vec::new(), &[wrong.to_owned()]).is_err(),
                "{wrong}"
            );
        }
        for right in [
            "files.example",
            "files.example:8443",
            "::1",
            "[::1]:80",
            "10.0.0.1",
        ] {
            assert!(
                Names::new(Vec::new(), &[right.to_owned()]).is_ok(),
                "{right}"
            );
        }
    }

    #[test]
    fn there_is_one_name_and_the_target_may_not_name_another() {
        assert_eq!(status("/mcp", &[]), 400);
        assert_eq!(status("/mcp", &["localhost", "localhost"]), 400);
        assert_eq!(status("/mcp", &["localhost", "evil.example"]), 400);
        assert_eq!(status("http://localhost/mcp", &["localhost"]), 200);
        assert_eq!(status("http://evil.example/mcp", &["localhost"]), 403);
        assert_eq!(status("http://localhost/mcp", &["evil.example"]), 403);
        assert_eq!(status("http://localhost/mcp", &[]), 400);
        assert_eq!(status("http://me@localhost/mcp", &["localhost"]), 400);
    }
}
