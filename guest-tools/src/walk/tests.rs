//! Walks through trees that are made up.

use super::*;
use std::collections::BTreeMap;

/// A file's content, a directory, or what the host refuses.
#[derive(Clone)]
enum Node {
    File(&'static str),
    Directory(Tree),
    Link,
    Refused(ErrorCode),
}

#[derive(Clone, Default)]
struct Tree(BTreeMap<String, Node>);

impl Tree {
    /// A tree from paths: `a/b=text` is a file, `a/` a directory, `a@` a link, `a!` a
    /// directory that is refused.
    fn new(paths: &[&'static str]) -> Self {
        let mut tree = Self::default();
        for path in paths {
            tree.add(path);
        }
        tree
    }

    fn add(&mut self, path: &'static str) {
        let (name, rest) = match path.split_once('/') {
            Some((name, rest)) if !name.contains('=') => (name, rest),
            _ => {
                let (name, content) = path.split_once('=').unwrap_or((path, ""));
                let node = match name.chars().last() {
                    Some('@') => Node::Link,
                    Some('!') => Node::Refused(ErrorCode::Access),
                    _ => Node::File(content),
                };
                self.0
                    .insert(name.trim_end_matches(['@', '!']).to_owned(), node);
                return;
            }
        };
        let empty = || Node::Directory(Self::default());
        if let Node::Directory(inner) = self.0.entry(name.to_owned()).or_insert_with(empty)
            && !rest.is_empty()
        {
            inner.add(rest);
        }
    }
}

impl Folder for Tree {
    fn entries(&self) -> Result<Entries, ErrorCode> {
        let mut entries = Entries::default();
        for (name, node) in &self.0 {
            // `?` stands for a byte that makes a name unusable.
            let name = match name.contains('?') {
                true => format!("\0{name}"),
                false => name.clone(),
            };
            let kind = match node {
                Node::File(_) => DescriptorType::RegularFile,
                Node::Directory(_) | Node::Refused(_) => DescriptorType::Directory,
                Node::Link => DescriptorType::SymbolicLink,
            };
            entries.push(&name, kind);
        }
        Ok(entries)
    }

    fn enter(&self, name: &str) -> Result<Self, ErrorCode> {
        match self.0.get(name) {
            Some(Node::Directory(tree)) => Ok(tree.clone()),
            Some(Node::Refused(code)) => Err(*code),
            Some(_) => Err(ErrorCode::NotDirectory),
            None => Err(ErrorCode::NoEntry),
        }
    }

