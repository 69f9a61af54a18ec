//! What `rootbound check` says about one directory.

use std::fmt::Write;

use rootbound::{Inside, Rights, RootReport};
use serde_json::{Value, json};

pub(super) fn as_json(root: &RootReport) -> Value {
    json!({
        "label": root.label,
        "rights": rights(root.rights),
        "to_be_made": root.to_be_made,
        "file_system": root.file_system,
        "unnamed_files": root.unnamed_files,
        "owner": root.owner,
        "mode": format!("{:04o}", root.mode),
        "obstacles": root.obstacles,
        "inside": root.inside.as_ref().map(inside_as_json),
    })
}

fn inside_as_json(inside: &Inside) -> Value {
    json!({
        "objects": inside.objects,
        "links_out": inside.links_out,
        "mounts": inside.mounts,
        "hard_links": inside.hard_links,
        "special": inside.special,
        "closed": inside.closed,
        "complete": inside.complete,
    })
}

pub(super) fn as_text(root: &RootReport) -> String {
    let mut text = format!("  {:<12} {}\n", root.label, rights(root.rights));
    let may = match root.rights {
        Rights::Read => "read, list and look up; nothing is changed",
        Rights::Write => "create, change and delete, as the policy says; nothing is read",
    };
    // Writing to a string cannot fail.
    let mut line = |words: &str| {
        let _ = writeln!(text, "    {words}");
    };
    let (file_system, owner, mode) = (&root.file_system, root.owner, root.mode);
    let what = match root.to_be_made {
        true => "not there yet: it would be made below a directory",
        false => "a directory",
    };
    line(&format!(
        "{what} of user {owner}, mode {mode:04o}, on {file_system}"
    ));
    line(&format!("tools may: {may}"));
    if root.unnamed_files == Some(false) {
        line(
            "files cannot be staged without a name: a killed call can leave a temporary one until the next start",
        );
    }
    for obstacle in &root.obstacles {
        line(&format!("in the way: {obstacle}"));
    }
    if let Some(inside) = &root.inside {
        inside_as_text(inside).iter().for_each(|words| line(words));
    }
    text
}

fn inside_as_text(inside: &Inside) -> Vec<String> {
    let end = match inside.complete {
        true => "",
        false => " and more, since the look was ended",
    };
    let mut lines = vec![format!("inside: {} objects{end}", inside.objects)];
    for (count, words) in [
        (inside.links_out, "links lead out: refused with `escape`"),
        (
            inside.mounts,
            "mounts: they belong to the root, whatever they are",
        ),
        (
            inside.hard_links,
            "files have other names as well: not changed, and not seen by patterns there",
        ),
        (inside.special, "pipes, sockets or devices: never opened"),
        (inside.closed, "directories that this user may not list"),
    ] {
        if count > 0 {
            lines.push(format!("inside: {count} {words}"));
        }
    }
    lines
}

pub(super) fn rights(rights: Rights) -> &'static str {
    match rights {
        Rights::Read => "read",
        Rights::Write => "write",
    }
}
