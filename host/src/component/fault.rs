//! Why a component is not loaded: a stable code, a sentence, and what to do.

use std::time::Duration;

use super::imports::Import;
use crate::error::{self, CallError};
use crate::screen::escaped;

/// Letters of a message: a name that it quotes can be as long as a file.
const LONGEST_MESSAGE: usize = 500;

/// The stable codes of components that cannot be used. Scripts compare against these; they are
/// never renamed.
pub mod component_code {
    /// The file cannot be read, or is no regular file.
    pub const UNREADABLE: &str = "unreadable";
    /// The file, or a part of it, is larger than it may be.
    pub const TOO_LARGE: &str = "too-large";
    /// The file is not WebAssembly.
    pub const NOT_WASM: &str = "not-wasm";
    /// The file is a core module, which is what a component is made of.
    pub const CORE_MODULE: &str = "core-module";
    /// The file ends before the component does.
    pub const TRUNCATED: &str = "truncated";
    /// The component breaks a rule of its format.
    pub const MALFORMED: &str = "malformed";
    /// The component has more parts, imports or exports than any needs.
    pub const TOO_MANY: &str = "too-many";
    /// The component exports no tools that this host could call.
    pub const FOREIGN_WORLD: &str = "foreign-world";
    /// The component was made for another version of WASI.
    pub const WASI_VERSION: &str = "wasi-version";
    /// The component imports what no component is given.
    pub const IMPORT_REFUSED: &str = "import-refused";
    /// The component imports what the operator has not granted.
    pub const IMPORT_NOT_GRANTED: &str = "import-not-granted";
    /// The component imports what its own manifest does not declare.
    pub const IMPORT_NOT_DECLARED: &str = "import-not-declared";
    /// An import or export has another type than its interface says.
    pub const TYPE_MISMATCH: &str = "type-mismatch";
    /// The component needs more of WebAssembly than this host runs.
    pub const UNSUPPORTED: &str = "unsupported";
    /// The manifest is not what `docs/components.md` says it is.
    pub const MANIFEST_MALFORMED: &str = "manifest-malformed";
    /// There is more than one manifest.
    pub const MANIFEST_DUPLICATE: &str = "manifest-duplicate";
    /// The manifest is larger than any needs to be.
    pub const MANIFEST_TOO_LARGE: &str = "manifest-too-large";
    /// The component has no list of tools that a front-end could show.
    pub const TOOLS_INVALID: &str = "tools-invalid";
    /// The file is not the one that was pinned.
    pub const DIGEST_MISMATCH: &str = "digest-mismatch";
    /// The lock does not know the component.
    pub const NOT_LOCKED: &str = "not-locked";
    /// Compiling the component takes longer than it may.
    pub const COMPILE_TIMEOUT: &str = "compile-timeout";
    /// There is no signature, and one is required.
    pub const SIGNATURE_MISSING: &str = "signature-missing";
    /// The signature was made with a key that is not trusted.
    pub const SIGNATURE_UNKNOWN_KEY: &str = "signature-unknown-key";
    /// The signature is not one, or not of this file.
    pub const SIGNATURE_INVALID: &str = "signature-invalid";
    /// The engine cannot start in this process.
    pub const ENGINE: &str = "engine";
}

use component_code as code;

/// Why a component cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the component cannot be used: {code}: {message}")]
pub struct ComponentError {
    code: &'static str,
    message: String,
    hint: String,
    refused: Option<CallError>,
}

impl ComponentError {
    /// A message may quote what stands in a stranger's file, and goes to people's screens.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        let mut message = escaped(&message.into());
        if let Some((end, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
            message.truncate(end);
            message.push('…');
        }
        Self {
            code,
            message,
            hint: String::new(),
            refused: None,
        }
    }

