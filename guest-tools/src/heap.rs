//! The heap, of which the first part is there from the start: `scripts/build-guest` says how
//! much. Rust's own heap is the same one, but asks for all of its memory by growing.
//!
//! To the host, a memory that grows is a system call, and so is taking the growth back before
//! the next call; together a tenth of what a short call takes.

use dlmalloc::GlobalDlmalloc;

#[global_allocator]
static HEAP: GlobalDlmalloc = GlobalDlmalloc;
