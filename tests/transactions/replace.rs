//! New content for an existing file: all of it in one instant, with the old file's
//! permissions, owner and attributes.

use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rootbound::{Consent, Durability, Limits};
use rustix::fs::XattrFlags;
use serde_json::json;

use crate::support::tree::{names, tree};
use crate::support::{Fixture, Recorded};

fn session(fixture: &Fixture) -> Recorded {
    fixture.session_with(|builder| builder.overwrite(Consent::Allow))
}

fn replace(recorded: &Recorded, content: &str) {
    let arguments = json!({ "path": "t", "content": content });
    let fields = recorded.fields("write_file", arguments);
    assert_eq!(fields["created"], false);
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn permissions_are_kept_but_not_the_trust_in_the_old_content() {
    for (before, after) in [
        (0o644, 0o644),
        (0o600, 0o600),
        (0o777, 0o777),
        (0o444, 0o444),
        (0o000, 0o000),
        (0o4755, 0o755),
        (0o2755, 0o755),
        (0o1644, 0o644),
        (0o6777, 0o777),
    ] {
        let fixture = Fixture::new();
        let file = fixture.work("t", "old");
        fs::set_permissions(&file, Permissions::from_mode(before)).unwrap();
        replace(&session(&fixture), "new");
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(mode(&file), after, "{before:o}");
    }
}

#[test]
fn the_owner_is_kept_where_the_process_may_give_files_away() {
    let fixture = Fixture::new();
    let file = fixture.work("t", "old");
    chown(&file, Some(65534), Some(65534)).unwrap();
    replace(&session(&fixture), "new");
    let metadata = fs::metadata(&file).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (65534, 65534));
}

#[test]
fn attributes_that_users_set_are_kept_and_those_of_the_system_are_not() {
    let fixture = Fixture::new();
    let file = fixture.work("t", "old");
    let set = |name: &str, value: &[u8]| {
        rustix::fs::setxattr(&file, name, value, XattrFlags::empty()).unwrap();
    };
    set("user.origin", b"here");
    // A capability: version 2, CAP_NET_BIND_SERVICE (bit 10), permitted and effective.
    let mut capability = [0; 20];
    capability[..8].copy_from_slice(&[1, 0, 0, 2, 0, 4, 0, 0]);
    set("security.capability", &capability);
    replace(&session(&fixture), "new");
    let get = |name: &str| {
        let mut value = [0; 64];
        rustix::fs::getxattr(&file, name, &mut value[..]).map(|length| value[..length].to_vec())
    };
    assert_eq!(get("user.origin").as_deref(), Ok(&b"here"[..]));
    assert!(get("security.capability").is_err());
}

#[test]
fn whoever_has_the_old_file_open_keeps_all_of_it() {
    let fixture = Fixture::new();
    let file = fixture.work("t", "the old content");
    let mut open = File::open(&file).unwrap();
    let mut first = [0; 7];
    open.read_exact(&mut first).unwrap();
    replace(&session(&fixture), "new");
    let mut rest = String::new();
    open.read_to_string(&mut rest).unwrap();
    assert_eq!((&first[..], &*rest), (&b"the old"[..], " content"));
    assert_eq!(names(&fixture.workspace()), ["t"]);
}

/// The control of the next test is in its last line: the reader did see both contents.
#[test]
fn a_reader_sees_the_old_or_the_new_content_and_never_a_mix() {
    let fixture = Fixture::new();
    let contents = ["a".repeat(50_000), "b".repeat(90_000)];
    let file = fixture.work("t", &contents[0]);
    let recorded =
        fixture.session_with(|b| b.overwrite(Consent::Allow).durability(Durability::Fast));
    let done = Arc::new(AtomicBool::new(false));
    let reader = {
        let (done, contents) = (Arc::clone(&done), contents.clone());
        std::thread::spawn(move || {
            let mut seen = [0_u32; 2];
            while !done.load(Ordering::Relaxed) || seen.contains(&0) {
                let text = fs::read_to_string(&file).unwrap();
                let which = contents.iter().position(|content| *content == text);
                seen[which.expect("neither the old nor the new content")] += 1;
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
            seen
        })
    };
    for round in 0..200 {
        replace(&recorded, &contents[(round + 1) % 2]);
    }
    done.store(true, Ordering::Relaxed);
    let seen = reader.join().unwrap();
    assert!(!seen.contains(&0), "{seen:?}");
}

#[test]
fn a_replacement_that_fails_leaves_the_old_file_untouched() {
    let fixture = Fixture::new();
    fixture.work("t", "old");
    let limits = Limits {
        max_write_bytes: 10,
        ..Limits::default()
    };
    let recorded = fixture.session_with(|b| b.overwrite(Consent::Allow).limits(limits));
    let before = tree(fixture.base());
    let arguments = json!({ "path": "t", "content": "x".repeat(11) });
    assert_eq!(
        recorded.error("write_file", arguments).code(),
        "limit-exceeded"
    );
    assert_eq!(tree(fixture.base()), before);
}

#[test]
fn content_can_shrink_to_nothing_and_grow_again() {
    let fixture = Fixture::new();
    fixture.work("t", "old");
    let recorded = session(&fixture);
    for content in ["", "longer than before", "x", ""] {
        replace(&recorded, content);
        assert_eq!(fixture.workspace_text("t"), content);
    }
}
