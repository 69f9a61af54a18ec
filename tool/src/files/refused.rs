//! What WASI refused last.
//!
//! Rootbound's host keeps its own record of a refusal and answers with that, so the tools say
//! no more than that there was one. Other hosts keep none; for them this is the record.

use super::ErrorCode;
use crate::Error;
use std::cell::Cell;

thread_local! {
    static LAST: Cell<Option<ErrorCode>> = const { Cell::new(None) };
}

/// The error of a WASI call to which the tool has nothing to add.
pub(super) fn refused(code: ErrorCode) -> Error {
    LAST.set(Some(code));
    Error::Host
}

/// What the last [`Error::Host`] stands for, told once: for a component that answers hosts which
/// keep no record.
pub fn last_refused() -> Option<ErrorCode> {
    LAST.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_once() {
        assert_eq!(refused(ErrorCode::Access), Error::Host);
        assert_eq!(last_refused(), Some(ErrorCode::Access));
        assert_eq!(last_refused(), None);
    }
}
