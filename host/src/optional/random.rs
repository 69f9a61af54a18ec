//! `wasi:random`: the kernel's random numbers, whichever interface they are asked of.

use super::bindings::random::{insecure, insecure_seed, random};
use crate::error::CallError;
use crate::guard::CallState;
use crate::random as kernel;

/// Bytes at one time: what a seed or a key takes is a ten-thousandth.
const MAX_BYTES: u64 = 1 << 20;

impl CallState {
    fn random_bytes(&mut self, wanted: u64) -> wasmtime::Result<Vec<u8>> {
        if wanted > MAX_BYTES {
            return Err(self.stop(CallError::limit("max_random_bytes", MAX_BYTES, wanted)));
        }
        let mut bytes = vec![0; wanted as usize];
        kernel::fill(&mut bytes);
        Ok(bytes)
    }
}

fn number() -> u64 {
    u64::from_ne_bytes(kernel::bytes())
}

impl random::Host for CallState {
    fn get_random_bytes(&mut self, wanted: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(wanted)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        Ok(number())
    }
}

impl insecure::Host for CallState {
    fn get_insecure_random_bytes(&mut self, wanted: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(wanted)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        Ok(number())
    }
}

impl insecure_seed::Host for CallState {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((number(), number()))
    }
}
