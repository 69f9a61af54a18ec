//! Many components side by side.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use rootbound::{
    ApprovalRequest, CallOptions, CallWatch, Decision, HostError, Tenant, ToolComponent, ToolHost,
    code,
};
use serde_json::json;

use super::guest;
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
fn another_name_takes_no_call_that_may_be_meant_for_another_component() {
    let (host, fixture) = (ToolHost::default(), Fixture::new());
    fixture.input("notes.md", "hello");
    let other = || ToolComponent::from_bytes(&with_listing(b'u')).unwrap();
    host.load("other", other()).unwrap();
    host.load("one", files()).unwrap();
    let (tenant, _recorded) = tenant(&host, &fixture);
    let code_of = |tool| tenant.call(tool, json!({})).unwrap_err();
    assert_eq!(code_of("other_name").code(), code::TRAPPED);
    let read = json!({"path": "notes.md"});
    assert!(tenant.call("read_file", &read).is_ok());
    host.load("two", files()).unwrap();
    let known = |tool, known| {
        let error = code_of(tool);
        assert_eq!(error.code(), code::UNKNOWN_TOOL, "{error}");
        assert_eq!(error.details()["known"], known, "{error}");
    };
    known("read_file", json!(["one__read_file", "two__read_file"]));
    host.load("third", other()).unwrap();
    known("other_name", json!(["other__trap", "third__trap"]));
    assert_eq!(code_of("third__other_name").code(), code::TRAPPED);
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

/// What a component can do in a call of its own, and what comes of it. A slow machine may be out
/// of time before the component is where it wants to be.
const HARM: [(&str, &str, &str); 8] = [
    ("trap", "{}", "trapped"),
    ("recurse_for_ever", "{}", "trapped"),
    ("loop_for_ever", "{}", "timeout"),
    ("grow_memory", "{}", "limit-exceeded"),
    (
        "answer_more_than_allowed",
        r#"{"bytes":100000000}"#,
        "limit-exceeded",
    ),
    ("answer_what_is_not_text", "{}", "trapped"),
    ("forge_a_receipt", "{}", "io"),
    ("forge_a_dry_run", "{}", "io"),
];

#[test]
fn what_one_component_does_harms_only_its_call() {
    let (host, fixture) = (ToolHost::default(), Fixture::new());
    fixture.input("notes.md", "hello");
    host.load("files", files()).unwrap();
    host.load("bad", hostile()).unwrap();
    let recorded = fixture.session_with(|builder| builder.timeout(Duration::from_secs(2)));
    let tenant = host.tenant(recorded.session.clone());
    thread::scope(|scope| {
        for (tool, arguments, code) in HARM {
            let tenant = tenant.clone();
            scope.spawn(move || {
                let error = tenant.call(tool, arguments).unwrap_err();
                assert!([code, "timeout"].contains(&error.code()), "{tool}: {error}");
            });
        }
        for _ in 0..20 {
            let read = tenant.call("read_file", json!({"path": "notes.md"}));
            assert_eq!(read.unwrap().text(), Some("hello"));
        }
    });
}

/// More calls that never end than there are places for calls.
#[test]
fn a_component_in_which_calls_never_end_leaves_places_for_others() {
    const CALLS: usize = 60;
    let (host, fixture) = (ToolHost::default(), Fixture::new());
    fixture.input("notes.md", "hello");
    host.load("files", files()).unwrap();
    host.load("bad", guest::load_with_everything()).unwrap();
    let with_timeout = |timeout| {
        let recorded = fixture.session_with(|builder| builder.timeout(timeout));
        host.tenant(recorded.session.clone())
    };
    let patient = with_timeout(Duration::from_secs(600));
    let brief = with_timeout(Duration::from_millis(200));
    let (mine, _recorded) = tenant(&host, &fixture);
    let watches: Vec<Arc<CallWatch>> = (0..CALLS).map(|_| Arc::default()).collect();
    thread::scope(|scope| {
        for watch in &watches {
            let (patient, watch) = (patient.clone(), Some(Arc::clone(watch)));
            scope.spawn(move || {
                let options = CallOptions {
                    watch,
                    ..CallOptions::default()
                };
                patient.call_with("wait_for_ever", "{}", options)
            });
        }
        // As long as the component has a place for another call, not all of them are there.
        while brief.call("say_nothing", "{}").is_ok() {}
        let read = mine.call("read_file", json!({"path": "notes.md"}));
        for watch in &watches {
            watch.cancel();
        }
        assert_eq!(read.unwrap().text(), Some("hello"));
    });
    assert!(mine.call("say_nothing", "{}").is_ok());
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
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                host.load("other", hostile()).unwrap();
                assert!(host.tools().iter().any(|tool| tool.component == "other"));
                assert!(host.unload("other"));
            }
        });
        for _ in 0..50 {
            host.replace("files", files()).unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(host.unload("files") && !host.unload("files"));
    let gone = tenant.call("read_file", "{}").unwrap_err();
    assert_eq!(gone.code(), code::UNKNOWN_TOOL);
}

