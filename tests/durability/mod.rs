//! Whatever happens, each file is old or new, the answer and the log say which, and the next
//! start clears the rest. Of several writers exactly one wins, and nobody writes over what
//! they have not seen.
//!
//! The ordinary run takes a sample of the faults; `ROOTBOUND_FAULTS=all` and
//! `ROOTBOUND_KILLS=1000` take all of them.

mod desk;
mod disks;
mod faults;
mod journal;
mod kills;
mod power;
mod stale;
pub mod strace;
mod writers;
