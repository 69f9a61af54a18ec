//! The promises, one folder each. `README.md` says which folder keeps which.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    missing_docs,
    unreachable_pub,
    reason = "tests set up real directories and stop at the first surprise"
)]

mod support;

mod approvals;
mod audit;
mod cli;
mod components;
mod confinement;
mod durability;
mod embedding;
mod hostile;
mod kernel;
mod limits;
mod mcp;
mod office;
mod policy;
mod properties;
mod races;
mod readme;
mod tools;
mod transactions;
