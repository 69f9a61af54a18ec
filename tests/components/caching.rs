//! Compiled once; and what was not compiled here is not run.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};

use rootbound::{ComponentCache, ComponentLoader, Session, StartError};
use tempfile::TempDir;

use super::guest;
use crate::hostile::component::with_listing;
use crate::support::Recorded;
use crate::support::cli::{Cli, Run};

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
fn another_user_s_directory_is_not_used_nor_a_link_to_one() {
    const NOBODY: u32 = 65534;
    let desk = Desk::new();
    let theirs = desk.base.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::set_permissions(&theirs, Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::chown(&theirs, Some(NOBODY), Some(NOBODY)).unwrap();
    let link = desk.base.path().join("link");
    symlink(&theirs, &link).unwrap();
    for place in [&theirs, &link] {
        assert!(
            ComponentCache::open(place, desk.state()).is_err(),
            "{place:?}"
        );
        assert!(
            ComponentCache::open(desk.directory(), place).is_err(),
            "{place:?}"
        );
    }
}

/// Where the directory really stands decides, whatever it is called.
#[test]
fn no_root_may_hold_the_cache_behind_a_link() {
    let desk = Desk::new();
    let root = desk.base.path().join("root");
    let inside = root.join("cache");
    fs::create_dir_all(&inside).unwrap();
    fs::set_permissions(&inside, Permissions::from_mode(0o700)).unwrap();
    symlink(&inside, desk.directory()).unwrap();
    let component = desk.loader().load(guest::plain()).unwrap();
    let builder = Session::builder().component(component).read_root(&root);
    let refused = builder.audit(rootbound::AuditLog::none()).build();
    assert!(matches!(refused, Err(StartError::Root { .. })));
}

#[test]
fn what_stands_under_a_file_s_name_and_is_none_is_passed_over() {
    let desk = Desk::new();
    let file = desk.filled();
    for is_pipe in [true, false] {
        fs::remove_file(&file).unwrap();
        match is_pipe {
            true => crate::support::pipe(&file),
            false => symlink(desk.state().join("component-cache.key"), &file).unwrap(),
        }
        desk.loader().load(guest::plain()).unwrap();
        let healed = fs::symlink_metadata(&file).unwrap();
        assert!(healed.is_file() && healed.len() > 1000);
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    desk.loader().load(guest::plain()).unwrap();
    assert_eq!(desk.files(), [file], "nothing was left beside it");
}

/// Whoever is killed while it writes leaves a file under a name of its own.
#[test]
fn what_killed_processes_left_goes_and_what_others_write_stays() {
    let desk = Desk::new();
    let file = desk.filled();
    let (left, written) = (
        file.with_extension("0123456789abcdef"),
        file.with_extension("fedcba9876543210"),
    );
    for path in [&left, &written] {
        fs::write(path, "half").unwrap();
    }
    let long_ago = SystemTime::now() - Duration::from_secs(24 * 60 * 60);
    let open = fs::File::options().write(true).open(&left).unwrap();
    open.set_modified(long_ago).unwrap();
    fs::remove_file(&file).unwrap();
    desk.loader().load(guest::plain()).unwrap();
    assert!(file.exists() && written.exists() && !left.exists());
}

#[test]
fn processes_that_begin_at_one_time_share_one_key_and_one_file() {
    let cli = Cli::new();
    let component = guest::file(cli.state(), "tool.wasm", guest::plain());
    let start = || {
        let mut command = cli.command(["tools", "--component"]);
        let command = command.arg(&component);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let processes: Vec<Child> = (0..3).map(|_| start()).collect();
    for process in processes {
        let run = Run::from(process.wait_with_output().unwrap());
        assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{run:?}");
    }
    let kept = cli.state().join("cache/rootbound/components");
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 1);
    let kept = fs::read_dir(&kept).unwrap().next().unwrap().unwrap();
    let before = identity(&kept.path());
    assert!(start().wait_with_output().unwrap().status.success());
    let again = identity(&kept.path());
    assert_eq!(before, again, "it was taken, and not compiled anew");
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
