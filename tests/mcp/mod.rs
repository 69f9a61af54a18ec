//! `rootbound mcp` as clients see it, line by line and request by request.

mod approvals;
mod cancelling;
mod client;
mod ending;
mod garbage;
mod http;
mod listing;
mod load;
mod results;
