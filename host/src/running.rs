//! Running a component: one fresh instance, within its limits, and what stopped it.

use std::io;
use std::time::Duration;

use rustix::io::Errno;
use wasmtime::{Engine, ResourceLimiter, Store, UpdateDeadline};

use crate::audit::AuditLog;
use crate::bindings::provider;
use crate::clock;
use crate::component::{
    Definition, MAX_MEMORIES, MAX_PARTS, MAX_TABLE_ELEMENTS, ToolComponent, engine,
};
use crate::errno;
use crate::error::{CallError, code};
use crate::gate::{self, Owner};
use crate::guard::{CallState, timed_out};
use crate::policy::Policy;
use crate::shared::Shared;
use crate::spare;

/// How long a component may take to list its tools.
pub(crate) const LIST_PATIENCE: Duration = Duration::from_secs(1);
/// Room for what is copied besides payloads: names, paths, error texts.
const COPY_OVERHEAD: u64 = 1 << 20;

/// What the component answered to a call.
pub(crate) type Answer = Result<provider::Output, provider::ToolError>;

/// Instantiates the component and calls one tool. The state comes back in any case; an
/// error means that the component stopped abnormally or was stopped.
pub(crate) fn call_tool(
    component: &ToolComponent,
    state: CallState,
    tool: &str,
    arguments: &str,
) -> (CallState, Result<Answer, CallError>) {
    run(component, state, |tools, store| {
        tools
            .rootbound_tools_provider()
            .call_call_tool(store, tool, arguments)
    })
}

/// Asks a component for its tools, with no grants.
pub(crate) fn list_tools(component: &ToolComponent) -> Result<Vec<Definition>, CallError> {
    let mut policy = Policy::default();
    policy.limits.timeout = LIST_PATIENCE;
    let shared = Shared::without_grants(component.clone(), policy, AuditLog::none());
    let state = CallState::new(shared, String::new(), "", None);
    let (_, listed) = run(component, state, |tools, store| {
        tools.rootbound_tools_provider().call_list_tools(store)
    });
    Ok(listed?.into_iter().map(Into::into).collect())
}

fn run<T>(
    component: &ToolComponent,
    mut state: CallState,
    call: impl FnOnce(&crate::bindings::ToolComponent, &mut Store<CallState>) -> wasmtime::Result<T>,
) -> (CallState, Result<T, CallError>) {
    let engine = match engine() {
        Ok(engine) => engine,
        Err(error) => return (state, Err(trapped(&error))),
    };
    let owner = Owner {
        component: component.address(),
        caller: state.shared.quotas.address(),
    };
    let Some(_place) = gate::enter(owner, state.shared.policy.limits.timeout) else {
        let limit = state.shared.policy.limits.timeout;
        let error = timed_out(limit, limit);
        return (state, Err(error));
    };
    state.start_clock();
    if let Some(error) = state.end_from_outside() {
        return (state, Err(error));
    }
    component.count_instance();
    let _ticking = clock::start(engine);
    let copied = copied_bytes(&state.shared.policy.limits);
    let (mut store, ready) = match spare::take(component, &state) {
        Some(mut ready) => {
            ready.give(state);
            (ready.store, Some(ready.tools))
        }
        None => (new_store(engine, state), None),
    };
    store.set_hostcall_fuel(copied);
    store.set_epoch_deadline(1);
    let tools = ready.map_or_else(|| component.pre().instantiate(&mut store), Ok);
    let result = tools.and_then(|tools| call(&tools, &mut store));
    let mut state = spare::leave(component, store);
    let result = result.map_err(|error| why_it_stopped(&mut state, &error));
    (state, result)
}

/// A place for an instance, which stops it where it takes too much or too long.
pub(crate) fn new_store(engine: &Engine, state: CallState) -> Store<CallState> {
    let mut store = Store::new(engine, state);
    store.limiter(|state| state);
    store.epoch_deadline_callback(|mut store| {
        let state = store.data_mut();
        match state.end_from_outside() {
            None => Ok(UpdateDeadline::Continue(1)),
            Some(error) => Err(state.stop(error)),
        }
    });
    store
}

/// What may be copied between guest and host in one crossing.
fn copied_bytes(limits: &crate::policy::Limits) -> usize {
    let payload = limits.max_output_bytes.max(limits.max_write_bytes);
    usize::try_from(payload.saturating_mul(2).saturating_add(COPY_OVERHEAD)).unwrap_or(usize::MAX)
}

fn why_it_stopped(state: &mut CallState, error: &wasmtime::Error) -> CallError {
    if let Some(stop) = state.stop.take() {
        return stop.0;
    }
    // wasmtime has no type for this error.
    if error
        .root_cause()
        .to_string()
        .contains("allocated for hostcalls")
    {
        let limit = state.shared.policy.limits.max_output_bytes;
        return CallError::limit("max_output_bytes", limit, limit + 1);
    }
    trapped(error)
}

fn trapped(error: &wasmtime::Error) -> CallError {
    // What the system did not give, such as memory for the instance, is not the component's
    // doing.
    let root_cause = error.root_cause();
    let by_system = root_cause
        .downcast_ref::<Errno>()
        .copied()
        .or_else(|| Errno::from_io_error(root_cause.downcast_ref::<io::Error>()?));
    if let Some(errno) = by_system {
        return errno::explain(errno);
    }
    let cause = match error.downcast_ref::<wasmtime::Trap>() {
        Some(trap) => trap.to_string(),
        None => error.root_cause().to_string(),
    };
    let cause = cause.lines().next().unwrap_or_default().to_owned();
    CallError::new(
        code::TRAPPED,
        format!("the component stopped abnormally: {cause}"),
    )
    .hint_of("nothing was changed; report this to the author of the tool")
}

impl ResourceLimiter for CallState {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let limit = self.shared.policy.limits.max_memory;
        // A component may have many memories; the limit is for all of them together.
        self.memory += (desired - current) as u64;
        if self.memory <= limit {
            return Ok(true);
        }
        Err(self.stop(CallError::limit("max_memory", limit, self.memory)))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.table_elements += desired - current;
        if self.table_elements <= MAX_TABLE_ELEMENTS {
            return Ok(true);
        }
        let limit = MAX_TABLE_ELEMENTS as u64;
        Err(self.stop(CallError::limit(
            "max_table_elements",
            limit,
            self.table_elements as u64,
        )))
    }

    /// The pool bounds the parts of a component by itself; an engine without one asks here.
    fn instances(&self) -> usize {
        MAX_PARTS as usize
    }

    fn tables(&self) -> usize {
        MAX_PARTS as usize
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES as usize
    }
}
