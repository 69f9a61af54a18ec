//! Code that was compiled before, kept in files.
//!
//! Compiled code is run as it stands, so it must be this crate's own. Each file carries a MAC
//! under a key that stands in the state directory, not beside the files: whoever can write to
//! the cache, and to nothing else, can make it miss and not make it lie.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use wasmtime::Engine;
use wasmtime::component::Component;

use super::compiled;
use crate::ambient::{self, StateFile};
use crate::place::Place;
use crate::random;

/// Bytes of a MAC.
const MAC_BYTES: usize = 32;
/// Bytes of the key, as many as a block of the hash has.
const KEY_BYTES: usize = 64;
/// The file of the key, in the state directory.
const KEY_FILE: &str = "component-cache.key";
/// What the MAC is made over first, so that it can be none of anything else.
const PURPOSE: &[u8] = b"rootbound compiled component 1\0";
/// Bytes of one file; the code of a component takes some four times its size.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// Bytes of all files; beyond that the oldest go.
const MAX_BYTES: u64 = 4 << 30;

/// The end of the names of files with code.
const EXTENSION: &str = ".cwasm";
/// Longer than any process writes at a file.
const WRITING: Duration = Duration::from_secs(60 * 60);

/// A directory of compiled components, so that each is compiled once.
///
/// The directory is closed to others; files in it that this crate did not write, or wrote under
/// another key, are not loaded. It must lie outside every root: a session whose component came
/// from a cache refuses roots from which the cache could be reached.
#[derive(Clone)]
pub struct ComponentCache {
    directory: PathBuf,
    key: [u8; KEY_BYTES],
    /// Whether nothing in it is changed.
    is_read_only: bool,
}

impl ComponentCache {
    /// The user's cache, `$XDG_CACHE_HOME/rootbound/components`, or below `~/.cache` where that
    /// is unset, with its key in the state directory. Both are made when they are absent.
    ///
    /// # Errors
    ///
    /// When there is no such place, it belongs to someone else, or others may enter it.
    pub fn of_user() -> io::Result<Self> {
        let (directory, state) = directories_of_user()?;
        Self::open(directory, state)
    }

