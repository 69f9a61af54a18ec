//! Generated from `wit/`: WASI's files and streams, and the `provider` export.
#![allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    clippy::all,
    reason = "generated; calls across the component boundary pass raw pointers"
)]

wit_bindgen::generate!({
    path: "wit",
    world: "tool-component",
    generate_all,
    pub_export_macro: true,
    export_macro_name: "export_component",
    default_bindings_module: "rootbound_tool::bindings",
});
