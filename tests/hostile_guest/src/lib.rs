//! A component that attacks its host.
//!
//! Each attack is one file below `attacks/` and one tool of the component. It calls WASI raw,
//! as far as it gets, and answers what it took and what stopped it:
//! `{"gained": ["…"], "stopped": ["not-permitted"], "amount": 0}`. What must come of each
//! stands in the host's table, `tests/hostile/table/`.

mod attack;
mod attacks;
mod bindings;
mod listing;
mod provider;
mod spoils;
mod ways;
mod world;
