//! The part of the OCI Distribution Specification 1.1 that pulling needs.

use std::time::Duration;

use serde::Deserialize;
use ureq::Agent;
use ureq::http::header::{ACCEPT, AUTHORIZATION, LOCATION, WWW_AUTHENTICATE};
use ureq::http::{Response, StatusCode, Uri};

use super::manifest::{self, Layer};
use super::problem::Problem;
use super::reference::{Digest, Reference, host};

type Answer = Response<ureq::Body>;

/// A registry's answer to a request for a token.
const MOST_TOKEN_BYTES: u64 = 64 << 10;
/// From a registry to where it keeps contents, and from there to the nearest copy.
const MOST_REDIRECTS: usize = 3;

/// One repository of a registry.
pub(super) struct Registry<'a> {
    agent: Agent,
    scheme: &'static str,
    reference: &'a Reference,
    token: Option<String>,
}

#[derive(Deserialize)]
struct Token {
    #[serde(alias = "access_token")]
    token: String,
}

impl<'a> Registry<'a> {
    /// `plain` is http without TLS. No request is made yet.
    pub(super) fn new(reference: &'a Reference, plain: bool, timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .user_agent(concat!("rootbound/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(timeout))
            .https_only(!plain)
            .http_status_as_error(false)
            // Where to go is decided here.
            .max_redirects(0)
            .max_redirects_will_error(false);
        // What is on this machine is not asked for through a proxy.
        let config = if plain { config.proxy(None) } else { config };
        Self {
            agent: config.build().into(),
            scheme: if plain { "http" } else { "https" },
            reference,
            token: None,
        }
    }

    /// The bytes of a manifest, by tag or digest.
    pub(super) fn manifest(&mut self, version: &str) -> Result<Vec<u8>, Problem> {
        let url = self.url("manifests", version);
        let answer = self.get_with_token(&url, manifest::MEDIA_TYPE)?;
        if answer.status().is_redirection() {
            return Err(Problem::redirected("the manifest"));
        }
        body(answer, "manifest", manifest::MOST_BYTES)
    }

    /// The bytes of a layer, which are those that were asked for.
    pub(super) fn component(&mut self, layer: &Layer) -> Result<Vec<u8>, Problem> {
        let url = self.url("blobs", &layer.digest.to_string());
        let mut answer = self.get_with_token(&url, "*/*")?;
        for _ in 0..MOST_REDIRECTS {
            if !answer.status().is_redirection() {
                break;
            }
            // Whoever is next needs no token of this registry, and gets none.
            let next = self.next(&answer)?;
            answer = self.get(&next, "*/*", None)?;
        }
        if answer.status().is_redirection() {
            return Err(Problem::redirected("the component"));
        }
        let bytes = body(answer, "component", layer.size)?;
        match Digest::of(&bytes) {
            digest if digest == layer.digest => Ok(bytes),
            digest => Err(Problem::other_bytes("component", &layer.digest, &digest)),
        }
    }

    fn url(&self, kind: &str, what: &str) -> String {
        let Reference {
            authority, name, ..
        } = self.reference;
        format!("{}://{authority}/v2/{name}/{kind}/{what}", self.scheme)
    }

    /// Asks, and once more with a token if the registry wants one.
    fn get_with_token(&mut self, url: &str, accept: &str) -> Result<Answer, Problem> {
        let answer = self.get(url, accept, self.token.as_deref())?;
        if answer.status() != StatusCode::UNAUTHORIZED || self.token.is_some() {
            return Ok(answer);
        }
        self.token = Some(self.fetch_token(&answer)?);
        self.get(url, accept, self.token.as_deref())
    }

    fn get(&self, url: &str, accept: &str, token: Option<&str>) -> Result<Answer, Problem> {
        let mut request = self.agent.get(url).header(ACCEPT, accept);
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        request.call().map_err(|error| failed(&error))
    }

    /// Everybody's token, for reading this one repository.
    fn fetch_token(&self, refusal: &Answer) -> Result<String, Problem> {
        let challenge = refusal
            .headers()
            .get(WWW_AUTHENTICATE)
            .and_then(|value| value.to_str().ok());
        let challenge = challenge.and_then(|text| text.strip_prefix("Bearer "));
        let parameter = |name| challenge.and_then(|text| parameter(text, name));
        let realm = parameter("realm").ok_or_else(private)?;
        if !self.may_lead_to(realm) {
            return Err(Problem::redirected("a token"));
        }
        let scope = format!("repository:{}:pull", self.reference.name);
        let mut request = self.agent.get(realm).query("scope", scope);
        if let Some(service) = parameter("service") {
            request = request.query("service", service);
        }
        let answer = request.call().map_err(|error| failed(&error))?;
        let bytes = body(answer, "token", MOST_TOKEN_BYTES)?;
        let token: Token = serde_json::from_slice(&bytes).map_err(|_| private())?;
        Ok(token.token)
    }

