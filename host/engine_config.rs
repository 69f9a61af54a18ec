//! The engine settings that compiled code depends on.
//!
//! The build script compiles the component ahead of time and the library runs the result, so
//! both take their settings from here: an engine with other settings refuses the artefact.
//! How instances are allocated does not reach the code and is the library's choice.

use wasmtime::{Config, WasmBacktraceDetails};

/// Returns the settings for compiling a tool component and for running it.
///
/// The defaults are: wasm as compilers emit it for 32-bit memories, `simd128` included;
/// proposals beyond that off; code that stops at an epoch; no native unwind tables, symbols or
/// address map. The CPU is the caller's choice: an engine without a target compiles for the
/// CPU it runs on, and loads code that was compiled for a lesser one.
pub(crate) fn engine_config() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        // Less to compile is less to get wrong. Threads, garbage collection and exceptions are
        // left out of the `wasmtime` crate by its features. Multiple memories stay: wasmtime's
        // own code between the parts of a composed component uses them, and it panics without.
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false)
        // A guest that computes for ever is stopped by the deadline's epoch.
        .epoch_interruption(true)
        // Threads that compile would be started before the process is confined, and stay.
        .parallel_compilation(false)
        // These serve debuggers and profilers only. Traps are caught and backtraces name their
        // functions without them, and the artefact is a sixth smaller.
        .native_unwind_info(false)
        .generate_address_map(false)
        .debug_symbols(false)
        // By default an environment variable decides, and with it whether the artefact loads.
        .wasm_backtrace_details(WasmBacktraceDetails::Disable);
    config
}
