//! A wish for more memory than a component can address.
//!
//! The host answers a wish for more than it allows with `limit-exceeded`. One for more than
//! there can be never gets to it: the standard library panics, which would be answered as a
//! fault of the tool.

use std::arch::wasm32::memory_grow;
use std::panic::{set_hook, take_hook};

/// All pages of 64 KiB that 32 bits can address.
const EVERYTHING: usize = 1 << 16;

/// From now on, asks the host for what a panicking allocation wanted, so that the limit on
/// memory answers. It is not granted: some of all memory is in use.
pub(crate) fn ask_for_what_cannot_be_had() {
    let others = take_hook();
    set_hook(Box::new(move |panic| {
        if panic.payload_as_str() == Some("capacity overflow") {
            memory_grow::<0>(EVERYTHING);
        }
        others(panic);
    }));
}
