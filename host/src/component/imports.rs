//! What a component may import: files and streams always, some more where the operator grants
//! it by name, everything else never.

use std::fmt;

use wasmparser::names::{ComponentName, ComponentNameKind};

use super::fault::ComponentError;

/// The interface by which the host calls tools.
pub(crate) const PROVIDER: &str = "rootbound:tools/provider@0.1.0";
/// The one generation of WASI that is linked.
const WASI_GENERATION: (u64, u64) = (0, 2);
/// Interfaces that are given to every component: the guard stands behind them.
const FILES: [&str; 5] = [
    "wasi:filesystem/types",
    "wasi:filesystem/preopens",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
];

/// What a component may be given besides files, each only where it is granted by name.
///
/// None of them reaches anything outside the process: they exist because the toolchains of some
/// languages import them whether a tool needs them or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Import {
    /// Environment variables and arguments, of which there are none.
    Environment,
    /// Standard streams: the input is empty, what is written is kept for the operator.
    Stdio,
    /// The time of day, elapsed time, and waiting.
    Clocks,
    /// Random numbers.
    Random,
    /// Ending itself, which ends the call.
    Exit,
    /// Stand-ins for sockets and HTTP that refuse every call.
    DenyNetwork,
}

impl Import {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::Environment,
        Self::Stdio,
        Self::Clocks,
        Self::Random,
        Self::Exit,
        Self::DenyNetwork,
    ];

    /// The name by which it is granted.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Stdio => "stdio",
            Self::Clocks => "clocks",
            Self::Random => "random",
            Self::Exit => "exit",
            Self::DenyNetwork => "deny-network",
        }
    }

    /// The import of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|import| import.as_str() == name)
    }

    /// What a component can do with it.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Environment => "environment variables and arguments, always empty",
            Self::Stdio => "an empty standard input, and output that goes to the operator's log",
            Self::Clocks => "the time, and waiting within the call's deadline",
            Self::Random => "random numbers",
            Self::Exit => "ending itself, which ends the call as failed",
            Self::DenyNetwork => "sockets and HTTP that refuse every call",
        }
    }

    /// The interfaces that come with it, or the packages where the name ends in `/`.
    fn interfaces(self) -> &'static [&'static str] {
        match self {
            Self::Environment => &["wasi:cli/environment"],
            Self::Stdio => &[
                "wasi:cli/stdin",
                "wasi:cli/stdout",
                "wasi:cli/stderr",
                "wasi:cli/terminal-input",
                "wasi:cli/terminal-output",
                "wasi:cli/terminal-stdin",
                "wasi:cli/terminal-stdout",
                "wasi:cli/terminal-stderr",
            ],
            Self::Clocks => &["wasi:clocks/monotonic-clock", "wasi:clocks/wall-clock"],
            Self::Random => &[
                "wasi:random/random",
                "wasi:random/insecure",
                "wasi:random/insecure-seed",
            ],
            Self::Exit => &["wasi:cli/exit"],
            Self::DenyNetwork => &["wasi:sockets/", "wasi:http/"],
        }
    }

    fn gives(self, interface: &str) -> bool {
        self.interfaces()
            .iter()
            .any(|given| match given.ends_with('/') {
                true => interface.starts_with(given),
                false => interface == *given,
            })
    }
}

impl fmt::Display for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who gets an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Every component: the host judges each call.
    Files,
    /// Every component: it brings types and nothing to call.
    Types,
    /// Components that are granted this.
    Optional(Import),
    /// No component.
    Never,
}

impl Standing {
    /// The name as `rootbound inspect` writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Types => "types",
            Self::Optional(import) => import.as_str(),
            Self::Never => "never",
        }
    }
}

/// What an interface that a component imports has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Items {
    pub(super) functions: usize,
    pub(super) resources: usize,
}

/// Who gets an interface that is imported under `name`.
pub(super) fn standing(name: &str, items: Items) -> Result<Standing, ComponentError> {
    let parsed = ComponentName::new(name, 0).map_err(ComponentError::malformed)?;
    let ComponentNameKind::Interface(interface) = parsed.kind() else {
        return Ok(Standing::Never);
    };
    if interface.namespace().as_str() != "wasi" {
        return Ok(Standing::Never);
    }
    let version = interface.version(None).ok().flatten();
    let fits = version.is_some_and(|version| {
        (version.major, version.minor) == WASI_GENERATION && version.pre.is_empty()
    });
    if !fits {
        return Err(ComponentError::wasi_version(name));
    }
    let package = interface.package();
    let plain = format!(
        "wasi:{}/{}",
        package.as_str(),
        interface.interface().as_str()
    );
    if FILES.contains(&plain.as_str()) {
        return Ok(Standing::Files);
    }
    // The clocks have no resources of their own.
    let only_types = items.resources == 0 || package.as_str() == "clocks";
    if items.functions == 0 && only_types {
        return Ok(Standing::Types);
    }
    let optional = Import::ALL.into_iter().find(|import| import.gives(&plain));
    Ok(optional.map_or(Standing::Never, Standing::Optional))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_gets_an_interface_depends_on_its_name_and_version() {
        let called = Items {
            functions: 1,
            resources: 0,
        };
        for (name, expected) in [
            ("wasi:filesystem/types@0.2.0", Ok(Standing::Files)),
            ("wasi:io/poll@0.2.99", Ok(Standing::Files)),
            (
                "wasi:cli/stdout@0.2.3",
                Ok(Standing::Optional(Import::Stdio)),
            ),
            (
                "wasi:http/outgoing-handler@0.2.12",
                Ok(Standing::Optional(Import::DenyNetwork)),
            ),
            ("wasi:keyvalue/store@0.2.0", Ok(Standing::Never)),
            ("wasi:cli/stdout-and-more@0.2.0", Ok(Standing::Never)),
            ("rootbound:tools/approvals@0.1.0", Ok(Standing::Never)),
            ("print", Ok(Standing::Never)),
            ("wasi:filesystem/types@0.3.0", Err("wasi-version")),
            (
                "wasi:cli/environment@0.2.0-rc-2023-11-10",
                Err("wasi-version"),
            ),
            ("wasi:cli/environment", Err("wasi-version")),
        ] {
            let standing = standing(name, called).map_err(|error| error.code());
            assert_eq!(standing, expected, "{name}");
        }
    }

    #[test]
    fn types_alone_are_harmless() {
        let types = standing("wasi:clocks/wall-clock@0.2.12", Items::default());
        assert_eq!(types, Ok(Standing::Types));
        let resource = Items {
            functions: 0,
            resources: 1,
        };
        let terminal = standing("wasi:cli/terminal-input@0.2.12", resource);
        assert_eq!(terminal, Ok(Standing::Optional(Import::Stdio)));
    }
}
