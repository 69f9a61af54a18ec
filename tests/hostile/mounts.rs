//! A rename that would have to move bytes to another file system.

use rootbound::CallError;

use super::component;
use super::layout::{Tree, lay_out};
use super::row::{Grants, ORDINARY, everything};
use crate::support::mounts::Mount;
use crate::support::{Fixture, Recorded};

/// Renames into a directory on which something is mounted.
fn rename_into(mount: impl FnOnce(&Fixture) -> Mount) -> (Result<String, CallError>, Vec<String>) {
    let fixture = lay_out(&ORDINARY);
    let _mount = mount(&fixture);
    let before = Tree::of(fixture.base());
    let builder = everything(Grants::Apart.session(&fixture));
    let recorded = Recorded::build(builder.component(component::compiled()));
    let answer = recorded.session.call("rename_into_a_mount", "{}");
    let answer = answer.map(|output| output.fields_json().to_owned());
    (answer, before.changes(&Tree::of(fixture.base())))
}

/// The kernel says the same word for this as for a path that leads out; only the commit can
/// find it out where both are one device.
#[test]
fn a_rename_to_another_mount_of_the_same_device_says_what_to_do_instead() {
    let (answer, changes) = rename_into(|fixture| {
        let elsewhere = fixture.base().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        Mount::bind(&elsewhere, &fixture.workspace().join("done"))
    });
    let error = answer.unwrap_err();
    assert_eq!((error.code(), error.reason()), ("io", Some("cross-device")));
    assert!(error.hint().contains("copy"), "{error}");
    assert_eq!(changes, Vec::<String>::new());
}

#[test]
fn a_rename_to_another_device_is_told_to_the_component() {
    let (answer, changes) =
        rename_into(|fixture| Mount::memory("64k", &fixture.workspace().join("done")));
    let fields = answer.unwrap();
    assert!(fields.contains(r#""stopped":["cross-device"]"#), "{fields}");
    assert_eq!(changes, Vec::<String>::new());
}