    /// The user's cache, to be read and not written; nothing where it was not made yet.
    ///
    /// # Errors
    ///
    /// As [`ComponentCache::of_user`].
    pub fn preview() -> io::Result<Option<Self>> {
        let (directory, state) = directories_of_user()?;
        for private in [&directory, &state] {
            let place = Place::of(private)?;
            match place.is_there() {
                true => ambient::require_private(private)?,
                false => return place.check_makeable().map(|()| None),
            }
        }
        match read_key(&state.join(KEY_FILE)) {
            Ok(key) => Ok(Some(Self {
                directory,
                key,
                is_read_only: true,
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A cache in `directory`, with its key in the directory `state`.
    ///
    /// # Errors
    ///
    /// When one of them cannot be made or used, belongs to someone else, or others may enter it.
    pub fn open(directory: impl Into<PathBuf>, state: impl AsRef<Path>) -> io::Result<Self> {
        let (directory, state) = (directory.into(), state.as_ref());
        for private in [&directory, state] {
            ambient::create_private_directory(private)?;
            ambient::require_private(private)?;
        }
        let key = key(&state.join(KEY_FILE))?;
        Ok(Self {
            directory,
            key,
            is_read_only: false,
        })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The code of the component with this digest, if it is there and is what was written.
    pub(super) fn load(&self, engine: &Engine, sha256: &str) -> Option<Component> {
        let file = self.directory.join(file_name(engine, sha256));
        let bytes = ambient::read_at_most(&file, MAX_FILE_BYTES).ok()??;
        let (mac, code) = bytes.split_at_checked(MAC_BYTES)?;
        let verified = self.mac(engine, sha256, code).verify_slice(mac);
        let loaded = match verified {
            Ok(()) => compiled::load(engine, code).ok(),
            Err(_) => None,
        };
        if loaded.is_none() && !self.is_read_only {
            let _ = ambient::remove_file(&file);
        }
        loaded
    }

    /// Keeps a component's code. A cache that cannot be written to is no hindrance.
    pub(super) fn keep(&self, component: &Component, sha256: &str) {
        if self.is_read_only {
            return;
        }
        let Ok(code) = component.serialize() else {
            return;
        };
        if code.len() as u64 + MAC_BYTES as u64 > MAX_FILE_BYTES {
            return;
        }
        let engine = component.engine();
        let mac = self.mac(engine, sha256, &code).finalize().into_bytes();
        let bytes = [mac.as_slice(), &code].concat();
        self.make_room(bytes.len() as u64);
        let file = self.directory.join(file_name(engine, sha256));
        let _ = ambient::write_private_file(&file, &bytes);
    }

    /// Removes what processes left behind that were killed while they wrote, and the oldest code
    /// where there is too much.
    fn make_room(&self, wanted: u64) {
        let Ok(files) = ambient::files_by_age(&self.directory) else {
            return;
        };
        let mut held: u64 = files.iter().map(|file| file.bytes).sum();
        for file in files {
            if held.saturating_add(wanted) > MAX_BYTES || is_left_over(&file) {
                let _ = ambient::remove_file(&self.directory.join(&file.name));
                held -= file.bytes;
            }
        }
    }

    fn mac(&self, engine: &Engine, sha256: &str, code: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.key.into());
        mac.update(PURPOSE);
        mac.update(file_name(engine, sha256).as_bytes());
        mac.update(b"\0");
        mac.update(code);
        mac
    }
}

impl fmt::Debug for ComponentCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ComponentCache({})", self.directory.display())
    }
}

/// Code is renamed to its name as soon as it is written.
fn is_left_over(file: &StateFile) -> bool {
    let is_old = (file.written.elapsed()).is_ok_and(|age| age > WRITING);
    is_old && !file.name.ends_with(EXTENSION)
}

/// Named by the component and by all that its code depends on: wasmtime's version, the engine's
/// settings, and the processor's abilities.
fn file_name(engine: &Engine, sha256: &str) -> String {
    // The same in every process; a name of another version of it is not found, no more.
    let mut hasher = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{sha256}-{:016x}{EXTENSION}", hasher.finish())
}

/// Reads the key; makes it where there is none. Of several processes that make one, one does.
fn key(file: &Path) -> io::Result<[u8; KEY_BYTES]> {
    match read_key(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let new = file.with_extension(random::hex::<8>());
            let mut made = ambient::create_private_file(&new)?;
            io::Write::write_all(&mut made, &random::bytes::<KEY_BYTES>())?;
            made.sync_all()?;
            // `link` does not replace: whoever was first has made the key.
            let _ = ambient::link_file(&new, file);
            ambient::remove_file(&new)?;
            read_key(file)
        }
        other => other,
    }
}

fn read_key(file: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let bytes = ambient::read_private_file(file, KEY_BYTES + 1)?;
    let wrong = |_| {
        let file = file.display();
        let why = format!("the key is damaged; remove `{file}`, and another is made");
        io::Error::new(io::ErrorKind::InvalidData, why)
    };
    bytes.try_into().map_err(wrong)
}

/// Where compiled components are kept, and their key.
fn directories_of_user() -> io::Result<(PathBuf, PathBuf)> {
    let nowhere = || io::Error::new(io::ErrorKind::NotFound, "there is no home directory");
    let directory = ambient::cache_directory().ok_or_else(nowhere)?;
    let state = ambient::state_directory().ok_or_else(nowhere)?;
    Ok((directory.join("components"), state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::engine;

    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";
    const SHA256: &str = "5e";

    /// An older version of this program leaves the like behind.
    #[test]
    fn code_for_another_engine_is_not_loaded_under_this_one_s_name() {
        let base = tempfile::tempdir().expect("a directory");
        let (directory, state) = (base.path().join("cache"), base.path().join("state"));
        let cache = ComponentCache::open(directory, state).expect("a cache");
        let (this, other) = (engine().expect("an engine"), Engine::default());
        let code = Component::new(&other, EMPTY).expect("an empty component");
        cache.keep(&code, SHA256);
        assert!(cache.load(&other, SHA256).is_some());
        assert!(cache.load(this, SHA256).is_none());
        let file = |engine| cache.directory.join(file_name(engine, SHA256));
        ambient::rename_file(&file(&other), &file(this)).expect("the file");
        assert!(cache.load(this, SHA256).is_none());
        assert!(ambient::read_file(&file(this)).is_err(), "it was removed");
    }
}
