//! Approvals that reach further than one call, because the approver said so.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::{Decision, Scope};
use crate::roots::RootIndex;

/// What was approved for the rest of the session.
#[derive(Debug, Default)]
pub(crate) struct Standing(Mutex<Approved>);

#[derive(Debug, Default)]
struct Approved {
    everything: bool,
    paths: HashSet<(RootIndex, String)>,
}

impl Standing {
    /// The decision that an earlier answer already made about all of these paths.
    pub(crate) fn covers(&self, paths: &[(RootIndex, String)]) -> Option<Decision> {
        let approved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if approved.everything {
            return Some(Decision::approve_once("earlier answer for the session"));
        }
        paths
            .iter()
            .all(|path| approved.paths.contains(path))
            .then(|| Decision::approve_once("earlier answer for the path"))
    }

    pub(crate) fn remember(&self, decision: &Decision, paths: Vec<(RootIndex, String)>) {
        let Decision::Approved { scope, .. } = decision else {
            return;
        };
        let mut approved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match scope {
            Scope::Call => {}
            Scope::Paths => approved.paths.extend(paths),
            Scope::Session => approved.everything = true,
        }
    }
}
