//! A log as a session would find it, which takes nothing: for who only wants to know.

use std::io;
use std::path::Path;

use super::file::{self, LOCK_PATIENCE};
use super::tail::VERIFIED;
use super::{AuditLog, AuditSink, Chain, Sink};
use crate::ambient;
use crate::error::CallError;
use crate::place::Place;

/// Stands where the lines would go.
struct Nowhere;

impl AuditSink for Nowhere {
    fn append(&self, _: &str) -> io::Result<()> {
        Err(io::Error::other("this session was not opened for calls"))
    }
}

impl AuditLog {
    /// What [`AuditLog::file`] would open or make.
    pub(crate) fn preview_of_file(path: &Path) -> Result<Self, CallError> {
        Self::looked_at(path).map_err(CallError::audit_unavailable)
    }

    fn looked_at(path: &Path) -> io::Result<Self> {
        let mut chain = Chain::new(Sink::Other(Box::new(Nowhere)));
        match file::look_at(path, LOCK_PATIENCE, VERIFIED) {
            Ok(tail) => chain.checkpoint = tail.checkpoint,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (directory, id) = ambient::open_ambient_directory(ambient::directory_of(path))?;
                Place::at(directory.into(), id).check_makeable()?;
            }
            Err(error) => return Err(error),
        }
        let mut log = Self::of(chain, "file");
        log.location = Some(path.to_owned());
        Ok(log)
    }

    /// What a new file below a state directory would be.
    pub(crate) fn preview_in_directory(state: Option<&Path>) -> Result<Self, CallError> {
        let directory = file::directory_in(state).and_then(|directory| {
            Place::of(&directory)?.check_makeable()?;
            Ok(directory)
        });
        let directory = directory.map_err(CallError::audit_unavailable)?;
        let mut log = Self::of(Chain::new(Sink::Other(Box::new(Nowhere))), "file");
        log.directory = Some(directory);
        Ok(log)
    }

    /// Refuses a log that a session with this key would not continue.
    pub(crate) fn check_signature(&self) -> Result<(), CallError> {
        self.locked(Chain::check_signature)
            .unwrap_or(Ok(()))
            .map_err(CallError::audit_unavailable)
    }
}
