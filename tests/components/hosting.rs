//! Many components side by side.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rootbound::{HostError, Tenant, ToolComponent, ToolHost, code};
use serde_json::json;

use crate::hostile::component::with_listing;
use crate::support::{Fixture, Recorded};

fn files() -> ToolComponent {
    ToolComponent::file_tools().unwrap()
}

fn hostile() -> ToolComponent {
    crate::hostile::component::compiled()
}

fn tenant(host: &ToolHost, fixture: &Fixture) -> (Tenant, Recorded) {
    let recorded = fixture.session();
    (host.tenant(recorded.session.clone()), recorded)
}

#[test]
fn names_that_clash_are_prefixed_and_each_can_be_called_by_its_whole_name() {
    let (host, fixture) = (ToolHost::default(), Fixture::new());
    fixture.input("notes.md", "hello");
    host.load("one", files()).unwrap();
    let (tenant, _recorded) = tenant(&host, &fixture);
    let read = json!({"path": "notes.md"});
    assert!(tenant.call("read_file", &read).is_ok());
    assert!(tenant.call("one__read_file", &read).is_ok());
    host.load("two", files()).unwrap();
    let names: Vec<String> = (host.tools().iter())
        .map(|tool| tool.definition.name.clone())
        .collect();
    assert!(names.contains(&"one__read_file".to_owned()), "{names:?}");
    assert!(names.contains(&"two__read_file".to_owned()), "{names:?}");
    assert!(!names.contains(&"read_file".to_owned()), "{names:?}");
    assert!(tenant.call("two__read_file", &read).is_ok());
    let ambiguous = tenant.call("read_file", &read).unwrap_err();
    assert_eq!(ambiguous.code(), code::UNKNOWN_TOOL);
    assert_eq!(
        ambiguous.details()["known"],
        json!(["one__read_file", "two__read_file"])
    );
}

#[test]
fn a_component_is_not_hosted_under_another_s_name_or_with_a_list_that_lies() {
    let host = ToolHost::default();
    host.load("one", files()).unwrap();
    assert_eq!(
        host.load("one", files()),
        Err(HostError::Taken("one".into()))
    );
    assert_eq!(
        host.load("a__b", files()),
        Err(HostError::Name("a__b".into()))
    );
    let liar = ToolComponent::from_bytes(&with_listing(b'd')).unwrap();
    assert!(matches!(
        host.load("liar", liar.clone()),
        Err(HostError::Tools { .. })
    ));
    assert!(matches!(
        host.replace("one", liar),
        Err(HostError::Tools { .. })
    ));
    assert_eq!(
        host.replace("two", files()),
        Err(HostError::Unknown("two".into()))
    );
    assert_eq!(host.components().len(), 1);
}

#[test]
fn what_one_component_does_harms_only_its_call() {
    let (host, fixture) = (ToolHost::default(), Fixture::new());
    fixture.input("notes.md", "hello");
    host.load("files", files()).unwrap();
    host.load("bad", hostile()).unwrap();
    let recorded = fixture.session_with(|builder| builder.timeout(Duration::from_millis(500)));
    let tenant = host.tenant(recorded.session.clone());
    thread::scope(|scope| {
        for tool in ["trap", "compute_for_ever", "trap", "grow_memory"] {
            let tenant = tenant.clone();
            scope.spawn(move || {
                let _ = tenant.call(tool, "{}");
            });
        }
        for _ in 0..20 {
            let read = tenant.call("read_file", json!({"path": "notes.md"}));
            assert_eq!(read.unwrap().text(), Some("hello"));
        }
    });
}

#[test]
fn a_component_is_replaced_while_calls_run() {
    let (host, fixture) = (ToolHost::default(), Fixture::new());
    fixture.input("notes.md", "hello");
    host.load("files", files()).unwrap();
    let (tenant, _recorded) = tenant(&host, &fixture);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let read = tenant.call("read_file", json!({"path": "notes.md"}));
                    assert_eq!(read.unwrap().text(), Some("hello"));
                }
            });
        }
        for _ in 0..50 {
            host.replace("files", files()).unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(host.unload("files") && !host.unload("files"));
    let gone = tenant.call("read_file", "{}").unwrap_err();
    assert_eq!(gone.code(), code::UNKNOWN_TOOL);
}

#[test]
fn tenants_have_their_own_grants_and_nothing_of_each_other() {
    let host = ToolHost::default();
    host.load("files", files()).unwrap();
    let (here, there) = (Fixture::new(), Fixture::new());
    here.input("mine", "mine");
    let (mine, _one) = tenant(&host, &here);
    let (other, _two) = tenant(&host, &there);
    assert!(mine.call("read_file", json!({"path": "mine"})).is_ok());
    let error = other
        .call("read_file", json!({"path": "mine"}))
        .unwrap_err();
    assert_eq!(error.code(), code::NOT_FOUND);
    assert_eq!(mine.apart("someone").principal(), "someone");
}

#[test]
fn a_component_with_a_session_of_its_own_has_that_one_s_grants() {
    let (host, mine, its) = (ToolHost::default(), Fixture::new(), Fixture::new());
    its.input("its", "its");
    host.load_session("files", its.session().session).unwrap();
    let (tenant, _recorded) = tenant(&host, &mine);
    let read = tenant.call("read_file", json!({"path": "its"})).unwrap();
    assert_eq!(read.text(), Some("its"));
}

#[test]
fn the_log_begins_anew_for_each_component_and_names_unknown_tools() {
    let (host, fixture) = (ToolHost::default(), Fixture::new());
    host.load("files", files()).unwrap();
    host.load("bad", hostile()).unwrap();
    let (tenant, recorded) = tenant(&host, &fixture);
    let _ = tenant.call("list_files", "{}");
    let _ = tenant.call("trap", "{}");
    let _ = tenant.call("no_such_tool", "{}");
    let components: Vec<_> = (recorded.entries_of("genesis").iter())
        .map(|entry| entry["component"].as_str().unwrap().to_owned())
        .collect();
    let (files, hostile) = (files(), hostile());
    let expected = [files.sha256(), files.sha256(), hostile.sha256()];
    assert_eq!(components, expected);
    let calls = recorded.entries_of("call");
    assert_eq!(calls[2]["code"], "unknown-tool");
    assert_eq!(calls[2]["tool"], "no_such_tool");
}

#[test]
fn quotas_hold_for_all_components_of_a_tenant_together() {
    let (host, fixture) = (ToolHost::default(), Fixture::new());
    host.load("one", files()).unwrap();
    host.load("two", files()).unwrap();
    let limits = rootbound::Limits {
        max_session_files: Some(1),
        ..rootbound::Limits::default()
    };
    let recorded = fixture.session_with(|builder| builder.limits(limits));
    let tenant = host.tenant(recorded.session.clone());
    let write = |tool: &str, path: &str| tenant.call(tool, json!({"path": path, "content": "x"}));
    assert!(write("one__write_file", "a").is_ok());
    let error = write("two__write_file", "b").unwrap_err();
    assert_eq!(error.details()["limit"], "max_session_files");
}

#[test]
fn who_closes_a_tenant_closes_its_calls() {
    let (host, fixture) = (ToolHost::default(), Fixture::new());
    host.load("files", files()).unwrap();
    let (tenant, _recorded) = tenant(&host, &fixture);
    tenant.close().unwrap();
    let error = tenant.call("list_files", "{}").unwrap_err();
    assert_eq!(error.code(), code::CLOSED);
}
