//! `wasi:clocks`: the time of day, the time since the call began, and waiting for it to pass.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use wasmtime::component::Resource;

use super::bindings::clocks::{monotonic_clock, wall_clock};
use crate::guard::{CallState, Pollable};

/// How finely time is told. A guest that measures more finely learns from it what the
/// processor's caches hold of others.
const RESOLUTION: Duration = Duration::from_micros(100);

impl CallState {
    fn pollable_at(&mut self, at: Option<Instant>) -> wasmtime::Result<Resource<Pollable>> {
        // A moment that the clock cannot express is later than any deadline.
        let far = || Instant::now() + self.shared.policy.limits.timeout * 2;
        let at = at.unwrap_or_else(far);
        self.pollable(Pollable::At(at))
    }
}

impl monotonic_clock::Host for CallState {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(coarse(self.began.elapsed()).as_nanos() as u64)
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(RESOLUTION.as_nanos() as u64)
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<Pollable>> {
        self.pollable_at(self.began.checked_add(Duration::from_nanos(when)))
    }

    fn subscribe_duration(&mut self, when: u64) -> wasmtime::Result<Resource<Pollable>> {
        self.pollable_at(Instant::now().checked_add(Duration::from_nanos(when)))
    }
}

impl wall_clock::Host for CallState {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(datetime(coarse(now.unwrap_or_default())))
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(datetime(RESOLUTION))
    }
}

fn datetime(time: Duration) -> wall_clock::Datetime {
    wall_clock::Datetime {
        seconds: time.as_secs(),
        nanoseconds: time.subsec_nanos(),
    }
}

fn coarse(time: Duration) -> Duration {
    let tick = RESOLUTION.as_nanos();
    Duration::from_nanos((time.as_nanos() / tick * tick) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_told_in_steps() {
        let fine = Duration::new(3, 123_456_789);
        assert_eq!(coarse(fine), Duration::new(3, 123_400_000));
        assert_eq!(coarse(Duration::ZERO), Duration::ZERO);
    }
}