    pub(crate) fn hint_of(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The stable code, one of [`component_code`].
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// What is wrong, in one sentence, which can be shown on a terminal.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the operator or the component's author can do; may be empty.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// A lock that does not know the component of this name.
    #[must_use]
    pub fn not_locked(name: &str) -> Self {
        Self::new(
            code::NOT_LOCKED,
            format!("the lock does not know a component `{name}`"),
        )
        .hint_of("if it is to be used, run `rootbound lock`")
    }

    pub(super) fn core_module() -> Self {
        Self::new(code::CORE_MODULE, "it is a core module, not a component")
            .hint_of("make a component of it, with `wasm-tools component new`")
    }

    pub(super) fn truncated() -> Self {
        Self::new(code::TRUNCATED, "the file ends before the component does")
            .hint_of("get the file again")
    }

    pub(super) fn malformed(why: impl std::fmt::Display) -> Self {
        let message = format!("it breaks a rule of the format: {why}");
        Self::new(code::MALFORMED, message).hint_of("get the file again, or tell its author")
    }

    /// A part that takes more of the compiler than any needs.
    pub(super) fn part_too_large(what: &str) -> Self {
        Self::new(
            code::TOO_LARGE,
            format!("it is too much to compile: {what}"),
        )
        .hint_of("the component's author has to split its functions, or optimise for size")
    }

    pub(super) fn outline_too_large(most: usize) -> Self {
        let message = format!("it has more than {} MiB besides code and data", most >> 20);
        Self::new(code::TOO_LARGE, message)
    }

    pub(super) fn compile_timeout(patience: Duration) -> Self {
        let message = format!("compiling it takes longer than {} ms", patience.as_millis());
        Self::new(code::COMPILE_TIMEOUT, message)
            .hint_of("if it may take that long, raise `--compile-timeout-ms`")
    }

    pub(super) fn not_compiled() -> Self {
        Self::new(code::UNSUPPORTED, "the compiler failed")
            .hint_of("report this to the authors of this program, with the component")
    }

    pub(super) fn too_many(what: &str, most: usize) -> Self {
        let message = format!("it has more than {most} {what}");
        Self::new(code::TOO_MANY, message)
    }

    pub(super) fn wasi_version(interface: &str) -> Self {
        Self::new(
            code::WASI_VERSION,
            format!("it imports `{interface}`, which is not of WASI 0.2"),
        )
        .hint_of("build the component for WASI 0.2")
    }

    pub(super) fn never_given(interface: &str) -> Self {
        Self::new(
            code::IMPORT_REFUSED,
            format!("it imports `{interface}`, which no component is given"),
        )
        .hint_of("build the component without this import")
    }

    pub(super) fn not_granted(interface: &str, import: Import) -> Self {
        Self::new(
            code::IMPORT_NOT_GRANTED,
            format!(
                "it imports `{interface}`, which is given where `{import}` is granted: {}",
                import.in_words()
            ),
        )
        .hint_of(format!(
            "grant it with `--import {import}`, if it may have that"
        ))
    }

    pub(super) fn not_declared(interface: &str, import: Import) -> Self {
        Self::new(
            code::IMPORT_NOT_DECLARED,
            format!("it imports `{interface}`, and its manifest does not declare `{import}`"),
        )
        .hint_of("the component's author has to declare what it needs")
    }

    /// What a component says that has no list of tools, in the words of what stopped it.
    pub(super) fn unlisted(stopped: &CallError) -> Self {
        const OF_THE_COMPONENT: [&str; 3] = [
            error::code::TRAPPED,
            error::code::TIMEOUT,
            error::code::LIMIT_EXCEEDED,
        ];
        let invalid =
            Self::tools_invalid(format!("it does not list its tools: {}", stopped.message()));
        match OF_THE_COMPONENT.contains(&stopped.code()) {
            true => invalid,
            false => Self {
                hint: "see what the system allows this process".to_owned(),
                refused: Some(stopped.clone()),
                ..invalid
            },
        }
    }

    pub(super) fn tools_invalid(what: impl Into<String>) -> Self {
        Self::new(code::TOOLS_INVALID, what).hint_of("tell the component's author")
    }

    pub(super) fn foreign_world(found: Option<&str>) -> Self {
        let message = match found {
            Some(other) => format!("it exports `{other}`, another version than this host calls"),
            None => "it exports no tools".to_owned(),
        };
        Self::new(code::FOREIGN_WORLD, message).hint_of(format!(
            "a tool component exports `{}`; `wit/world.wit` is the contract",
            super::imports::PROVIDER
        ))
    }

    /// The answer to a call of a component that no session should have been given.
    pub(crate) fn in_a_call(&self) -> CallError {
        if let Some(refused) = self.refused() {
            return refused.clone();
        }
        CallError::new(error::code::TRAPPED, self.to_string())
            .hint_of("nothing was changed; report this to the author of the tool")
    }

    /// What the system refused this process, where that is at fault and not the component.
    #[must_use]
    pub fn refused(&self) -> Option<&CallError> {
        self.refused.as_ref()
    }

    /// What the engine says when it has read a component that `examine` took.
    pub(super) fn from_engine(code: &'static str, error: &wasmtime::Error) -> Self {
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        Self::new(code, causes.join(": ").replace('\n', " "))
    }
}
