//! Compiled once; and what was not compiled here is not run.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rootbound::{ComponentCache, ComponentLoader, Session, StartError};
use tempfile::TempDir;

use super::guest;
use crate::hostile::component::with_listing;
use crate::support::Recorded;

struct Desk {
    base: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self {
            base: tempfile::tempdir().unwrap(),
        }
    }

    fn directory(&self) -> PathBuf {
        self.base.path().join("cache")
    }

    fn state(&self) -> PathBuf {
        self.base.path().join("state")
    }

    fn loader(&self) -> ComponentLoader {
        let cache = ComponentCache::open(self.directory(), self.state()).unwrap();
        ComponentLoader::default().cache(cache)
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.directory()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// The one file of the cache, after a component was loaded.
    fn filled(&self) -> PathBuf {
        self.loader().load(guest::plain()).unwrap();
        let [file] = self.files().try_into().unwrap();
        file
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// When the file was written: a new one is another file.
fn identity(file: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(file).unwrap().ino()
}

#[test]
fn what_was_compiled_is_kept_closed_to_others_and_taken_again() {
    let desk = Desk::new();
    let file = desk.filled();
    assert_eq!((mode(&desk.directory()), mode(&file)), (0o700, 0o600));
    assert_eq!(mode(&desk.state().join("component-cache.key")), 0o600);
    let before = identity(&file);
    let again = desk.loader().load(guest::plain()).unwrap();
    assert!(!again.definitions().unwrap().is_empty());
    assert_eq!(
        identity(&file),
        before,
        "it was taken, and not compiled anew"
    );
}

#[test]
fn what_was_changed_is_not_loaded_and_compiled_anew() {
    let desk = Desk::new();
    let file = desk.filled();
    let whole = fs::read(&file).unwrap();
    let half = whole.len() / 2;
    let mut flipped = whole.clone();
    flipped[half] ^= 1;
    for (what, bytes) in [
        ("a bit", flipped),
        ("the end", whole[..half].to_vec()),
        ("nothing", Vec::new()),
        ("code without a MAC", whole[32..].to_vec()),
        ("noise", vec![0xa5; 4096]),
    ] {
        fs::write(&file, &bytes).unwrap();
        let component = desk.loader().load(guest::plain()).unwrap();
        assert!(!component.definitions().unwrap().is_empty(), "{what}");
        let healed = fs::read(&file).unwrap();
        assert_ne!(healed, bytes, "{what} was written anew");
    }
}

/// Who can write to the cache has no key: neither can it be guessed from what lies there, nor
/// does code of one component pass for another's.
#[test]
fn code_of_another_component_or_another_key_is_not_loaded() {
    let desk = Desk::new();
    let file = desk.filled();
    let other = Desk::new();
    let of_other_key = other.filled();
    fs::copy(&of_other_key, &file).unwrap();
    let before = fs::read(&file).unwrap();
    desk.loader().load(guest::plain()).unwrap();
    assert_ne!(fs::read(&file).unwrap(), before, "another key's was taken");

    let twin = with_listing(b'o');
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let engine = name.split_once('-').unwrap().1;
    let of_twin = format!("{}-{engine}", crate::support::sha256(&twin));
    let passed_off = desk.directory().join(of_twin);
    fs::copy(&file, &passed_off).unwrap();
    let component = desk.loader().load(&twin).unwrap();
    let first = &component.definitions().unwrap()[0];
    assert_eq!(
        first.name, "escapes",
        "the twin's own list, not the other's"
    );
}

#[test]
fn what_cannot_list_its_tools_is_not_kept() {
    let desk = Desk::new();
    desk.loader().load(&with_listing(b'd')).unwrap();
    assert_eq!(desk.files(), Vec::<PathBuf>::new());
}

#[test]
fn a_cache_that_others_may_enter_is_not_used() {
    let desk = Desk::new();
    for (directory, what) in [(desk.directory(), "cache"), (desk.state(), "state")] {
        desk.filled();
        fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
        let opened = ComponentCache::open(desk.directory(), desk.state());
        assert!(opened.is_err(), "{what}");
        fs::set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn no_root_may_hold_the_cache() {
    let desk = Desk::new();
    let component = desk.loader().load(guest::plain()).unwrap();
    for root in [desk.base.path().to_owned(), desk.directory()] {
        let builder = Session::builder().component(component.clone());
        let refused = builder
            .read_root(&root)
            .audit(rootbound::AuditLog::none())
            .build();
        assert!(matches!(refused, Err(StartError::Root { .. })), "{root:?}");
    }
    let beside = desk.base.path().join("inputs");
    fs::create_dir(&beside).unwrap();
    Recorded::build(Session::builder().component(component).read_root(beside));
}
