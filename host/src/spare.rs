//! One instance of the file tools that is made before the call that runs in it, and one that is
//! taken down after the answer of the call that ran in it.
//!
//! Both take a fifth of a short call, and a front-end that waits for its client has the time. An
//! instance still serves one call: it is made when nobody has called yet, with no grants and
//! without running any of its code, and gets the call's state only then.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use wasmtime::Store;

use crate::audit::AuditLog;
use crate::bindings;
use crate::component::{ToolComponent, engine};
use crate::guard::CallState;
use crate::policy::Policy;
use crate::running::new_store;
use crate::shared::Shared;

/// An instance that nobody has called.
pub(crate) struct Ready {
    pub(crate) store: Store<CallState>,
    pub(crate) tools: bindings::ToolComponent,
}

impl Ready {
    /// Puts the state of the call in that runs in it.
    pub(crate) fn give(&mut self, mut state: CallState) {
        let of_nobody = self.store.data_mut();
        state.memory = of_nobody.memory;
        state.table_elements = of_nobody.table_elements;
        *of_nobody = state;
    }
}

/// What there is of one component in a process; none before a front-end prepares.
struct Spare {
    /// Whose instances these are.
    component: Option<ToolComponent>,
    ready: Option<Ready>,
    /// Called, with its state taken out.
    spent: Option<Store<CallState>>,
}

static SPARE: Mutex<Spare> = Mutex::new(Spare {
    component: None,
    ready: None,
    spent: None,
});

fn spare() -> MutexGuard<'static, Spare> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Spare {
    fn is_of(&self, component: &ToolComponent) -> bool {
        let of = self.component.as_ref();
        of.is_some_and(|of| of.address() == component.address())
    }
}

/// Takes down what the last call left, and makes an instance for the next. Only for the file
/// tools, of which it is known that they do nothing before they are called.
pub(crate) fn prepare(component: &ToolComponent) {
    if !component.is_built_in() {
        return;
    }
    let mut there = spare();
    if there.component.is_none() {
        there.component = Some(component.clone());
    }
    let is_wanted = there.is_of(component) && there.ready.is_none();
    let spent = there.spent.take();
    drop(there);
    drop(spent);
    if !is_wanted {
        return;
    }
    let mut store = match engine() {
        Ok(engine) => new_store(engine, nobody(component)),
        Err(_) => return,
    };
    // Whatever keeps it from being made, the call meets it as well and can say so.
    if let Ok(tools) = component.pre().instantiate(&mut store) {
        spare().ready = Some(Ready { store, tools });
    }
}

/// An instance for a call, if there is one and the call may have one so large.
pub(crate) fn take(component: &ToolComponent, state: &CallState) -> Option<Ready> {
    let max_memory = state.shared.policy.limits.max_memory;
    let mut there = spare();
    if !there.is_of(component) {
        return None;
    }
    (there.ready).take_if(|ready| ready.store.data().memory <= max_memory)
}

/// Gives the state of a call back, and leaves its instance to be taken down where somebody will.
pub(crate) fn leave(component: &ToolComponent, mut store: Store<CallState>) -> CallState {
    let mut there = spare();
    if !there.is_of(component) || there.spent.is_some() {
        drop(there);
        return store.into_data();
    }
    let state = mem::replace(store.data_mut(), nobody(component));
    there.spent = Some(store);
    state
}

/// The state of an instance that belongs to no call.
fn nobody(component: &ToolComponent) -> CallState {
    static NOBODY: OnceLock<Arc<Shared>> = OnceLock::new();
    let without_grants =
        || Shared::without_grants(component.clone(), Policy::default(), AuditLog::none());
    let shared = NOBODY.get_or_init(without_grants);
    CallState::new(Arc::clone(shared), String::new(), "", None)
}