    fn read_rules(&self, path: &str) -> Result<Vec<u8>, ErrorCode> {
        match self.0.get(path) {
            Some(Node::File(content)) => Ok(content.replace("\\n", "\n").into_bytes()),
            _ => Err(ErrorCode::NoEntry),
        }
    }
}

const ALL: Options = Options {
    depth: 10,
    hidden: true,
    gitignore: false,
};

fn start(tree: &Tree) -> Start<Tree> {
    Start {
        folder: tree.clone(),
        root: "/read/0".to_owned(),
        prefix: String::new(),
        rules_above: Vec::new(),
    }
}

/// A page of at most `limit` paths, and where it ended.
fn page(
    tree: &Tree,
    options: Options,
    place: Place<'_>,
    limit: usize,
    skipped: &mut Skipped,
) -> (Vec<String>, Option<Position>) {
    let mut walk = Walk::begin(start(tree), options, place, skipped).unwrap();
    let mut paths = Vec::new();
    let ended = walk.run(skipped, |visit, _| {
        if paths.len() == limit {
            return ControlFlow::Break(());
        }
        paths.push(visit.path.to_owned());
        ControlFlow::Continue(())
    });
    (paths, ended.break_value())
}

fn whole(tree: &Tree, options: Options) -> (Vec<String>, Skipped) {
    let mut skipped = Skipped::default();
    let place = Place::Behind(&Position::default());
    let (paths, _) = page(tree, options, place, usize::MAX, &mut skipped);
    (paths, skipped)
}

#[test]
fn entries_come_in_the_order_of_their_components() {
    let tree = Tree::new(&["a.b", "a/x", "a/y/z", "a-b", "b@"]);
    let (paths, skipped) = whole(&tree, ALL);
    assert_eq!(paths, ["a", "a/x", "a/y", "a/y/z", "a-b", "a.b", "b"]);
    assert_eq!(skipped, Skipped::default());
}

#[test]
fn what_is_left_out_is_counted() {
    let paths = [
        ".gitignore=*.log\\nbuild/\\n!keep.log",
        ".hidden/x",
        ".git/config",
        "a.log",
        "build/a/b",
        "d/.gitignore=!a.log\\nx",
        "d/a.log",
        "d/b.log",
        "d/x/y",
        "keep.log",
        "locked!",
    ];
    let tree = Tree::new(&paths);
    let options = Options {
        gitignore: true,
        ..ALL
    };
    let (found, skipped) = whole(&tree, options);
    let expected = [
        ".gitignore",
        ".hidden",
        ".hidden/x",
        "d",
        "d/.gitignore",
        "d/a.log",
        "keep.log",
        "locked",
    ];
    assert_eq!(found, expected);
    assert_eq!((skipped.ignored, skipped.denied), (5, 1));
    let options = Options {
        hidden: false,
        ..options
    };
    let (found, skipped) = whole(&tree, options);
    assert_eq!(found, ["d", "d/a.log", "keep.log", "locked"]);
    assert_eq!((skipped.ignored, skipped.hidden), (4, 4));
}

#[test]
fn a_walk_ends_at_its_depth_and_says_so() {
    let tree = Tree::new(&["a/b/c/d", "a/x", "y"]);
    for (depth, found, too_deep) in [
        (1, &["a", "y"][..], 1),
        (2, &["a", "a/b", "a/x", "y"], 1),
        (3, &["a", "a/b", "a/b/c", "a/x", "y"], 1),
        (4, &["a", "a/b", "a/b/c", "a/b/c/d", "a/x", "y"], 0),
    ] {
        let (paths, skipped) = whole(&tree, Options { depth, ..ALL });
        assert_eq!(
            (&*paths, skipped.too_deep),
            (
                &found
                    .iter()
                    .map(|path| (*path).to_owned())
                    .collect::<Vec<_>>()[..],
                too_deep
            )
        );
    }
}

/// Trees with everything in them that a position has to get past.
fn trees() -> Vec<Tree> {
    vec![
        Tree::new(&[]),
        Tree::new(&[
            "?", "a/?1", "a/?2", "a/b", "a/z?", "b/", "c!", "c?1", "c?2", "d/e/f/g", "x?",
        ]),
        Tree::new(&[
            ".gitignore=ignored\\n*.o",
            ".hidden/a",
            "a/ignored/b",
            "a/x.o",
            "a/x.c",
            "a.b/c",
            "b/.gitignore=!x.o",
            "b/x.o",
            "empty/",
            "ignored",
            "locked!",
            "locked2!",
            "z@",
        ]),
    ]
}

#[test]
fn pages_put_together_are_the_whole() {
    for tree in trees() {
        for options in [
            ALL,
            Options {
                depth: 2,
                hidden: false,
                gitignore: true,
            },
            Options {
                depth: 3,
                hidden: true,
                gitignore: true,
            },
        ] {
            let (all, counts) = whole(&tree, options);
            for limit in 1..=all.len() + 1 {
                let (mut seen, mut skipped) = (Vec::new(), Skipped::default());
                let mut position = Position::default();
                loop {
                    let place = Place::Behind(&position);
                    let (paths, next) = page(&tree, options, place, limit, &mut skipped);
                    seen.extend(paths);
                    let Some(next) = next else { break };
                    position = next.to_string().parse().unwrap();
                }
                assert_eq!(seen, all, "{limit}");
                assert_eq!(
                    serde_json::to_string(&skipped).unwrap(),
                    serde_json::to_string(&counts).unwrap()
                );
                assert_eq!(skipped.ignored, counts.ignored);
            }
        }
    }
}

#[test]
fn a_position_outlives_what_it_names() {
    let tree = Tree::new(&["a/b", "b/c", "d"]);
    for (path, rest) in [
        ("a/a", &["a/b", "b", "b/c", "d"][..]),
        ("a/c", &["b", "b/c", "d"]),
        ("aa/x/y", &["b", "b/c", "d"]),
        ("b/c/now/a/directory", &["d"]),
        ("d/x", &[]),
        ("z", &[]),
    ] {
        let position = path.parse().unwrap();
        let place = Place::Behind(&position);
        let (paths, _) = page(&tree, ALL, place, 99, &mut Skipped::default());
        assert_eq!(paths, rest, "{path}");
    }
}

#[test]
fn a_walk_can_begin_with_the_entry_itself_if_it_is_there() {
    let tree = Tree::new(&["a/b", "a/d"]);
    for (path, rest) in [("a/b", &["a/b", "a/d"][..]), ("a/c", &["a/d"])] {
        let position = path.parse().unwrap();
        let place = Place::At(&position);
        let (paths, _) = page(&tree, ALL, place, 99, &mut Skipped::default());
        assert_eq!(paths, rest, "{path}");
    }
}
