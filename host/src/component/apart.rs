//! Work on a stranger's component: in a thread that may open nothing, and that is not waited for
//! without end.
//!
//! Compiling a component and asking it for its tools come before the program confines itself,
//! since only then is it known what it may reach. So the threads that do it are closed off by
//! themselves, as far as the kernel can.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::kernel;

/// Bytes of a stack: as much as the first thread of a process has, since compilers recurse.
const STACK: usize = 8 << 20;

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// It took too long. The thread goes on until it is done, and nobody hears of it.
    Late,
    /// It panicked, or no thread could be started.
    Failed,
}

/// Does the work apart from this thread, and waits for it.
pub(super) fn apart<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Lost> {
    let (sender, receiver) = mpsc::channel();
    let sealed = move || {
        // It is a second wall, for kernels that have it.
        let _ = kernel::seal_thread();
        // Nobody listens any more when it is late.
        let _ = sender.send(work());
    };
    thread::Builder::new()
        .name("rootbound-apart".to_owned())
        .stack_size(STACK)
        .spawn(sealed)
        .map_err(|_| Lost::Failed)?;
    receiver.recv_timeout(patience).map_err(|lost| match lost {
        RecvTimeoutError::Timeout => Lost::Late,
        RecvTimeoutError::Disconnected => Lost::Failed,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::ambient;

    const PATIENCE: Duration = Duration::from_secs(60);
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

    #[test]
    fn where_the_kernel_has_landlock_no_file_is_opened_apart() {
        let read = || ambient::read_file(Path::new(FILE)).is_ok();
        assert!(read(), "it is there");
        let (enforced, opened) = apart(PATIENCE, move || {
            let again = kernel::seal_thread().expect("rules that can be added");
            (again == kernel::KernelConfinement::Enforced, read())
        })
        .expect("a result");
        assert_eq!(opened, !enforced);
        assert!(read(), "this thread is as it was");
    }

    #[test]
    fn what_takes_too_long_or_panics_has_no_result() {
        let (let_go, gate) = mpsc::channel::<()>();
        let late = apart(Duration::from_millis(1), move || {
            let _ = gate.recv();
        });
        assert_eq!(late, Err(Lost::Late));
        drop(let_go);
        let failed: Result<(), Lost> = apart(PATIENCE, || panic!("as it has to"));
        assert_eq!(failed, Err(Lost::Failed));
    }
}
