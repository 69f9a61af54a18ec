//! `wasi:cli/exit`: a component that ends itself has answered nothing, so its call has failed.

use super::bindings::cli::exit;
use crate::error::{CallError, code};
use crate::guard::CallState;

impl CallState {
    fn ended_itself(&mut self) -> wasmtime::Error {
        let error = CallError::new(
            code::TRAPPED,
            "the component ended itself without an answer",
        )
        .reason_of("exit")
        .hint_of("nothing was changed; report this to the author of the tool");
        self.stop(error)
    }
}

impl exit::Host for CallState {
    fn exit(&mut self, _: Result<(), ()>) -> wasmtime::Result<()> {
        Err(self.ended_itself())
    }

    fn exit_with_code(&mut self, _: u8) -> wasmtime::Result<()> {
        Err(self.ended_itself())
    }
}
