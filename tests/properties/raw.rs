//! Raw WASI calls by chance, by a component that follows a script, against the same system
//! calls made natively.
//!
//! The component hears of each step whether it was done. What it hears must be what happens:
//! the steps that were done, done natively in a directory of the same layout, all succeed,
//! find the same, and make the same tree; and nothing else is changed anywhere.

use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use rootbound::{Consent, Durability, Session};
use rustix::fs::{AtFlags, Mode, OFlags};
use serde_json::json;

use super::{cases, lay_out, links, path};
use crate::hostile::component;
use crate::support::tree::{Holds, tree};
use crate::support::{Fixture, Recorded};

/// One step of the script.
pub(super) fn step() -> impl Strategy<Value = String> {
    let one = |word: &'static str| path().prop_map(move |path| format!("{word} {path}"));
    let two = |word: &'static str| {
        (path(), path()).prop_map(move |(from, to)| format!("{word} {from} {to}"))
    };
    let content = |word: &'static str| {
        (path(), "[xyz]{0,3}").prop_map(move |(path, text)| format!("{word} {path} {text}"))
    };
    prop_oneof![
        3 => content("write"),
        2 => content("create"),
        2 => content("append"),
        3 => two("rename"),
        2 => one("unlink"),
        2 => one("mkdir"),
        2 => one("rmdir"),
        1 => one("enter"),
        1 => Just("leave".to_owned()),
        2 => one("read"),
        2 => one("stat"),
        1 => one("list"),
    ]
}

pub(super) fn session(root: &Path, timeout: Duration) -> Recorded {
    Recorded::build(
        Session::builder()
            .work_root(root)
            .component(component::compiled())
            .overwrite(Consent::Allow)
            .delete(Consent::Allow)
            .durability(Durability::Fast)
            .timeout(timeout),
    )
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_a_component_hears_is_what_happens(
        links in links(),
        steps in prop::collection::vec(step(), 1..12),
    ) {
        let (ours, theirs) = (Fixture::new(), Fixture::new());
        let root = lay_out(&ours, &links);
        let native_root = lay_out(&theirs, &links);
        let before = held(&ours);
        let recorded = session(&root, Duration::from_secs(60));
        let script = json!({"script": steps.join("|")});
        let answer = recorded.call("follow_a_script", script);
        let Ok(output) = answer else {
            let error = answer.unwrap_err();
            prop_assert!(matches!(error.code(), "conflict" | "not-empty"), "{steps:?}: {error}");
            prop_assert_eq!(held(&ours), before, "{:?}", steps);
            return Ok(());
        };
        let mut native = Native::new(&native_root);
        for (step, heard) in steps.iter().zip(output.fields()["steps"].as_array().unwrap()) {
            let heard = heard.as_str().unwrap();
            if !heard.starts_with('!') {
                let found = native.act(step);
                prop_assert_eq!(found.as_deref(), Ok(heard), "{} of {:?}", step, steps);
            }
        }
        prop_assert_eq!(held(&ours), held(&theirs), "{:?}", steps);
    }
}

/// What stands below all directories of a fixture, in words that two of them can share.
fn held(fixture: &Fixture) -> Vec<(String, Holds)> {
    let nodes = tree(fixture.base()).into_iter();
    nodes.map(|(path, node)| (path, node.holds)).collect()
}

/// The same steps, by the system itself.
struct Native {
    entered: Vec<OwnedFd>,
}

impl Native {
    fn new(root: &Path) -> Self {
        let entered = vec![File::open(root).unwrap().into()];
        Self { entered }
    }

    fn act(&mut self, step: &str) -> Result<String, String> {
        let words: Vec<&str> = step.split(' ').collect();
        if words == ["leave"] {
            self.entered.truncate(self.entered.len().max(2) - 1);
            return Ok(String::new());
        }
        let here = self.entered.last().unwrap();
        match act(here, &words).map_err(|errno| errno.to_string())? {
            Done::Entered(directory) => {
                self.entered.push(directory);
                Ok(String::new())
            }
            Done::Found(found) => Ok(found),
        }
    }
}

enum Done {
    Found(String),
    Entered(OwnedFd),
}

fn act(here: &OwnedFd, words: &[&str]) -> rustix::io::Result<Done> {
    let mode = Mode::from_raw_mode(0o666);
    let write = |path: &str, flags, content: &str| {
        let file = rustix::fs::openat(here, path, OFlags::WRONLY | flags, mode)?;
        rustix::io::write(file, content.as_bytes()).map(|_| ())
    };
    let directory = |path: &str| {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        rustix::fs::openat(here, path, flags, Mode::empty())
    };
    // Behind the name of what is made or removed, `/.` says no more than `/`, to us; to the
    // system it is a name that is never made.
    let words: Vec<&str> = match words[0] {
        "mkdir" | "rmdir" | "rename" => words.iter().map(|word| without_dots(word)).collect(),
        _ => words.to_vec(),
    };
    match *words {
        ["write", path, content] => write(path, OFlags::CREATE | OFlags::TRUNC, content)?,
        ["create", path, content] => write(path, OFlags::CREATE | OFlags::EXCL, content)?,
        ["append", path, content] => write(path, OFlags::APPEND, content)?,
        ["mkdir", path] => rustix::fs::mkdirat(here, path, Mode::from_raw_mode(0o777))?,
        ["rmdir", path] => rustix::fs::unlinkat(here, path, AtFlags::REMOVEDIR)?,
        ["unlink", path] => rustix::fs::unlinkat(here, path, AtFlags::empty())?,
        ["rename", from, to] => rustix::fs::renameat(here, from, here, to)?,
        ["enter", path] => return directory(path).map(Done::Entered),
        ["read", path] => return Ok(Done::Found(read(here, path)?)),
        ["stat", path] => return Ok(Done::Found(kind(here, path)?)),
        ["list", path] => return Ok(Done::Found(list(&directory(path)?))),
        _ => panic!("no step begins like {words:?}"),
    }
    Ok(Done::Found(String::new()))
}

fn without_dots(mut path: &str) -> &str {
    while let Some(shorter) = path.trim_end_matches('/').strip_suffix("/.") {
        path = shorter;
    }
    path
}

fn read(here: &OwnedFd, path: &str) -> rustix::io::Result<String> {
    let file = rustix::fs::openat(here, path, OFlags::RDONLY, Mode::empty())?;
    let mut bytes = [0; 100];
    let length = rustix::io::read(file, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

fn kind(here: &OwnedFd, path: &str) -> rustix::io::Result<String> {
    let stat = rustix::fs::statat(here, path, AtFlags::empty())?;
    let kind = match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        rustix::fs::FileType::RegularFile => "DescriptorType::RegularFile",
        rustix::fs::FileType::Directory => "DescriptorType::Directory",
        other => panic!("the layout has no {other:?}"),
    };
    Ok(kind.to_owned())
}

fn list(directory: &OwnedFd) -> String {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", directory.as_fd().as_raw_fd());
    let entries = fs::read_dir(path).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names.join(",")
}
