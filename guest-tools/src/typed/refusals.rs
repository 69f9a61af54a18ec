//! Errors for hosts that give no reasons.

use super::wit;
use crate::files::{ErrorCode, last_refused};
use crate::tool::Error;

/// The error as the interface has it. `path` is what the call was about.
pub(super) fn told(error: Error, path: &str) -> wit::Error {
    match error {
        Error::Tool(failure) => wit::Error {
            code: failure.code.to_owned(),
            message: failure.message,
            hint: failure.hint,
        },
        Error::Host => of_host(last_refused().unwrap_or(ErrorCode::Io), path),
    }
}

fn of_host(code: ErrorCode, path: &str) -> wit::Error {
    let (code, what, hint) = words(code);
    wit::Error {
        code: code.to_owned(),
        message: format!("`{path}`: {what}"),
        hint: hint.to_owned(),
    }
}

/// A code of ours, what it means, and what to do.
fn words(code: ErrorCode) -> (&'static str, &'static str, &'static str) {
    match code {
        ErrorCode::NoEntry => (
            "not-found",
            "there is nothing of that name",
            "list the directory to see what is there",
        ),
        ErrorCode::Exist => ("exists", "it exists already", "choose another name"),
        ErrorCode::IsDirectory => ("not-a-file", "it is a directory", "name a file in it"),
        ErrorCode::NotDirectory => (
            "not-a-directory",
            "it, or what it lies in, is not a directory",
            "list the directories above it",
        ),
        ErrorCode::NotEmpty => (
            "not-empty",
            "the directory has entries",
            "delete them first",
        ),
        ErrorCode::Access | ErrorCode::NotPermitted => (
            "permission-denied",
            "the host does not permit it",
            "only what lies below a mapped directory can be reached",
        ),
        ErrorCode::Loop
        | ErrorCode::NameTooLong
        | ErrorCode::Invalid
        | ErrorCode::IllegalByteSequence => (
            "invalid-path",
            "the host takes no such path",
            "give a relative path without links that lead round in circles",
        ),
        ErrorCode::InsufficientSpace | ErrorCode::Quota | ErrorCode::FileTooLarge => {
            ("no-space", "the host has no room for it", "write less")
        }
        ErrorCode::ReadOnly => ("read-only", "the file system takes no changes", ""),
        _ => (
            "io",
            "the host could not do it",
            "try again, or ask the user",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Failure;

    #[test]
    fn a_refusal_of_the_host_has_the_code_of_its_wasi_error() {
        for (code, name) in [
            (ErrorCode::NoEntry, "not-found"),
            (ErrorCode::NotPermitted, "permission-denied"),
            (ErrorCode::Quota, "no-space"),
            (ErrorCode::Busy, "io"),
        ] {
            let error = told(code.into(), "a/b");
            assert_eq!(error.code, name);
            assert!(error.message.starts_with("`a/b`: "), "{}", error.message);
        }
    }

    #[test]
    fn what_the_tool_found_is_told_as_it_is() {
        let failure = Failure::new("exists", "`a` exists already").hint("choose another");
        let error = told(failure.into(), "b");
        assert_eq!(
            (&*error.code, &*error.message),
            ("exists", "`a` exists already")
        );
        assert_eq!(error.hint, "choose another");
    }
}
