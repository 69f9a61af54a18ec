//! `rootbound mcp` as clients see it, line by line and request by request.

mod approvals;
mod cancelling;
pub mod client;
mod components;
mod ending;
mod floods;
mod garbage;
pub mod http;
mod listing;
mod load;
mod results;
