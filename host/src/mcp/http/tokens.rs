//! Who may use the server, and by which name approvals know them.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator names the file, before any tool runs"
)]

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, bail};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use rootbound::escaped;
use sha2::{Digest, Sha256};

use crate::cli::{HttpArgs, print};
use crate::mcp::approvals::random_text;
use crate::mcp::handler::Principal;

/// Fewer letters than this can be guessed.
const SHORTEST: usize = 16;
/// What the seal of request states takes.
const SHORTEST_KEY: usize = 32;
/// Bytes of a file of tokens or a key; more is another file.
const MOST_BYTES: u64 = 1 << 20;

/// The tokens that open the server. Only their hashes are kept, and compared: how long a
/// comparison takes says nothing about the token.
pub(super) struct Tokens {
    known: Vec<([u8; 32], Principal)>,
    generated: Option<String>,
}

impl Tokens {
    /// From a file, else from the environment, else a new one.
    pub(super) fn from(args: &HttpArgs) -> anyhow::Result<Self> {
        let mut tokens = Self {
            known: Vec::new(),
            generated: None,
        };
        match (&args.http_token_file, &args.http_token) {
            (Some(file), _) => {
                let text = String::from_utf8(read(file)?)
                    .with_context(|| format!("`{}` cannot be read", file.display()))?;
                warn_if_open(file);
                for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                    tokens.add(line)?;
                }
                if tokens.known.is_empty() {
                    bail!("`{}` holds no token", file.display());
                }
            }
            // An empty variable is one that was not set, and opens nothing.
            (None, Some(token)) if !token.trim().is_empty() => tokens
                .add(token.trim())
                .context("the environment's `ROOTBOUND_HTTP_TOKEN`")?,
            (None, _) => {
                let token = random_text();
                tokens.add(&token)?;
                tokens.generated = Some(token);
            }
        }
        Ok(tokens)
    }

    /// Adds `NAME:TOKEN` or a token without a name.
    fn add(&mut self, line: &str) -> anyhow::Result<()> {
        // No token of RFC 6750 holds a colon.
        let (name, token) = line.split_once(':').unwrap_or(("default", line));
        let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || !name.chars().all(named) {
            bail!("a token's name has letters, digits, `.`, `_` and `-`");
        }
        let of_token = |c: char| named(c) || matches!(c, '~' | '+' | '/' | '=');
        if token.len() < SHORTEST || !token.chars().all(of_token) {
            bail!("the token `{name}` is not {SHORTEST} or more letters, digits and `-._~+/=`");
        }
        let (hash, principal) = (hash(token), Principal(format!("http:{name}")));
        // Two tokens of one name are one caller: each could approve what the other asked for.
        if self.known.iter().any(|(_, other)| *other == principal) {
            bail!(
                "two tokens are called `{name}`, as one without a name is `default`; give each a name of its own: `NAME:TOKEN`"
            );
        }
        if self.known.iter().any(|(other, _)| *other == hash) {
            bail!("the token `{name}` is there under another name; give each caller its own");
        }
        self.known.push((hash, principal));
        Ok(())
    }

    /// The token that was made up at start, to be shown once.
    pub(super) fn generated(&self) -> Option<&str> {
        self.generated.as_deref()
    }

    /// Whose token a request carries (RFC 6750, section 2.1).
    pub(super) fn principal(&self, headers: &HeaderMap) -> Option<Principal> {
        let mut all = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (all.next(), all.next()) else {
            return None;
        };
        let value = value.to_str().ok()?;
        let (scheme, token) = value.split_once(' ')?;
        let given = hash(token.trim());
        let mut known = self.known.iter().filter(|(known, _)| *known == given);
        let (_, principal) = known.next()?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then(|| principal.clone())
    }
}

/// Reads a file of secrets, which may be a pipe.
fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|open| open.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .with_context(|| format!("`{}` cannot be read", file.display()))?;
    if bytes.len() as u64 > MOST_BYTES {
        bail!("`{}` is larger than 1 MiB", file.display());
    }
    Ok(bytes)
}

/// Reads the key that replicas share.
pub(in crate::mcp) fn read_key(file: &Path) -> anyhow::Result<Vec<u8>> {
    let key = read(file)?;
    warn_if_open(file);
    if key.len() < SHORTEST_KEY {
        bail!("`{}` is shorter than {SHORTEST_KEY} bytes", file.display());
    }
    Ok(key)
}

/// A secret that other users can read is for the operator: containers hand them out so.
fn warn_if_open(file: &Path) {
    let mode = std::fs::metadata(file).map_or(0, |metadata| metadata.mode());
    if mode & 0o077 != 0 {
        let name = escaped(&file.display().to_string());
        print::to_stderr(&format!(
            "warning: `{name}` is open to other users of this machine; its mode should be 0600"
        ));
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
