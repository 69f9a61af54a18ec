//! The granted directories, and the lookup of a path in them.

use super::{Descriptor, ErrorCode, refused};
use crate::bindings::wasi::filesystem::preopens::get_directories;
use crate::{Error, Failure};

/// The name that the host gives the write root.
const WRITE: &str = "/write";
/// What the names of the read roots start with; their number in order follows.
const READ: &str = "/read/";

/// The directories that the host preopened for this call.
pub struct Roots<D = Descriptor> {
    directories: Vec<(D, String)>,
}

/// What a lookup found, and the preopen name of the root it was found in.
#[derive(Debug, PartialEq, Eq)]
pub struct Found<T> {
    /// What was found.
    pub object: T,
    /// The preopen name of its root, such as `/read/0`; under the key `root` of a result the
    /// host puts the user's label there.
    pub root: String,
}

/// Why a lookup found nothing.
#[derive(Debug, PartialEq, Eq)]
pub enum Miss {
    /// No directory is granted for reading.
    NotGranted,
    /// The path exists in none of the read roots.
    Absent,
    /// A root answered with something else than `no-entry`.
    Refused(ErrorCode),
}

impl Roots {
    /// Asks the host; once per call is enough.
    pub fn preopened() -> Self {
        Self {
            directories: get_directories(),
        }
    }
}

impl<D> Roots<D> {
    /// Tries the read roots in their order.
    ///
    /// Only `no-entry` moves on to the next root, so that a name which one root refuses does
    /// not silently mean a file in another.
    pub fn look_up<T>(
        &self,
        mut attempt: impl FnMut(&D) -> Result<T, ErrorCode>,
    ) -> Result<Found<T>, Miss> {
        let mut miss = Miss::NotGranted;
        for (directory, root) in self.readable() {
            match attempt(directory) {
                Ok(object) => {
                    let root = root.clone();
                    return Ok(Found { object, root });
                }
                Err(ErrorCode::NoEntry) => miss = Miss::Absent,
                Err(code) => return Err(Miss::Refused(code)),
            }
        }
        Err(miss)
    }

    /// Looks in every read root.
    ///
    /// Roots that do not have the path are passed over; any other refusal ends the lookup.
    pub fn look_up_all<T>(
        &self,
        mut attempt: impl FnMut(&D) -> Result<T, ErrorCode>,
    ) -> Result<Vec<Found<T>>, Miss> {
        let mut found = Vec::new();
        let mut miss = Miss::NotGranted;
        for (directory, root) in self.readable() {
            match attempt(directory) {
                Ok(object) => found.push(Found {
                    object,
                    root: root.clone(),
                }),
                Err(ErrorCode::NoEntry) => miss = Miss::Absent,
                Err(code) => return Err(Miss::Refused(code)),
            }
        }
        if found.is_empty() {
            return Err(miss);
        }
        Ok(found)
    }

    /// Keeps the read root of this preopen name only, when one is named.
    ///
    /// # Errors
    /// `invalid-arguments` when there is no such read root.
    pub fn only(mut self, root: Option<&str>) -> Result<Self, Failure> {
        let Some(root) = root else {
            return Ok(self);
        };
        self.directories
            .retain(|(_, name)| name == root && name.starts_with(READ));
        if self.directories.is_empty() {
            return Err(
                Failure::invalid_arguments(format!("there is no read root `{root}`"))
                    .hint("leave out `root`, or name one as `root` in results does"),
            );
        }
        Ok(self)
    }

    /// The directory of a preopen name.
    pub fn get(&self, root: &str) -> Option<&D> {
        let named = self.directories.iter().find(|(_, name)| name == root);
        named.map(|(directory, _)| directory)
    }

    /// The write root. It grants no reading, so nothing here stats, lists or reads it.
    ///
    /// # Errors
    /// `not-granted` when there is none.
    pub fn writable(&self) -> Result<&D, Error> {
        let write = self.directories.iter().find(|(_, name)| name == WRITE);
        write.map(|(directory, _)| directory).ok_or_else(|| {
            Failure::new("not-granted", "no directory is granted for writing")
                .hint("ask the user to grant one, for example with `--write DIR`")
                .into()
        })
    }

    fn readable(&self) -> impl Iterator<Item = &(D, String)> {
        let is_read = |(_, name): &&(D, String)| name.starts_with(READ);
        self.directories.iter().filter(is_read)
    }
}

