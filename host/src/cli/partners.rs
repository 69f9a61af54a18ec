//! Options that say something about another one, and mean nothing where that is not there.
//!
//! Nothing that an operator writes is passed over in silence: it may be what the session was
//! meant to be safe by.

use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;

/// An option, the one that it needs, and what is to be said without it.
pub(crate) struct Partner {
    pub(crate) id: &'static str,
    pub(crate) on: &'static str,
    pub(crate) why: &'static str,
    says_something: fn(&ArgMatches, &str) -> bool,
    is_there: fn(&ArgMatches) -> bool,
}

pub(crate) const PARTNERS: [Partner; 6] = [
    Partner {
        id: "remove_session_dir",
        on: "session_dir",
        why: "it is about the directory of `session_dir`, which is not given",
        says_something: is_on,
        is_there: |matches| matches.contains_id("session_dir"),
    },
    Partner {
        id: "audit_max_bytes",
        on: "audit",
        why: "the audit log is no file that could be put aside",
        says_something: is_given,
        is_there: logs_to_files,
    },
    Partner {
        id: "audit_max_age",
        on: "audit",
        why: "the audit log is no file that could be put aside",
        says_something: is_given,
        is_there: logs_to_files,
    },
    Partner {
        id: "audit_durability",
        on: "audit",
        why: "the audit log is no file that could be on the disk",
        says_something: is_full,
        is_there: logs_to_files,
    },
    Partner {
        id: "audit_arguments",
        on: "audit",
        why: "there is no audit log that could hold them",
        says_something: is_full,
        is_there: |matches| !logs_to(matches, "none"),
    },
    Partner {
        id: "approval_timeout_ms",
        on: "approve",
        why: "the client is not asked where `approve` names somebody else",
        says_something: |matches, id| {
            let given = matches.try_contains_id(id).unwrap_or(false);
            given && matches.value_source(id) == Some(ValueSource::CommandLine)
        },
        is_there: |matches| !matches.contains_id("approve"),
    },
];

impl Partner {
    /// Whether the option is given, and the one that it needs is not there.
    pub(crate) fn is_alone(&self, matches: &ArgMatches) -> bool {
        (self.says_something)(matches, self.id) && !(self.is_there)(matches)
    }
}

fn is_on(matches: &ArgMatches, id: &str) -> bool {
    matches.get_flag(id)
}

fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.contains_id(id)
}

fn is_full(matches: &ArgMatches, id: &str) -> bool {
    let mut values = matches.get_raw(id).into_iter().flatten();
    values.any(|value| value == "full")
}

fn logs_to_files(matches: &ArgMatches) -> bool {
    !logs_to(matches, "stderr") && !logs_to(matches, "none")
}

fn logs_to(matches: &ArgMatches, word: &str) -> bool {
    let target = matches.get_one::<std::path::PathBuf>("audit");
    target.is_some_and(|target| target == Path::new(word))
}
