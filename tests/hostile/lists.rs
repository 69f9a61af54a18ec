//! Lists of tools that no front-end could show.

use std::time::{Duration, Instant};

use rootbound::{AuditLog, Session, StartError, ToolComponent};

use super::component;

/// The letter of the list in the guest's `listing.rs`, what it is, and words of the answer. What
/// takes long to make may be out of time on a slow machine.
const LISTS: &[(u8, &str, &[&str])] = &[
    (
        b'b',
        "a description of 100 MB",
        &["max_output_bytes", OUT_OF_TIME],
    ),
    (
        b'c',
        "a name with control characters",
        &["`line\\u{a}break"],
    ),
    (b'd', "two tools of one name", &["have the name `twin`"]),
    (b'e', "a schema that is not JSON", &[SCHEMA]),
    (b'f', "a schema that is a type union", &[SCHEMA]),
    (b'g', "a schema that is an array", &[SCHEMA]),
    (b'h', "no answer at all", &[OUT_OF_TIME]),
    (b'i', "a panic", &["stopped abnormally"]),
    (b'j', "a name of 65 characters", &["no name of a tool"]),
    (
        b'k',
        "100,000 tools",
        &["more than 1000 tools", "max_output_bytes", OUT_OF_TIME],
    ),
    (b'l', "a schema of 500,000 brackets", &[SCHEMA, OUT_OF_TIME]),
    (
        b'm',
        "path arguments of 5 MB",
        &["more than 1048576 bytes", OUT_OF_TIME],
    ),
    (b'n', "a name of no characters", &["`` is no name"]),
    (b'p', "a schema that refers to another", &[SCHEMA]),
    (b'r', "properties that are a list", &[SCHEMA]),
    (b's', "names that are a text", &[SCHEMA]),
    (
        b't',
        "a property of a result that is a number",
        &["the output schema of `schema` is not"],
    ),
];

const SCHEMA: &str = "the input schema of `schema` is not";
const OUT_OF_TIME: &str = "longer than 1000 ms";

#[test]
fn a_list_that_cannot_be_shown_is_refused_and_no_session_begins() {
    for (letter, what, words) in LISTS {
        let component = ToolComponent::from_bytes(&component::with_listing(*letter)).unwrap();
        let started = Instant::now();
        let error = component.definitions().unwrap_err();
        assert_eq!(error.code(), "tools-invalid", "{what}");
        let said = words.iter().any(|words| error.message().contains(words));
        assert!(said, "{what}: {error}");
        assert!(error.message().len() < 1000, "{what}: {error}");
        assert!(started.elapsed() < Duration::from_secs(10), "{what}");
        let session = Session::builder().component(component);
        let refused = session.audit(AuditLog::none()).build();
        assert!(
            matches!(refused, Err(StartError::Component(error)) if error.code() == "tools-invalid"),
            "{what}"
        );
    }
}

#[test]
fn the_ordinary_list_is_shown_and_its_tools_are_called() {
    let component = ToolComponent::from_bytes(&component::with_listing(b'a')).unwrap();
    let session = Session::builder().component(component);
    let session = session.audit(AuditLog::none()).build().unwrap();
    assert!(session.call("say_deleted", "{}").is_ok());
}
