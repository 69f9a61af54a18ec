//! Lists of tools that no front-end could show.

use std::time::{Duration, Instant};

use rootbound::{CallError, Session, ToolComponent};

use super::component;
use crate::support::Recorded;

/// The letter of the list in the guest's `listing.rs`, what it is, and the answer. What takes
/// long to make may be out of time on a slow machine.
const LISTS: &[(u8, &str, &[&str])] = &[
    (
        b'b',
        "a description of 100 MB",
        &["limit-exceeded", "timeout"],
    ),
    (b'c', "a name with control characters", &["trapped"]),
    (b'd', "two tools of one name", &["trapped"]),
    (b'e', "a schema that is not JSON", &["trapped"]),
    (b'f', "a schema that is a type union", &["trapped"]),
    (b'g', "a schema that is an array", &["trapped"]),
    (b'h', "no answer at all", &["timeout"]),
    (b'i', "a panic", &["trapped"]),
    (b'j', "a name of 65 characters", &["trapped"]),
    (b'k', "100,000 tools", &["trapped", "timeout"]),
    (
        b'l',
        "a schema of 500,000 brackets",
        &["trapped", "timeout"],
    ),
    (b'm', "path arguments of 5 MB", &["trapped", "timeout"]),
    (b'n', "a name of no characters", &["trapped"]),
    (b'p', "a schema that refers to another", &["trapped"]),
];

#[test]
fn a_list_that_cannot_be_shown_is_refused_and_nothing_is_called() {
    for (letter, what, codes) in LISTS {
        let component = ToolComponent::from_bytes(&component::with_listing(*letter)).unwrap();
        let started = Instant::now();
        let error = component.definitions().unwrap_err();
        assert!(codes.contains(&error.code()), "{what}: {error}");
        assert!(started.elapsed() < Duration::from_secs(10), "{what}");
        let error = call(component).unwrap_err();
        assert!(codes.contains(&error.code()), "{what}: {error}");
    }
}

#[test]
fn the_ordinary_list_is_shown_and_its_tools_are_called() {
    let component = ToolComponent::from_bytes(&component::with_listing(b'a')).unwrap();
    assert!(call(component).is_ok());
}

fn call(component: ToolComponent) -> Result<(), CallError> {
    let recorded = Recorded::build(Session::builder().component(component));
    recorded.session.call("say_deleted", "{}").map(|_| ())
}
