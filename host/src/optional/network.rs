//! Stand-ins for `wasi:sockets` and `wasi:http` that refuse every call.
//!
//! They are made from the types that the component itself imports, so that they fit whatever
//! part and version of these packages a toolchain took. Behind them is nothing.

use wasmtime::StoreContextMut;
use wasmtime::component::types::{ComponentFunc, ComponentInstance, ComponentItem};
use wasmtime::component::{
    Component, Linker, LinkerInstance, Resource, ResourceAny, ResourceType, Type, Val,
};

use crate::bindings::filesystem::ErrorCode;
use crate::error::{CallError, code};
use crate::guard::CallState;
use crate::policy::Operation;

/// Packages that are stood in for.
const PACKAGES: [&str; 2] = ["wasi:sockets/", "wasi:http/"];
/// The cases of these packages' error types that say no, in the order of preference.
const NO: [&str; 4] = [
    "access-denied",
    "HTTP-request-denied",
    "not-supported",
    "unknown",
];

/// A network, a socket, a request or whatever else a component believes to hold.
#[derive(Debug)]
struct Nothing;

pub(super) fn add_to_linker(
    linker: &mut Linker<CallState>,
    component: &Component,
) -> wasmtime::Result<()> {
    let engine = component.engine().clone();
    let component = component.component_type();
    let instances = || {
        component
            .imports(&engine)
            .filter_map(|(name, item)| match item.ty {
                ComponentItem::ComponentInstance(instance) => Some((name, instance)),
                _ => None,
            })
    };
    let is_network = |name: &str| PACKAGES.iter().any(|package| name.starts_with(package));
    // Streams and pollables that a socket would have are those of the guard.
    let known: Vec<ResourceType> = instances()
        .filter(|(name, _)| !is_network(name))
        .flat_map(|(_, instance)| resources_of(&instance, &engine))
        .collect();
    for (name, instance) in instances().filter(|(name, _)| is_network(name)) {
        let mut linker = linker.instance(name)?;
        for (item_name, item) in instance.exports(&engine) {
            add_item(&mut linker, name, item_name, &item.ty, &known)?;
        }
    }
    Ok(())
}

fn resources_of(instance: &ComponentInstance, engine: &wasmtime::Engine) -> Vec<ResourceType> {
    instance
        .exports(engine)
        .filter_map(|(_, item)| match item.ty {
            ComponentItem::Resource(resource) => Some(resource),
            _ => None,
        })
        .collect()
}

fn add_item(
    linker: &mut LinkerInstance<'_, CallState>,
    interface: &str,
    name: &str,
    item: &ComponentItem,
    known: &[ResourceType],
) -> wasmtime::Result<()> {
    match item {
        ComponentItem::ComponentFunc(_) => {
            let called = format!("{interface}#{name}");
            linker.func_new(name, move |mut store, function, arguments, results| {
                for argument in arguments {
                    give_back(&mut store, argument)?;
                }
                refuse(store, &called, &function, results)
            })
        }
        ComponentItem::Resource(resource) if !known.contains(resource) => {
            let nothing = ResourceType::host::<Nothing>();
            linker.resource(name, nothing, |mut store, rep| {
                store
                    .data_mut()
                    .take_back(Resource::<Nothing>::new_own(rep))
            })
        }
        _ => Ok(()),
    }
}

/// Handles that a call brings along are to be dropped before it ends, borrowed ones too.
fn give_back(store: &mut StoreContextMut<'_, CallState>, value: &Val) -> wasmtime::Result<()> {
    match value {
        Val::Resource(handle) => handle.resource_drop(&mut *store),
        Val::List(values) | Val::Tuple(values) => give_back_all(store, values),
        Val::Record(fields) => fields
            .iter()
            .try_for_each(|(_, value)| give_back(store, value)),
        Val::Variant(_, Some(value))
        | Val::Option(Some(value))
        | Val::Result(Ok(Some(value)) | Err(Some(value))) => give_back(store, value),
        _ => Ok(()),
    }
}

fn give_back_all(
    store: &mut StoreContextMut<'_, CallState>,
    values: &[Val],
) -> wasmtime::Result<()> {
    values.iter().try_for_each(|value| give_back(store, value))
}

/// Records the refusal, and says no in the function's own words. Where it has none, the call
/// is over.
fn refuse(
    mut store: StoreContextMut<'_, CallState>,
    called: &str,
    function: &ComponentFunc,
    results: &mut [Val],
) -> wasmtime::Result<()> {
    for (result, kind) in results.iter_mut().zip(function.results()) {
        match answer(&mut store, &kind)? {
            Some(Answer::No(value)) => {
                say_no(&mut store, called)?;
                *result = value;
            }
            Some(Answer::Nothing(value)) => *result = value,
            None => return Err(end(&mut store, called)),
        }
    }
    match results.is_empty() {
        true => Err(end(&mut store, called)),
        false => Ok(()),
    }
}

enum Answer {
    /// An error of the function's own.
    No(Val),
    /// A handle behind which is nothing.
    Nothing(Val),
}

fn answer(
    store: &mut StoreContextMut<'_, CallState>,
    kind: &Type,
) -> wasmtime::Result<Option<Answer>> {
    Ok(match kind {
        Type::Result(result) => match result.err() {
            None => Some(Answer::No(Val::Result(Err(None)))),
            Some(error) => {
                let no = no_of(&error);
                no.map(|no| Answer::No(Val::Result(Err(Some(Box::new(no))))))
            }
        },
        // Such as the network itself, which programs take before they know that they need it.
        Type::Own(_) => {
            let handed = store.data_mut().hand_out(Nothing);
            let nothing = store.data_mut().or_stop(handed)?;
            let nothing = ResourceAny::try_from_resource(nothing, &mut *store)?;
            Some(Answer::Nothing(Val::Resource(nothing)))
        }
        Type::Option(_) => Some(Answer::Nothing(Val::Option(None))),
        _ => None,
    })
}

/// A value of an error type that says no.
fn no_of(kind: &Type) -> Option<Val> {
    match kind {
        Type::Enum(of) => {
            let named = |no: &&str| of.names().any(|name| name == *no);
            let no = NO.into_iter().find(named).or_else(|| of.names().next());
            no.map(|no| Val::Enum(no.to_owned()))
        }
        Type::Variant(of) => {
            let plain = |no: &&str| of.cases().any(|case| case.name == *no && case.ty.is_none());
            let no = NO.into_iter().find(plain)?;
            Some(Val::Variant(no.to_owned(), None))
        }
        _ => None,
    }
}

fn refusal(called: &str) -> CallError {
    let message = format!("the tool called `{called}`, and no tool is given a network");
    CallError::new(code::NOT_GRANTED, message)
        .reason_of("network")
        .hint_of("nothing grants it; do without the network")
}

fn say_no(store: &mut StoreContextMut<'_, CallState>, called: &str) -> wasmtime::Result<()> {
    let state = store.data_mut();
    let fault = state.refused(Operation::Other, ErrorCode::Access, refusal(called));
    state.settle(fault).map(|_| ())
}

fn end(store: &mut StoreContextMut<'_, CallState>, called: &str) -> wasmtime::Error {
    match say_no(store, called) {
        Ok(()) => store.data_mut().stop(refusal(called)),
        Err(error) => error,
    }
}
