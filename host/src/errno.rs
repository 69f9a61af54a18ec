//! What an errno means to a guest and to the agent.

use rustix::io::Errno;

use crate::bindings::filesystem::ErrorCode;
use crate::error::{CallError, code};

/// The WASI code of an errno.
pub(crate) fn wasi_code(errno: Errno) -> ErrorCode {
    match errno {
        Errno::NOENT => ErrorCode::NoEntry,
        Errno::EXIST => ErrorCode::Exist,
        Errno::XDEV | Errno::PERM => ErrorCode::NotPermitted,
        Errno::ACCESS => ErrorCode::Access,
        Errno::LOOP => ErrorCode::Loop,
        Errno::NOTDIR => ErrorCode::NotDirectory,
        Errno::ISDIR => ErrorCode::IsDirectory,
        Errno::NOTEMPTY => ErrorCode::NotEmpty,
        Errno::NAMETOOLONG => ErrorCode::NameTooLong,
        Errno::NOSPC => ErrorCode::InsufficientSpace,
        Errno::DQUOT => ErrorCode::Quota,
        Errno::ROFS => ErrorCode::ReadOnly,
        Errno::FBIG => ErrorCode::FileTooLarge,
        Errno::INVAL => ErrorCode::Invalid,
        Errno::BUSY | Errno::AGAIN => ErrorCode::Busy,
        Errno::NOMEM => ErrorCode::InsufficientMemory,
        Errno::TXTBSY => ErrorCode::TextFileBusy,
        _ => ErrorCode::Io,
    }
}

/// A rename that would have to move bytes.
pub(crate) fn across_file_systems() -> CallError {
    CallError::new(
        code::IO,
        "the target is on another file system, where nothing can be renamed to",
    )
    .reason_of("cross-device")
    .hint_of("copy the file there and delete the original")
}

/// What an errno means of a change that was verified a moment before, and that walks
/// nowhere: what is missing or of another kind now was touched by someone else.
pub(crate) fn explain_change(errno: Errno) -> CallError {
    match errno {
        Errno::XDEV => across_file_systems(),
        Errno::NOENT | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP => changed(),
        other => explain(other),
    }
}

/// What it means that something cannot be found again: that someone moved it, unless the
/// system says otherwise.
pub(crate) fn changed_or(errno: Errno) -> CallError {
    match errno {
        Errno::NOENT
        | Errno::NOTDIR
        | Errno::LOOP
        | Errno::XDEV
        | Errno::ACCESS
        | Errno::PERM
        | Errno::AGAIN => changed(),
        other => explain(other),
    }
}

/// The object is not what the call was about.
pub(crate) fn changed() -> CallError {
    CallError::new(
        code::CONFLICT,
        "the object was changed or replaced by someone else while the call ran",
    )
    .reason_of("changed")
    .hint_of("read it again and decide anew")
}

/// The answer of an errno. Names no path: the caller knows what it asked for.
pub(crate) fn explain(errno: Errno) -> CallError {
    // A walk that others disturbed as often as it was tried.
    if errno == Errno::AGAIN {
        return changed();
    }
    let (code, message, hint) = match errno {
        Errno::NOENT => (
            code::NOT_FOUND,
            "nothing has this name",
            "check the spelling; `list_files` shows what is there, where the directory may be read",
        ),
        Errno::EXIST => (
            code::EXISTS,
            "something has this name already",
            "choose another name",
        ),
        Errno::XDEV => (
            code::ESCAPE,
            "a link or `..` in the path leads out of its directory",
            "only what lies below the granted directory can be reached",
        ),
        Errno::ACCESS | Errno::PERM => (
            code::PERMISSION_DENIED,
            "the operating system does not permit this",
            "the operator has to change the permissions",
        ),
        Errno::LOOP => (
            code::NOT_A_FILE,
            "the path is a symbolic link that may not be followed, or links in a circle",
            "name the file itself",
        ),
        Errno::NOTDIR => (
            code::NOT_A_DIRECTORY,
            "something on the path is not a directory",
            "check the spelling; `list_files` shows what is there, where the directory may be read",
        ),
        Errno::ISDIR => (
            code::NOT_A_FILE,
            "the path is a directory",
            "name a file inside it; `list_files` shows what is there, where the directory may be read",
        ),
        Errno::NOTEMPTY => (
            code::NOT_EMPTY,
            "the directory is not empty",
            "give `recursive: true` to delete it with what it holds, or choose another name to move to",
        ),
        Errno::NAMETOOLONG => (
            code::INVALID_PATH,
            "a name is longer than the file system takes",
            "use shorter names",
        ),
        Errno::NOSPC | Errno::DQUOT => (
            code::NO_SPACE,
            "the disk is full or a quota is used up",
            "the operator has to make room",
        ),
        Errno::FBIG => (
            code::NO_SPACE,
            "the file would be larger than the system allows",
            "write less",
        ),
        Errno::ROFS => (
            code::READ_ONLY,
            "the file system is mounted read-only",
            "the operator has to grant another directory for writing",
        ),
        _ => (
            code::IO,
            "the operating system reported an error",
            "try again; if it persists, the operator has to look at the disk",
        ),
    };
    let error = CallError::new(code, message).hint_of(hint);
    match errno {
        Errno::LOOP => error.reason_of("symlink"),
        Errno::NAMETOOLONG => error.reason_of("too-long"),
        _ => error,
    }
}
