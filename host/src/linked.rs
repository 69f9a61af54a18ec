//! Other names of this crate's own files: a hard link inside a root would be a way to them.
//!
//! Where files have one name, nothing is looked through. Tools cannot make links, nor change the
//! content of a file with several names; what is kept from them here is reading.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Dir, Mode, OFlags};

use crate::ambient;
use crate::roots::{Root, Roots};
use crate::walk::{self, Kind, ObjectId};

/// Objects that are looked at before the search is given up, as in `check --look-inside`.
const MAX_LOOKED_AT: u64 = 100_000;
/// How long it takes at most: nobody waits longer for a start.
const PATIENCE: Duration = Duration::from_secs(5);

/// A file that no tool may reach, with more names than the one that is known.
#[derive(Debug)]
pub(crate) struct Linked {
    path: PathBuf,
    id: ObjectId,
    reason: &'static str,
}

/// What came of the search.
#[derive(Debug)]
pub(crate) enum Search<'r> {
    Nowhere,
    /// This root holds one of the names.
    Within(&'r Root, &'static str),
    /// There was too much to look through. In words for the operator.
    GivenUp(String),
}

impl Linked {
    /// The file, if it is there and has several names.
    pub(crate) fn of(path: &Path, reason: &'static str) -> Option<Self> {
        let (id, names) = ambient::names_of_file(path)?;
        (names > 1).then(|| Self {
            path: path.to_owned(),
            id,
            reason,
        })
    }
}

/// Looks for the other names of files in all roots.
pub(crate) fn search<'r>(files: &[Linked], roots: &'r Roots) -> Search<'r> {
    let Some(first) = files.first() else {
        return Search::Nowhere;
    };
    let mut looking = Looking {
        files,
        left: MAX_LOOKED_AT,
        until: Instant::now() + PATIENCE,
    };
    for root in roots.iter() {
        match looking.through(root) {
            Ok(None) => {}
            Ok(Some(found)) => return Search::Within(root, found.reason),
            Err(GivenUp) => {
                return Search::GivenUp(format!(
                    "`{}` has more than one name, and the granted directories hold too much to be looked through for the others: a tool that finds one can read it",
                    first.path.display()
                ));
            }
        }
    }
    Search::Nowhere
}

struct GivenUp;

/// The search, under way.
struct Looking<'a> {
    files: &'a [Linked],
    left: u64,
    until: Instant,
}

impl<'a> Looking<'a> {
    fn through(&mut self, root: &Root) -> Result<Option<&'a Linked>, GivenUp> {
        // Directories that are still to be looked into, by their paths from the root.
        let mut waiting = vec![".".to_owned()];
        while let Some(path) = waiting.pop() {
            if let Some(found) = self.directory(root, &path, &mut waiting)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// What cannot be listed or named here cannot be reached by a tool either.
    fn directory(
        &mut self,
        root: &Root,
        path: &str,
        waiting: &mut Vec<String>,
    ) -> Result<Option<&'a Linked>, GivenUp> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let opened = walk::open(
            root.handle.as_fd(),
            path,
            root.boundary,
            flags,
            Mode::empty(),
        );
        let Ok(directory) = opened else {
            return Ok(None);
        };
        let Ok(entries) = Dir::read_from(&directory) else {
            return Ok(None);
        };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if matches!(name, "." | "..") {
                continue;
            }
            if self.left == 0 || Instant::now() >= self.until {
                return Err(GivenUp);
            }
            self.left -= 1;
            let Ok(stat) = walk::look(directory.as_fd(), name) else {
                continue;
            };
            let id = ObjectId::of(&stat);
            match Kind::of(&stat) {
                Kind::Directory => waiting.push(format!("{path}/{name}")),
                Kind::File => {
                    if let Some(found) = self.files.iter().find(|file| file.id == id) {
                        return Ok(Some(found));
                    }
                }
                Kind::Symlink | Kind::Special => {}
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the tests need directories and files with several names"
)]
mod tests {
    use std::fs;

    use super::*;
    use crate::roots::Rights;
    use crate::walk::Boundary;

    fn root_at(path: &Path) -> Roots {
        let (handle, id) = ambient::open_ambient_directory(path).unwrap();
        let mut roots = Roots::default();
        let handle = handle.into();
        roots.push("root".into(), Rights::Read, Boundary::Beneath, handle, id);
        roots
    }

    #[test]
    fn a_file_with_one_name_is_not_looked_for() {
        let base = tempfile::tempdir().unwrap();
        fs::write(base.path().join("one"), "").unwrap();
        assert!(Linked::of(&base.path().join("one"), "").is_none());
        assert!(Linked::of(&base.path().join("absent"), "").is_none());
        assert!(Linked::of(base.path(), "").is_none());
    }

    #[test]
    fn the_search_ends_at_its_bounds_and_finds_what_is_within_them() {
        let base = tempfile::tempdir().unwrap();
        let (own, root) = (base.path().join("own"), base.path().join("root"));
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(&own, "").unwrap();
        fs::hard_link(&own, root.join("a/b/other")).unwrap();
        let roots = root_at(&root);
        let files: Vec<Linked> = Linked::of(&own, "reason").into_iter().collect();
        assert!(matches!(
            search(&files, &roots),
            Search::Within(_, "reason")
        ));
        for (left, is_found) in [(2, None), (3, Some(true))] {
            let mut looking = Looking {
                files: &files,
                left,
                until: Instant::now() + PATIENCE,
            };
            let found = looking.through(roots.iter().next().unwrap());
            assert_eq!(found.ok().map(|found| found.is_some()), is_found, "{left}");
        }
        let mut late = Looking {
            files: &files,
            left: MAX_LOOKED_AT,
            until: Instant::now(),
        };
        assert!(late.through(roots.iter().next().unwrap()).is_err());
    }
}
