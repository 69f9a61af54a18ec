//! What is to be pulled: `oci://HOST[:PORT]/NAME@sha256:DIGEST`.

use std::fmt;
use std::net::IpAddr;

use anyhow::{Context, Result, bail, ensure};

/// A place in a registry, and what is meant there.
#[derive(Debug)]
pub(super) struct Reference {
    /// Host, and port where one is named.
    pub(super) authority: String,
    pub(super) name: String,
    pub(super) version: Version,
}

/// Which of the versions under a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Version {
    Digest(Digest),
    Tag(String),
}

/// `sha256:` and 64 lower-case hex digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digest(String);

impl Reference {
    /// # Errors
    /// A sentence about what is wrong with the text.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let rest = text
            .strip_prefix("oci://")
            .context("it does not start with `oci://`")?;
        let (authority, path) = rest.split_once('/').context("it names no repository")?;
        check_authority(authority)?;
        let (path, digest) = match path.split_once('@') {
            Some((path, digest)) => (path, Some(Digest::parse(digest)?)),
            None => (path, None),
        };
        let (name, tag) = match path.split_once(':') {
            Some((name, tag)) => (name, Some(tag)),
            None => (path, None),
        };
        check_name(name)?;
        Ok(Self {
            authority: authority.to_owned(),
            name: name.to_owned(),
            version: version(digest, tag)?,
        })
    }

    pub(super) fn pinned(&self, digest: &Digest) -> String {
        format!("oci://{}/{}@{digest}", self.authority, self.name)
    }

    /// Whether the registry is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let host = host(&self.authority);
        host == "localhost"
            || host
                .parse()
                .is_ok_and(|address: IpAddr| address.is_loopback())
    }
}

/// The host of an authority, without brackets and port.
pub(super) fn host(authority: &str) -> &str {
    match authority
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        Some((address, _)) => address,
        None => authority.split(':').next().unwrap_or(authority),
    }
}

/// A digest decides; a tag beside it is for people.
fn version(digest: Option<Digest>, tag: Option<&str>) -> Result<Version> {
    if let Some(tag) = tag {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let is_tag = tag.chars().all(plain) && (1..=128).contains(&tag.len());
        ensure!(is_tag, "`{}` is no tag", tag.escape_debug());
    }
    Ok(match (digest, tag) {
        (Some(digest), _) => Version::Digest(digest),
        (None, tag) => Version::Tag(tag.unwrap_or("latest").to_owned()),
    })
}

fn check_authority(authority: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    let is_plain = !authority.is_empty() && authority.chars().all(plain);
    ensure!(is_plain, "`{}` is no host", authority.escape_debug());
    Ok(())
}

/// The rule of the OCI Distribution Specification 1.1 for names.
fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_part = |part: &str| {
        part.starts_with(plain)
            && part.ends_with(plain)
            && part.chars().all(|c| plain(c) || "._-".contains(c))
            && !part.contains("..")
    };
    let is_name = name.len() <= 255 && name.split('/').all(is_part);
    ensure!(
        is_name,
        "`{}` is no name of a repository",
        name.escape_debug()
    );
    Ok(())
}

impl Digest {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let hex = text.strip_prefix("sha256:").unwrap_or_default();
        let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        if hex.len() != 64 || !hex.chars().all(is_hex) {
            bail!(
                "`{}` is no digest: it is `sha256:` and 64 lower-case hex digits",
                text.escape_debug()
            );
        }
        Ok(Self(text.to_owned()))
    }

    /// The digest of bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        let hash = sha2::Sha256::digest(bytes);
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Self(format!("sha256:{hex}"))
    }

    pub(super) fn hex(&self) -> &str {
        &self.0["sha256:".len()..]
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn a_reference_has_host_name_and_version() {
        let reference = Reference::parse(&format!("oci://[::1]:5000/a/b-c:v1@{DIGEST}")).unwrap();
        assert_eq!(
            (&*reference.authority, &*reference.name),
            ("[::1]:5000", "a/b-c")
        );
        assert_eq!(
            reference.version,
            Version::Digest(Digest(DIGEST.to_owned()))
        );
        assert!(reference.is_loopback());
        let tagged = Reference::parse("oci://example.org/tools").unwrap();
        assert_eq!(tagged.version, Version::Tag("latest".to_owned()));
        assert!(!tagged.is_loopback());
    }

    #[test]
    fn what_is_no_reference_is_refused() {
        for text in [
            "",
            "https://example.org/a",
            "oci://example.org",
            "oci:///a",
            "oci://user@example.org/a",
            "oci://example.org/",
            "oci://example.org/A",
            "oci://example.org/a/../b",
            "oci://example.org/a//b",
            "oci://example.org/a?b",
            "oci://example.org/a:",
            "oci://example.org/a:b/c",
            "oci://example.org/a@sha256:00",
            "oci://example.org/a@sha512:00",
            "oci://example.org/a%2fb",
            "oci://exa mple.org/a",
        ] {
            assert!(Reference::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for (authority, is_loopback) in [
            ("127.0.0.1:5000", true),
            ("127.1.2.3", true),
            ("localhost:80", true),
            ("[::1]", true),
            ("127.0.0.1.example.org", false),
            ("localhost.example.org", false),
            ("10.0.0.1:5000", false),
        ] {
            let reference = Reference::parse(&format!("oci://{authority}/a")).unwrap();
            assert_eq!(reference.is_loopback(), is_loopback, "{authority}");
        }
    }
}
