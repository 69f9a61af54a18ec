//! The methods that this server answers, and what is said where their parameters are wrong.

use rmcp::model::ErrorData;

/// The SDK takes a request of one of them whose parameters are wrong for a method that it does
/// not know.
const METHODS: [&str; 5] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/call",
    "tools/list",
];

/// The error that answers a request which the SDK could not read, where it is one of ours.
pub(super) fn misread(method: &str) -> Option<ErrorData> {
    METHODS.contains(&method).then(|| {
        let why = format!("the parameters of `{method}` are not what it takes");
        ErrorData::invalid_params(why, None)
    })
}
