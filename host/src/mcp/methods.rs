//! The methods that this server answers, and what is said where their parameters are wrong.

use rmcp::model::{ErrorCode, ErrorData};

/// The SDK takes a request of one of them whose parameters are wrong for a method that it does
/// not know.
const METHODS: [&str; 5] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/call",
    "tools/list",
];

/// Most letters of a name that an answer repeats.
const LONGEST_NAME: usize = 100;

/// The error that answers a request which the SDK could not read, where it is one of ours.
pub(super) fn misread(method: &str) -> Option<ErrorData> {
    METHODS.contains(&method).then(|| {
        let why = format!("the parameters of `{method}` are not what it takes");
        ErrorData::invalid_params(why, None)
    })
}

/// The error that answers a method which is not one of ours: by its name, or the beginning of
/// a long one.
pub(super) fn unknown(method: &str) -> ErrorData {
    let name: String = method.chars().take(LONGEST_NAME).collect();
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, name, None)
}