/// A call that waits for its approver, while the component is replaced or taken away.
#[test]
fn a_call_ends_with_the_component_that_it_began_with() {
    for is_replaced in [true, false] {
        let (host, fixture) = (ToolHost::default(), Fixture::new());
        fixture.work("old.md", "old");
        host.load("files", files()).unwrap();
        let (asks, asked) = mpsc::channel();
        let (answers, answered) = mpsc::channel::<()>();
        let (asks, answered) = (Mutex::new(asks), Mutex::new(answered));
        let recorded = fixture.session_with(|builder| {
            builder.approver(move |request: &ApprovalRequest| {
                asks.lock().unwrap().send(()).unwrap();
                answered.lock().unwrap().recv().unwrap();
                Decision::approve_once(&request.principal)
            })
        });
        let tenant = host.tenant(recorded.session.clone());
        thread::scope(|scope| {
            let call = scope.spawn(|| tenant.call("delete_file", json!({"path": "old.md"})));
            asked.recv().unwrap();
            match is_replaced {
                true => host.replace("files", hostile()).unwrap(),
                false => assert!(host.unload("files")),
            }
            let gone = tenant.call("delete_file", json!({"path": "old.md"}));
            assert!(gone.is_err(), "no component has such a tool any more");
            answers.send(()).unwrap();
            let output = call.join().unwrap().unwrap();
            assert_eq!(output.fields()["deleted"], true);
        });
        assert!(!fixture.workspace().join("old.md").exists());
    }
}

#[test]
fn who_closes_a_tenant_closes_no_other_and_the_host_closes_its_own_sessions() {
    let (host, its) = (ToolHost::default(), Fixture::new());
    its.input("its", "its");
    host.load_session("files", its.session().session).unwrap();
    let (mine, theirs) = (Fixture::new(), Fixture::new());
    let (one, _recorded) = tenant(&host, &mine);
    let (other, _recorded) = tenant(&host, &theirs);
    let read = json!({"path": "its"});
    assert!(one.call("read_file", &read).is_ok());
    one.close().unwrap();
    assert_eq!(
        one.call("read_file", &read).unwrap_err().code(),
        code::CLOSED
    );
    assert!(other.call("read_file", &read).is_ok());
    host.close().unwrap();
    let closed = other.call("read_file", &read).unwrap_err();
    assert_eq!(closed.code(), code::CLOSED);
}

/// One component, two tenants: what one may, has used up or has done is nothing to the other.
#[test]
fn a_component_takes_nothing_from_one_tenant_to_another() {
    let host = ToolHost::default();
    host.load("files", files()).unwrap();
    let (here, there) = (Fixture::new(), Fixture::new());
    here.work("old.md", "old");
    there.work("old.md", "old");
    let limits = rootbound::Limits {
        max_session_files: Some(1),
        ..rootbound::Limits::default()
    };
    let may = here.session_with(|builder| {
        let by = |request: &ApprovalRequest| Decision::approve_once(&request.principal);
        builder.limits(limits.clone()).approver(by)
    });
    let may_not = there.session_with(|builder| builder.limits(limits.clone()));
    let mine = host.tenant(may.session.clone());
    let theirs = host.tenant(may_not.session.clone());

    let delete = json!({"path": "old.md"});
    assert!(mine.call("delete_file", &delete).is_ok());
    let refused = theirs.call("delete_file", &delete).unwrap_err();
    assert_eq!(refused.code(), code::APPROVAL_REQUIRED);

    let write = |tenant: &Tenant, path: &str| {
        tenant.call("write_file", json!({"path": path, "content": "x"}))
    };
    assert!(write(&mine, "a").is_ok());
    assert_eq!(write(&mine, "b").unwrap_err().code(), code::LIMIT_EXCEEDED);
    assert!(write(&theirs, "a").is_ok(), "its own quota is unused");

    let logs = [may, may_not].map(|recorded| recorded.lines().join("\n"));
    let names = [&mine, &theirs].map(|tenant| tenant.session().id().to_owned());
    for (log, other) in [(&logs[0], &names[1]), (&logs[1], &names[0])] {
        assert!(!log.contains(other.as_str()), "{log}");
    }
    assert!(!logs[1].contains("\"approved\""), "{}", logs[1]);
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

/// Components that run in sessions of their own count together where these share quotas, and what
/// one session says of itself holds besides.
#[test]
fn sessions_that_share_quotas_count_together() {
    let (host, fixture) = (ToolHost::default(), Fixture::new());
    let most = |files| rootbound::Limits {
        max_session_files: Some(files),
        ..rootbound::Limits::default()
    };
    let quotas = rootbound::Quotas::new(&most(3));
    let narrow = fixture.session_with(|builder| builder.quotas(&quotas).limits(most(1)));
    let wide = fixture.session_with(|builder| builder.quotas(&quotas));
    host.load_session("narrow", narrow.session.clone()).unwrap();
    host.load_session("wide", wide.session.clone()).unwrap();
    let tenant = host.tenant(wide.session.clone());
    let write = |tenant: &Tenant, tool: &str, path: &str| {
        let written = tenant.call(tool, json!({"path": path, "content": "x"}));
        written
            .map(drop)
            .map_err(|error| error.details()["value"].clone())
    };
    for (tenant, name) in [(&tenant, "a"), (&tenant.apart("someone else"), "b")] {
        let path = |number: u32| format!("{name}{number}");
        assert_eq!(write(tenant, "narrow__write_file", &path(1)), Ok(()));
        assert_eq!(write(tenant, "narrow__write_file", &path(2)), Err(json!(1)));
        assert_eq!(write(tenant, "wide__write_file", &path(3)), Ok(()));
        assert_eq!(write(tenant, "wide__write_file", &path(4)), Ok(()));
        assert_eq!(write(tenant, "wide__write_file", &path(5)), Err(json!(3)));
    }
}
