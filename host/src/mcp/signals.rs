//! The signals that end the server: all of them let changes that commit end, and close the log.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGINT, and SIGHUP of a terminal that was closed.
pub(super) struct Signals {
    terminated: Signal,
    interrupted: Signal,
    /// Absent where whoever started the program has it ignored, as `nohup` does.
    hung_up: Option<Signal>,
}

impl Signals {
    pub(super) fn new(heed_hang_up: bool) -> io::Result<Self> {
        let hung_up = heed_hang_up.then(|| signal(SignalKind::hangup()));
        Ok(Self {
            terminated: signal(SignalKind::terminate())?,
            interrupted: signal(SignalKind::interrupt())?,
            hung_up: hung_up.transpose()?,
        })
    }

    /// Waits for one of them.
    pub(super) async fn ended(&mut self) {
        tokio::select! {
            _ = self.terminated.recv() => {}
            _ = self.interrupted.recv() => {}
            () = next(&mut self.hung_up) => {}
        }
    }
}

async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether SIGHUP is not ignored; receiving it would end that. To be asked before the kernel
/// closes `/proc`.
#[expect(
    clippy::disallowed_methods,
    reason = "what the process was started with stands in a file of the kernel alone"
)]
pub(super) fn heeds_hang_up() -> bool {
    let status = rustix::fs::open(
        "/proc/self/status",
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    );
    let Ok(status) = status else { return true };
    let mut text = [0; 8 << 10];
    let length = rustix::io::read(&status, &mut text).unwrap_or(0);
    ignored_in(&String::from_utf8_lossy(&text[..length]))
        .is_none_or(|mask| mask & (1 << (SignalKind::hangup().as_raw_value() - 1)) == 0)
}

/// The mask of ignored signals (proc_pid_status(5)).
fn ignored_in(status: &str) -> Option<u64> {
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}
