//! Generated from `wit/`: the WASI imports and the `provider` export.
#![allow(
    unsafe_code,
    clippy::all,
    reason = "generated; calls across the component boundary pass raw pointers"
)]

wit_bindgen::generate!({
    path: "../../wit",
    world: "tool-component",
    generate_all,
});

export!(Component with_types_in self);

use crate::provider::Component;