impl Miss {
    /// What to answer where a directory was meant.
    pub fn of_directory(self, path: &str) -> Error {
        match self {
            Self::Refused(ErrorCode::NotDirectory) => {
                Failure::new("not-a-directory", format!("`{path}` is not a directory"))
                    .hint("read it as a file, or name the directory that holds it")
                    .into()
            }
            miss => miss.into(),
        }
    }
}

impl From<Miss> for Error {
    fn from(miss: Miss) -> Self {
        match miss {
            Miss::NotGranted => Failure::new("not-granted", "no directory is granted for reading")
                .hint("ask the user to grant one, for example with `--read DIR`")
                .into(),
            Miss::Absent => refused(ErrorCode::NoEntry),
            Miss::Refused(code) => refused(code),
        }
    }
}

/// A WASI error to which the tool has nothing to add.
impl From<ErrorCode> for Error {
    fn from(code: ErrorCode) -> Self {
        refused(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(names: &[&'static str]) -> Roots<&'static str> {
        let directories = names.iter().map(|name| (*name, (*name).to_owned()));
        Roots {
            directories: directories.collect(),
        }
    }

    #[test]
    fn the_first_root_that_has_the_path_answers() {
        let found = roots(&["/read/0", "/write", "/read/1"]).look_up(|root| match *root {
            "/read/1" => Ok(1),
            "/read/0" => Err(ErrorCode::NoEntry),
            other => panic!("`{other}` was asked"),
        });
        let root = "/read/1".to_owned();
        assert_eq!(found, Ok(Found { object: 1, root }));
    }

    #[test]
    fn any_refusal_but_no_entry_ends_the_lookup() {
        let mut asked = 0;
        let answer = roots(&["/read/0", "/read/1"]).look_up(|_| -> Result<(), _> {
            asked += 1;
            Err(ErrorCode::NotPermitted)
        });
        assert_eq!(answer, Err(Miss::Refused(ErrorCode::NotPermitted)));
        assert_eq!(asked, 1);
    }

    #[test]
    fn a_path_in_no_root_is_absent() {
        let answer = roots(&["/read/0", "/read/1"])
            .look_up(|_| -> Result<(), _> { Err(ErrorCode::NoEntry) });
        assert_eq!(answer, Err(Miss::Absent));
        assert_eq!(Error::from(Miss::Absent), Error::Host);
    }

    #[test]
    fn every_root_that_has_the_path_is_found() {
        let roots = roots(&["/read/0", "/read/1", "/write", "/read/2"]);
        let found = roots.look_up_all(|root| match *root {
            "/read/1" => Err(ErrorCode::NoEntry),
            root => Ok(root),
        });
        let found: Vec<_> = found.unwrap().into_iter().map(|one| one.object).collect();
        assert_eq!(found, ["/read/0", "/read/2"]);
        let absent = roots.look_up_all(|_| -> Result<(), _> { Err(ErrorCode::NoEntry) });
        assert_eq!(absent, Err(Miss::Absent));
        let refused = roots.look_up_all(|root| match *root {
            "/read/2" => Err(ErrorCode::NotPermitted),
            _ => Ok(()),
        });
        assert_eq!(refused, Err(Miss::Refused(ErrorCode::NotPermitted)));
    }

    #[test]
    fn one_root_can_be_named_if_it_is_readable() {
        let named = |root| roots(&["/read/0", "/read/1", "/write"]).only(root);
        assert_eq!(named(None).unwrap().directories.len(), 3);
        assert_eq!(named(Some("/read/1")).unwrap().directories.len(), 1);
        for root in ["/write", "/read/2", "docs", ""] {
            assert_eq!(named(Some(root)).err().unwrap().code, "invalid-arguments");
        }
    }

    #[test]
    fn the_write_root_is_never_asked_for_reading() {
        let answer = roots(&["/write"]).look_up(|_| Ok(()));
        assert_eq!(answer, Err(Miss::NotGranted));
        let Error::Tool(failure) = Miss::NotGranted.into() else {
            panic!("the host was blamed for a missing grant");
        };
        assert_eq!(failure.code, "not-granted");
    }

    #[test]
    fn without_a_write_root_nothing_is_writable() {
        assert!(roots(&["/read/0"]).writable().is_err());
        assert_eq!(roots(&["/read/0", "/write"]).writable(), Ok(&"/write"));
    }
}
