//! Why nothing was pulled.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::json;

use super::super::{Exit, print};
use super::reference::Digest;

/// A stable code, what is wrong, and what to do.
#[derive(Debug)]
pub(super) struct Problem {
    code: &'static str,
    message: String,
    hint: &'static str,
}

impl Problem {
    pub(super) fn new(code: &'static str, message: impl Into<String>, hint: &'static str) -> Self {
        let message = message.into();
        Self {
            code,
            message,
            hint,
        }
    }

    pub(super) fn other_bytes(what: &str, wanted: &Digest, got: &Digest) -> Self {
        Self::new(
            "digest-mismatch",
            format!("the registry sent another {what}: `{wanted}` was asked for, and `{got}` came"),
            "do not use it; ask whoever gave you the reference, or use another registry",
        )
    }

    pub(super) fn too_large(what: &str, most: u64) -> Self {
        Self::new(
            "limit-exceeded",
            format!("the {what} has more than {most} bytes"),
            "nothing that large is a tool component",
        )
    }

    pub(super) fn no_component(what: impl Into<String>) -> Self {
        Self::new(
            "unsupported-document",
            what,
            "it has to be a WebAssembly artifact: a manifest with one layer, `application/wasm`",
        )
    }

    pub(super) fn redirected(what: &str) -> Self {
        Self::new(
            "redirected",
            format!("the registry leads elsewhere for {what}, and that is not followed"),
            "name the registry that has it; only contents, over https, may come from another host",
        )
    }

    pub(super) fn cache(error: &std::io::Error) -> Self {
        Self::new(
            "io",
            format!("the cache cannot be used: {error}"),
            "see that `$XDG_CACHE_HOME/rootbound` is yours, with mode 0700, and has room",
        )
    }

    pub(super) fn output(file: &Path, error: &std::io::Error) -> Self {
        let code = match error.kind() {
            ErrorKind::AlreadyExists => "exists",
            _ => "io",
        };
        let message = format!("`{}` cannot be written: {error}", file.display());
        Self::new(code, message, "name another file")
    }

    /// Prints it as any other error object.
    pub(super) fn report(&self) -> Exit {
        let error = json!({"error": {
            "code": self.code,
            "reason": null,
            "message": self.message,
            "hint": self.hint,
        }});
        print::json(&error.to_string());
        Exit::Refused
    }
}
