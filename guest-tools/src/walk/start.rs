//! Where walks start: a path in one root or in all that have it.

use super::Folder;
use super::ignoring::FILES;
use crate::files::{Descriptor, Found, Roots, open_directory};
use crate::tool::Error;

/// The directory that a walk starts from.
pub(crate) struct Start<F = Descriptor> {
    pub(super) folder: F,
    /// The preopen name of its root.
    pub(crate) root: String,
    /// The directory's path from the root with a `/` at its end; empty for the root itself.
    pub(super) prefix: String,
    /// The rules of the directories above it, each with the length of its path.
    pub(super) rules_above: Vec<(usize, Vec<Vec<u8>>)>,
}

impl Start {
    /// A walk from a directory that was found by `path`.
    pub(crate) fn at(found: Found<Descriptor>, path: &str, roots: &Roots, gitignore: bool) -> Self {
        let prefix = prefix_of(path);
        let root = roots.get(&found.root).filter(|_| gitignore);
        Self {
            folder: found.object,
            rules_above: root.map_or_else(Vec::new, |root| rules_above(root, &prefix)),
            root: found.root,
            prefix,
        }
    }
}

/// The directory in every root that has it.
///
/// # Errors
/// `not-a-directory`; else the host's.
pub(crate) fn directories_at(roots: &Roots, path: &str) -> Result<Vec<Found<Descriptor>>, Error> {
    let found = roots.look_up_all(|root| open_directory(root, path));
    found.map_err(|miss| miss.of_directory(path))
}

/// The path of a directory as the paths of its entries begin.
fn prefix_of(path: &str) -> String {
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    names.flat_map(|name| [name, "/"]).collect()
}

/// Files that cannot be read say nothing: they lie outside what was asked about.
fn rules_above<F: Folder>(root: &F, prefix: &str) -> Vec<(usize, Vec<Vec<u8>>)> {
    // Which directories lie above is plain from the text only where it does not climb.
    if prefix.split('/').any(|name| name == "..") {
        return Vec::new();
    }
    let ends = prefix.match_indices('/').map(|(at, _)| at + 1);
    std::iter::once(0)
        .chain(ends)
        .filter(|end| *end < prefix.len())
        .map(|end| (end, files_of(root, &prefix[..end])))
        .collect()
}

fn files_of<F: Folder>(root: &F, directory: &str) -> Vec<Vec<u8>> {
    let read = |name: &&str| root.read_rules(&format!("{directory}{name}")).ok();
    FILES.iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_join_with_names() {
        for (path, prefix) in [
            (".", ""),
            ("./", ""),
            ("a", "a/"),
            ("./a//b/.", "a/b/"),
            ("a/../b", "a/../b/"),
        ] {
            assert_eq!(prefix_of(path), prefix, "{path}");
        }
    }
}
