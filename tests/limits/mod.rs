//! Each limit at one below, at it, and one above, through the tools and by raw guests.
//!
//! | limit | by tools | by a raw guest |
//! |---|---|---|
//! | `max_read_bytes`, `max_call_read_bytes` | `bytes` | `raw`, `tests/hostile` |
//! | `max_write_bytes` | `bytes` | `raw`, `tests/hostile` |
//! | `max_output_bytes` | `bytes`, `lines` | `raw`, `tests/hostile` |
//! | `max_entries` | `listing` | `raw` |
//! | `max_depth` | `depth` | `raw` |
//! | `max_handles` | `resources` | `raw`, `tests/hostile` |
//! | `max_memory` | `resources` | `raw`, `tests/hostile` |
//! | `timeout_ms` | `resources` | `tests/hostile`; its edge in `host/src/guard/state.rs` |
//! | `max_session_write_bytes`, `max_session_files` | `quotas` | `raw` |
//! | `max_calls_per_second` | `quotas` | its edge in `host/src/quotas.rs` |
//!
//! `joined` holds that each has its field, key, option and error; `unallocated`, that none is
//! reached by making room first; `zero`, what none at all means for each.

mod bytes;
mod depth;
mod joined;
mod lines;
mod listing;
mod quotas;
mod raw;
mod resources;
mod unallocated;
mod zero;
