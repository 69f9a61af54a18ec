//! What the serving thread does before it waits: it makes ready for the next call, and looks a
//! little while whether the client goes on at once.
//!
//! A thread that waits is woken by another processor, and a processor that has nothing to do
//! takes its time to notice: under a virtual machine longer than a short call takes.

use std::hint;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rootbound::ToolComponent;

/// How long a client that was answered is expected to go on. A program that calls in a loop
/// does so within this time; a model does not, and nobody looks longer for it.
const EXPECTED: Duration = Duration::from_micros(100);
/// Turns between two looks at the input.
const TURNS: u32 = 32;

/// Shared by those who answer and the thread that waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Pause {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Whether there was an answer since the thread last waited.
    answered: AtomicBool,
    /// Whether it was to a call.
    called: AtomicBool,
    /// Threads that do work meanwhile, and tell the one that waits of it.
    at_work: AtomicUsize,
    components: Vec<ToolComponent>,
    /// Where the client's messages come from, where it is one alone.
    input: OnceLock<OwnedFd>,
}

/// Work that is done beside the serving of messages, while this lives.
#[derive(Debug)]
pub(super) struct AtWork(Arc<Shared>);

impl Pause {
    /// For a server that calls these components.
    pub(super) fn preparing(components: impl Iterator<Item = ToolComponent>) -> Self {
        Self {
            shared: Arc::new(Shared {
                components: components.collect(),
                ..Shared::default()
            }),
        }
    }

    /// The input of the one client.
    pub(super) fn looks_at(&self, input: OwnedFd) {
        let _ = self.shared.input.set(input);
    }

    /// A message was written, which may be the answer to a call.
    pub(super) fn has_answered(&self, a_call: bool) {
        if a_call {
            self.shared.called.store(true, Ordering::Relaxed);
        }
        self.shared.answered.store(true, Ordering::Relaxed);
    }

    pub(super) fn work(&self) -> AtWork {
        self.shared.at_work.fetch_add(1, Ordering::Relaxed);
        AtWork(Arc::clone(&self.shared))
    }

    /// To be called by the thread that serves, when it has nothing else to do.
    pub(super) fn before_waiting(&self) {
        let shared = &*self.shared;
        if shared.at_work.load(Ordering::Relaxed) > 0
            || !shared.answered.swap(false, Ordering::Relaxed)
        {
            return;
        }
        let until = Instant::now() + EXPECTED;
        if shared.called.swap(false, Ordering::Relaxed) {
            shared.components.iter().for_each(ToolComponent::prepare);
        }
        if let Some(input) = shared.input.get() {
            while !has_something(input) && Instant::now() < until {
                (0..TURNS).for_each(|_| hint::spin_loop());
            }
        }
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether there are bytes to read. Of an end the runtime tells.
fn has_something(input: &OwnedFd) -> bool {
    !matches!(rustix::io::ioctl_fionread(input), Ok(0))
}
