//! What a component of others is called with is a JSON object, whoever asks.

use crate::hostile::component;
use crate::support::cli::{Cli, Run};
use crate::support::{Fixture, Recorded};
use rootbound::Session;

use super::guest;

const NO_OBJECTS: [&str; 10] = [
    "", "not json", "[]", "[{}]", "\"{}\"", "7", "null", "{", "{} {}", "{'a': 1}",
];

#[test]
fn arguments_that_are_no_json_object_do_not_reach_it() {
    let cli = Cli::new();
    let file = guest::file(cli.state(), "tool.wasm", guest::plain());
    let call = |arguments: &str| {
        let mut command = cli.command(["call", "say_deleted", arguments, "--component"]);
        Run::of(command.arg(&file))
    };
    assert_eq!(call("{}").status, Some(0), "{:?}", call("{}"));
    for arguments in NO_OBJECTS {
        let refusal = call(arguments).refusal();
        assert_eq!(refusal["code"], "invalid-arguments", "{arguments}");
        let hint = refusal["hint"].as_str().unwrap();
        assert!(hint.contains("one JSON object"), "{arguments}: {hint}");
    }
}

#[test]
fn nor_through_the_library_and_each_call_is_on_record() {
    let component = component::compiled();
    let recorded = Recorded::build(Session::builder().component(component.clone()));
    recorded.session.call("say_deleted", "{}").unwrap();
    let before = component.instantiations();
    for arguments in NO_OBJECTS
        .iter()
        .map(|text| text.as_bytes())
        .chain([&b"{\"\xff\":1}"[..]])
    {
        let error = recorded.session.call("say_deleted", arguments.to_vec());
        assert_eq!(error.unwrap_err().code(), "invalid-arguments");
    }
    assert_eq!(recorded.entries_of("call").len(), NO_OBJECTS.len() + 2);
    assert_eq!(component.instantiations(), before);
}

#[test]
fn a_tool_that_it_does_not_list_is_unknown_before_it_runs() {
    let component = component::compiled();
    let recorded = Recorded::build(Session::builder().component(component.clone()));
    let before = component.instantiations();
    for arguments in ["{}", "not json"] {
        let error = recorded
            .session
            .call("act_without_being_listed", arguments)
            .unwrap_err();
        assert_eq!(error.code(), "unknown-tool", "{arguments}");
        assert!(!error.details()["known"].as_array().unwrap().is_empty());
    }
    assert_eq!(component.instantiations(), before);
    assert_eq!(recorded.entries_of("call").len(), 2);
}

/// What the host cannot hold, another reader might: then the tool would act, and the version that
/// its caller expects would be nobody's.
#[test]
fn arguments_that_bind_the_host_and_that_it_cannot_read_are_refused() {
    let fixture = Fixture::new();
    fixture.work("a", "a");
    let builder = Session::builder()
        .component(component::compiled())
        .read_root(fixture.workspace())
        .write_root(fixture.workspace());
    let recorded = Recorded::build(builder);
    for odd in [r#""\ud800""#, "1e999"] {
        let version = "0".repeat(32);
        let arguments = format!(r#"{{"path":"a","expected_version":"{version}","odd":{odd}}}"#);
        let error = recorded.session.call("say_deleted", arguments.as_str());
        assert_eq!(error.unwrap_err().code(), "invalid-arguments", "{odd}");
    }
}
