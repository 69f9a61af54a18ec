//! The set-up language of the tables: `a/; f=text; l -> a; OUT/s=secret`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::table::{ABSOLUTE_ROOT, json_string};

/// One thing to make. Paths are relative to the directory that holds the root.
#[derive(Debug, PartialEq, Eq)]
pub enum Entry {
    Directory(PathBuf),
    File(PathBuf, Vec<u8>),
    /// A link and the text it holds.
    Link(PathBuf, OsString),
    /// A second name and the file it names.
    HardLink(PathBuf, PathBuf),
    Mode(PathBuf, u32),
    Fifo(PathBuf),
    Socket(PathBuf),
    /// A character device: where, major and minor number.
    Device(PathBuf, u32, u32),
    Sparse(PathBuf, u64),
    /// So many empty files in a directory.
    Many(PathBuf, usize),
    /// Directories inside each other, with names of a length, and a file `f` at the end.
    Deep(usize, usize),
    /// Links `l0` to `ln`, each leading to the one before, the first to a target.
    Chain(PathBuf, usize, OsString),
    /// The layout stands in memory.
    InMemory,
    /// Another file system, in memory.
    Mount(PathBuf),
    /// What goes on while the operation runs.
    Meanwhile(Motion),
    /// A pattern that the session denies.
    Deny(String),
    /// A pattern that the session allows.
    Allow(String),
}

/// What another process would do at the same time, over and over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Motion {
    /// A file becomes longer.
    Grow(PathBuf),
    /// A file is cut and filled again.
    Shrink(PathBuf),
    /// Another file takes the name.
    Replace(PathBuf),
    /// Two names are exchanged.
    Exchange(PathBuf, PathBuf),
    /// A name is moved away and back.
    Away(PathBuf, PathBuf),
}

/// The entries of a set-up. `absolute_root` stands where the set-up says `$ABS`.
pub fn entries(setup: &str, absolute_root: &Path) -> Vec<Entry> {
    let parts = setup.split("; ").filter(|part| !part.is_empty());
    parts.map(|part| entry(part, absolute_root)).collect()
}

fn entry(part: &str, absolute_root: &Path) -> Entry {
    if let Some(special) = by_keyword(part) {
        return special;
    }
    if part.starts_with("~j") || part.starts_with("~x") {
        return by_name(part);
    }
    if let Some((link, target)) = part.split_once(" -> ") {
        let root = absolute_root.to_str().unwrap();
        return Entry::Link(place(link), target.replace(ABSOLUTE_ROOT, root).into());
    }
    if let Some((name, file)) = part.split_once(" == ") {
        return Entry::HardLink(place(name), place(file));
    }
    by_name(part)
}

fn by_keyword(part: &str) -> Option<Entry> {
    let words: Vec<&str> = part.split(' ').collect();
    Some(match words[..] {
        ["mode", path, mode] => Entry::Mode(place(path), u32::from_str_radix(mode, 8).unwrap()),
        ["fifo", path] => Entry::Fifo(place(path)),
        ["sock", path] => Entry::Socket(place(path)),
        // `/dev/zero`, unless the set-up says otherwise.
        ["dev", path] => Entry::Device(place(path), 1, 5),
        ["dev", path, major, minor] => Entry::Device(place(path), number(major), number(minor)),
        ["sparse", path, size] => Entry::Sparse(place(path), number(size)),
        ["many", path, count] => Entry::Many(place(path), number(count)),
        ["~deep", count] => Entry::Deep(number(count), 1),
        ["~longdeep", count, length] => Entry::Deep(number(count), number(length)),
        ["~chain", name, last, target] => Entry::Chain(place(name), number(last), target.into()),
        ["~shm"] => Entry::InMemory,
        ["mount", path] => Entry::Mount(place(path)),
        ["deny", pattern] => Entry::Deny(pattern.to_owned()),
        ["allow", pattern] => Entry::Allow(pattern.to_owned()),
        ["grow", path] => Entry::Meanwhile(Motion::Grow(place(path))),
        ["shrink", path] => Entry::Meanwhile(Motion::Shrink(place(path))),
        ["replace", path] => Entry::Meanwhile(Motion::Replace(place(path))),
        ["race", one, "<>", other] => Entry::Meanwhile(Motion::Exchange(place(one), place(other))),
        ["race", from, ">", to] => Entry::Meanwhile(Motion::Away(place(from), place(to))),
        _ => return None,
    })
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// A directory, or a file that holds its own name or the text behind `=`.
fn by_name(part: &str) -> Entry {
    let (name, rest) = name(part);
    if let Some(directory) = name.strip_suffix(b"/") {
        return Entry::Directory(placed(directory));
    }
    let content = match rest.strip_prefix('=') {
        Some(text) => text.as_bytes().to_vec(),
        None => name.clone(),
    };
    Entry::File(placed(&name), content)
}

/// The bytes of a name, and what follows it.
fn name(part: &str) -> (Vec<u8>, &str) {
    if let Some(json) = part.strip_prefix("~j") {
        let (name, rest) = json_string(json);
        return (name.into_bytes(), rest);
    }
    let end = part.find('=').unwrap_or(part.len());
    match part[..end].strip_prefix("~x") {
        Some(hex) => (bytes_of(hex), &part[end..]),
        None => (part.as_bytes()[..end].to_vec(), &part[end..]),
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn place(name: &str) -> PathBuf {
    placed(name.trim_end_matches('/').as_bytes())
}

/// `OUT/…` and `^…` stand beside the root, everything else in it.
fn placed(name: &[u8]) -> PathBuf {
    let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
    match name {
        b"OUT" => path(name),
        [b'^', sibling @ ..] => path(sibling),
        _ if name.starts_with(b"OUT/") => path(name),
        _ => Path::new("ROOT").join(std::ffi::OsStr::from_bytes(name)),
    }
}

#[test]
fn the_set_up_language_says_what_is_made() {
    let one = |setup| entries(setup, Path::new("/base/ROOT")).pop().unwrap();
    let inside = |name: &str| Path::new("ROOT").join(name);
    for (setup, entry) in [
        ("a/b/", Entry::Directory(inside("a/b"))),
        ("a/f", Entry::File(inside("a/f"), b"a/f".to_vec())),
        ("f=a=b", Entry::File(inside("f"), b"a=b".to_vec())),
        ("f=", Entry::File(inside("f"), Vec::new())),
        ("~j\"a\\nb\"=x", Entry::File(inside("a\nb"), b"x".to_vec())),
        ("OUT/s=x", Entry::File("OUT/s".into(), b"x".to_vec())),
        ("^ROOT2", Entry::File("ROOT2".into(), b"^ROOT2".to_vec())),
        ("d/l -> ../f", Entry::Link(inside("d/l"), "../f".into())),
        (
            "l -> $ABS/f",
            Entry::Link(inside("l"), "/base/ROOT/f".into()),
        ),
        (
            "h == ../OUT/s",
            Entry::HardLink(inside("h"), inside("../OUT/s")),
        ),
        ("mode d 0111", Entry::Mode(inside("d"), 0o111)),
        ("many d/ 10", Entry::Many(inside("d"), 10)),
        (". .", Entry::File(inside(". ."), b". .".to_vec())),
    ] {
        assert_eq!(one(setup), entry, "{setup}");
    }
    let Entry::File(bytes, _) = one("~xe9") else {
        panic!("a name in bytes is a file");
    };
    assert_eq!(bytes.as_os_str().as_bytes(), b"ROOT/\xe9");
}