    /// Where a redirect leads, if it may lead there.
    fn next(&self, answer: &Answer) -> Result<String, Problem> {
        let location = answer
            .headers()
            .get(LOCATION)
            .and_then(|value| value.to_str().ok());
        match location {
            Some(path) if path.starts_with('/') && !path.starts_with("//") => Ok(format!(
                "{}://{}{path}",
                self.scheme, self.reference.authority
            )),
            Some(url) if self.may_lead_to(url) => Ok(url.to_owned()),
            _ => Err(Problem::redirected("the component")),
        }
    }

    /// Another host has to be one of the internet, over TLS; without TLS there is none.
    fn may_lead_to(&self, url: &str) -> bool {
        let Ok(uri) = url.parse::<Uri>() else {
            return false;
        };
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let scheme = uri.scheme_str().unwrap_or_default();
        if authority == self.reference.authority {
            return scheme == self.scheme;
        }
        let is_public = is_of_the_internet(host(authority)) && !authority.contains('@');
        self.scheme == "https" && scheme == "https" && is_public
    }
}

/// Whether it is a name with a domain of the internet. Addresses are written in many ways
/// (`127.1`, `127.0x1`), of which none ends as a name does, and a name may end with a dot.
fn is_of_the_internet(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    host.rsplit_once('.').is_some_and(|(_, domain)| {
        domain.starts_with(|c: char| c.is_ascii_alphabetic())
            && !domain.eq_ignore_ascii_case("localhost")
    })
}

/// The whole body of a good answer.
fn body(mut answer: Answer, what: &str, most: u64) -> Result<Vec<u8>, Problem> {
    match answer.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => {
            let message = format!("the registry has no such {what}");
            return Err(Problem::new(
                "not-found",
                message,
                "see that name and digest are right",
            ));
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => return Err(private()),
        status => {
            let message = format!("the registry answers {} for the {what}", status.as_u16());
            return Err(Problem::new("unreachable", message, "try again later"));
        }
    }
    let bytes = answer.body_mut().with_config().limit(most).read_to_vec();
    bytes.map_err(|error| match error {
        ureq::Error::BodyExceedsLimit(_) => Problem::too_large(what, most),
        error => failed(&error),
    })
}

fn private() -> Problem {
    Problem::new(
        "permission-denied",
        "the registry does not let everybody read this",
        "only public repositories are pulled from; get the file by other means",
    )
}

fn failed(error: &ureq::Error) -> Problem {
    match error {
        ureq::Error::Timeout(_) => Problem::new(
            "timeout",
            "the registry did not answer in time",
            "try again later, or give more time with `--timeout-ms`",
        ),
        error => Problem::new(
            "unreachable",
            format!("the registry cannot be talked to: {error}"),
            "see that the host is right and can be reached; a registry on this machine may need \
             `--plain-http`",
        ),
    }
}

/// A parameter of a challenge, as RFC 9110 quotes it.
fn parameter<'a>(challenge: &'a str, name: &str) -> Option<&'a str> {
    challenge.split(',').find_map(|part| {
        let (key, value) = part.trim().split_once('=')?;
        (key == name).then(|| value.trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(reference: &str, plain: bool, url: &str) -> bool {
        let reference = Reference::parse(reference).unwrap();
        Registry::new(&reference, plain, Duration::from_secs(1)).may_lead_to(url)
    }

    #[test]
    fn contents_may_come_from_other_hosts_of_the_internet_over_tls() {
        for (url, may) in [
            ("https://cdn.example.net/x", true),
            ("https://example.org/x", true),
            ("http://example.org/x", false),
            ("http://cdn.example.net/x", false),
            ("https://127.0.0.1/x", false),
            ("https://[::1]/x", false),
            ("https://localhost/x", false),
            ("https://localhost./x", false),
            ("https://a.localhost/x", false),
            ("https://127.1/x", false),
            ("https://127.0x1/x", false),
            ("https://127.0.0.1./x", false),
            ("https://2130706433/x", false),
            ("https://cdn.example.net./x", true),
            ("https://user@cdn.example.net/x", false),
            ("file:///etc/passwd", false),
            ("//cdn.example.net/x", false),
            ("", false),
        ] {
            assert_eq!(leads("oci://example.org/a", false, url), may, "{url}");
        }
    }

    #[test]
    fn without_tls_nothing_leads_away() {
        for (url, may) in [
            ("http://127.0.0.1:5000/x", true),
            ("http://127.0.0.1:5001/x", false),
            ("https://cdn.example.net/x", false),
        ] {
            assert_eq!(leads("oci://127.0.0.1:5000/a", true, url), may, "{url}");
        }
    }

    #[test]
    fn parameters_of_a_challenge_are_found() {
        let challenge = r#"realm="https://a.example/token",service="b c",scope="d""#;
        assert_eq!(
            parameter(challenge, "realm"),
            Some("https://a.example/token")
        );
        assert_eq!(parameter(challenge, "service"), Some("b c"));
        assert_eq!(parameter(challenge, "other"), None);
    }
}
