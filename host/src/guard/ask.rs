//! The question that comes before every operation.

use rustix::io::Errno;

use super::fault::{Fault, Refusal};
use super::state::{CallState, Directory};
use crate::bindings::filesystem::ErrorCode;
use crate::errno;
use crate::error::{CallError, code};
use crate::paths::{self, Use};
use crate::policy::{Consent, Operation};
use crate::roots::{Rights, RootIndex};
use crate::transaction::is_temporary_name;

/// An operation that was asked for: what, and where as the guest said it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) operation: Operation,
    pub(crate) base: Directory,
    /// Path relative to `base`, as given.
    pub(crate) path: String,
    rename: Option<OtherEnd>,
}

/// The other end of a rename: a refusal names both, whichever end it is about.
#[derive(Clone, Debug)]
enum OtherEnd {
    From(RootIndex, String),
    To(RootIndex, String),
}

impl Asked {
    /// Names where a rename goes.
    pub(crate) fn with_target(mut self, base: &Directory, path: &str) -> Self {
        self.rename = Some(OtherEnd::To(base.root, base.spell(path)));
        self
    }

    /// Names where a rename comes from.
    pub(crate) fn with_source(mut self, base: &Directory, path: &str) -> Self {
        self.rename = Some(OtherEnd::From(base.root, base.spell(path)));
        self
    }

    pub(crate) fn of(operation: Operation, base: &Directory, path: String) -> Self {
        Self {
            operation,
            base: base.clone(),
            path,
            rename: None,
        }
    }

    /// The guard says no.
    pub(crate) fn refuse(&self, wasi: ErrorCode, error: CallError) -> Fault {
        let here = (self.base.root, self.base.spell(&self.path));
        let ((root, path), to) = match self.rename.clone() {
            None => (here, None),
            Some(OtherEnd::To(root, path)) => (here, Some((root, path))),
            Some(OtherEnd::From(root, path)) => ((root, path), Some(here)),
        };
        Fault::Refused(Box::new(Refusal {
            wasi,
            error,
            operation: self.operation,
            root: Some(root),
            path,
            to,
        }))
    }

    /// The operating system says no. Its word for leaving the directory, and for a link
    /// where none may be followed, is the guard's refusal: the guard asked it to look.
    pub(crate) fn errno(&self, errno: Errno) -> Fault {
        match errno {
            Errno::XDEV | Errno::LOOP => {
                self.refuse(errno::wasi_code(errno), errno::explain(errno))
            }
            other => Fault::errno(other),
        }
    }

    /// What an errno means where the object was looked at a moment before.
    pub(crate) fn errno_of_verified(&self, errno: Errno) -> Fault {
        match errno {
            Errno::LOOP | Errno::NOENT | Errno::NOTDIR | Errno::ISDIR => self.swapped(),
            other => self.errno(other),
        }
    }

    pub(crate) fn not_granted(&self, what: &str, hint: &str) -> Fault {
        let error = CallError::new(code::NOT_GRANTED, what).hint_of(hint);
        self.refuse(ErrorCode::NotPermitted, error)
    }

    /// Something that is neither a file nor a directory.
    pub(crate) fn special(&self) -> Fault {
        let error = CallError::new(
            code::NOT_A_FILE,
            "the path is a pipe, a socket or a device, which is never opened",
        )
        .reason_of("special")
        .hint_of("name a regular file");
        self.refuse(ErrorCode::Unsupported, error)
    }

    pub(crate) fn symlink(&self) -> Fault {
        self.errno(Errno::LOOP)
    }

    /// Another process put something else there.
    pub(crate) fn swapped(&self) -> Fault {
        let error = CallError::new(
            code::CONFLICT,
            "the object was exchanged while it was being opened",
        )
        .reason_of("changed")
        .hint_of("try again");
        self.refuse(ErrorCode::Busy, error)
    }

