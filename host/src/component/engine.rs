//! The engine in which all components run, and what one of them may take of it.

use std::sync::OnceLock;

use wasmtime::{Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::embedded::CodeMemory;
use crate::engine_config;

/// Instances that can run at one time in a process; a further call waits.
pub(crate) const MAX_INSTANCES: u32 = 64;
/// Instances beside those that run: one that waits for its call, and one that is done with it.
const SPARE_INSTANCES: u32 = 2;
/// Core instances of one component: one of `wit-component`'s has three, an interpreter that is
/// linked of its libraries some twenty.
pub(crate) const MAX_PARTS: u32 = 48;
/// Memories of one component.
pub(crate) const MAX_MEMORIES: u32 = 2;
/// Elements of a guest's tables (function pointers; the ordinary guest has hundreds, an
/// interpreter ten thousand and more).
pub(crate) const MAX_TABLE_ELEMENTS: usize = 100_000;
/// Address space of one instance's memory; the policy's ceiling is far below (DESIGN: 256
/// MiB by default).
const MAX_MEMORY: usize = 4 << 30;
/// Address space that a memory of the frugal engine gets more than it asks for, so that it
/// does not move each time it grows.
const GROWTH: u64 = 1 << 20;
/// Memory that a slot keeps between calls, so that a fresh instance does not fault it in
/// again. Measured: 24 µs for a fresh instance with it, 32 µs without.
const KEPT_RESIDENT: usize = 1 << 20;

/// The engine of the process. Compiled code of all components lives in it.
pub(crate) fn engine() -> wasmtime::Result<&'static Engine> {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    if let Some(engine) = ENGINE.get() {
        return Ok(engine);
    }
    let engine = pooled_engine().or_else(|_| frugal_engine())?;
    Ok(ENGINE.get_or_init(|| engine))
}

/// An engine whose pool reserves address space for every instance that can run: half a
/// terabyte, of which nothing is memory before it is used.
fn pooled_engine() -> wasmtime::Result<Engine> {
    let mut pool = PoolingAllocationConfig::new();
    let instances = MAX_INSTANCES + SPARE_INSTANCES;
    // What one component may take is what there is for each, so that none takes all.
    pool.total_component_instances(instances)
        .total_core_instances(instances * MAX_PARTS)
        .max_core_instances_per_component(MAX_PARTS)
        .total_memories(instances * MAX_MEMORIES)
        .max_memories_per_component(MAX_MEMORIES)
        .total_tables(instances * MAX_PARTS)
        .max_tables_per_component(MAX_PARTS)
        .table_elements(MAX_TABLE_ELEMENTS)
        .max_memory_size(MAX_MEMORY)
        .linear_memory_keep_resident(KEPT_RESIDENT)
        .table_keep_resident(KEPT_RESIDENT)
        .pagemap_scan(Enabled::Auto);
    let mut config = engine_config::engine_config();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .with_custom_code_memory(CodeMemory::shared());
    Engine::new(&config)
}

/// An engine for processes that may not reserve so much (`ulimit -v`, valgrind): instances
/// are mapped when they start and memories move when they grow. Code for it checks every
/// access, so what was compiled ahead does not fit and is compiled anew, and calls are slower.
fn frugal_engine() -> wasmtime::Result<Engine> {
    let mut config = engine_config::engine_config();
    config
        .allocation_strategy(InstanceAllocationStrategy::OnDemand)
        .with_custom_code_memory(CodeMemory::shared())
        .memory_reservation(0)
        .memory_reservation_for_growth(GROWTH)
        .memory_guard_size(0)
        .memory_may_move(true);
    Engine::new(&config)
}
