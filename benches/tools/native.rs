//! The same work with `std::fs`, and with ripgrep.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::trees::{Trees, replace};

/// Paths below a directory of which the name begins so.
pub(crate) fn find(trees: &Trees) {
    let mut found = Vec::new();
    walk(&trees.tree(), &mut |path, name| {
        if name.starts_with("file-1999") {
            found.push(path.to_owned());
        }
    });
    assert_eq!(black_box(found).len(), 10);
}

/// Lines with a word, in all files below a directory.
pub(crate) fn search(trees: &Trees) {
    let mut found = Vec::new();
    walk(&trees.tree(), &mut |path, _| {
        let text = fs::read_to_string(path).unwrap();
        if text.contains("needle") {
            let lines = text.lines().enumerate();
            found.extend(
                lines
                    .filter(|(_, line)| line.contains("needle"))
                    .map(|hit| hit.0),
            );
        }
    });
    assert_eq!(black_box(found).len(), 5);
}

/// Calls `visit` with each file in the order of names.
fn walk(directory: &Path, visit: &mut impl FnMut(&Path, &str)) {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let mut entries: Vec<_> = entries
        .map(|entry| (entry.file_name(), entry.file_type().unwrap()))
        .collect();
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    for (name, kind) in entries {
        let path = directory.join(&name);
        match kind.is_dir() {
            true => walk(&path, visit),
            false => visit(&path, &name.to_string_lossy()),
        }
    }
}

/// The same search by ripgrep; nothing where it is not there.
pub(crate) fn ripgrep(trees: &Trees) -> Option<()> {
    let mut command = Command::new("rg");
    command
        .args(["-j1", "--sort=none", "needle"])
        .arg(trees.tree());
    let output = command.stderr(Stdio::null()).output().ok()?;
    assert_eq!(
        output.stdout.iter().filter(|byte| **byte == b'\n').count(),
        5
    );
    Some(())
}

pub(crate) fn list(trees: &Trees, details: bool) {
    let entries = fs::read_dir(trees.entries()).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let details = details.then(|| {
            let metadata = entry.metadata().unwrap();
            (metadata.len(), metadata.modified().unwrap())
        });
        (entry.file_name(), entry.file_type().unwrap(), details)
    });
    let mut listing: Vec<_> = entries.collect();
    listing.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    black_box(listing);
}

pub(crate) fn read(trees: &Trees, name: &str) {
    black_box(fs::read_to_string(trees.text(name)).unwrap());
}

/// Bytes that are looked through for what is not in them.
pub(crate) fn look_through(trees: &Trees) {
    let text = fs::read_to_string(trees.text("largest.txt")).unwrap();
    assert!(!black_box(&text).contains("needle"));
}

/// One line changed in a large text.
pub(crate) fn edit(trees: &Trees) {
    let file = trees.edited();
    let text = fs::read_to_string(&file).unwrap();
    let (old, new) = match text.contains("mark: 0\n") {
        true => ("mark: 0\n", "mark: 1\n"),
        false => ("mark: 1\n", "mark: 0\n"),
    };
    replace(&file, &text.replacen(old, new, 1));
}