    pub(crate) fn pending(&self) -> Fault {
        let error = CallError::new(
            code::CONFLICT,
            "the path depends on a change that this call has not committed yet",
        )
        .reason_of("pending")
        .hint_of("make the changes in separate calls");
        self.refuse(ErrorCode::Busy, error)
    }
}

impl CallState {
    /// Asks whether the operation may be tried at all: in time, by a path that may be
    /// used, below a root with the right, and within what the tool declared.
    pub(crate) fn ask(
        &self,
        operation: Operation,
        base: &Directory,
        path: String,
        usage: Use,
    ) -> Result<Asked, Fault> {
        self.ask_about(Asked::of(operation, base, path), usage)
    }

    /// The same for a question that says more than a path.
    pub(crate) fn ask_about(&self, asked: Asked, usage: Use) -> Result<Asked, Fault> {
        self.check_deadline()?;
        let base = &asked.base;
        let at_root = base.path.is_empty();
        paths::check(&asked.path, self.shared.policy.paths, usage, at_root)
            .map_err(|error| asked.refuse(path_code(&error), error))?;
        paths::check_length(base.path.len() + asked.path.len())
            .map_err(|error| asked.refuse(path_code(&error), error))?;
        if asked.path.split('/').any(is_temporary_name) {
            return Err(asked.refuse(ErrorCode::Invalid, paths::reserved_name()));
        }
        self.permit(&asked)?;
        self.judge_text(&asked)?;
        Ok(asked)
    }

    /// The part of the question that does not depend on the path.
    pub(crate) fn permit(&self, asked: &Asked) -> Result<(), Fault> {
        let needed = match asked.operation {
            Operation::Open | Operation::Read | Operation::List | Operation::Stat => Rights::Read,
            _ => Rights::Write,
        };
        if !self.may(asked.base.root, needed) {
            let (what, hint) = match needed {
                Rights::Read => (
                    "the directory is granted for writing, not for reading",
                    "ask the operator to grant it with `--read` as well",
                ),
                Rights::Write => (
                    "the directory is granted for reading, not for writing",
                    "write below the directory that is granted for writing",
                ),
            };
            let not_declared = self.shared.component.not_declared(needed);
            return Err(asked.not_granted(what, not_declared.unwrap_or(hint)));
        }
        if self
            .ceiling
            .is_none_or(|declared| asked.operation.risk() > declared)
        {
            return Err(asked.not_granted(
                "the tool does more than it declared",
                "do not use this tool for it; its author has to declare what it does",
            ));
        }
        self.consent(asked)
    }

    /// What the policy refuses without looking at the object.
    fn consent(&self, asked: &Asked) -> Result<(), Fault> {
        let deletes = matches!(asked.operation, Operation::Delete | Operation::Rename);
        if deletes && self.shared.policy.delete == Consent::Deny {
            let error = CallError::new(code::DELETE_DENIED, "the policy does not allow deletions")
                .hint_of("leave the file where it is; the operator can allow this with `--delete ask` or `--delete allow`");
            return Err(asked.refuse(ErrorCode::NotPermitted, error));
        }
        Ok(())
    }

    /// Asks for leave to change what exists.
    pub(crate) fn consent_to_overwrite(&self, asked: &Asked) -> Result<(), Fault> {
        if self.shared.policy.overwrite != Consent::Deny {
            return Ok(());
        }
        let error = CallError::new(
            code::OVERWRITE_DENIED,
            "the file exists, and the policy does not allow it to be changed",
        )
        .hint_of("write under another name; the operator can allow this with `--overwrite ask` or `--overwrite allow`");
        Err(asked.refuse(ErrorCode::NotPermitted, error))
    }
}

/// The WASI code nearest to a refusal of path text.
fn path_code(error: &CallError) -> ErrorCode {
    match error.reason() {
        Some("absolute" | "unc" | "home" | "traversal" | "root" | "windows-drive") => {
            ErrorCode::NotPermitted
        }
        Some("too-long") => ErrorCode::NameTooLong,
        _ => ErrorCode::Invalid,
    }
}
