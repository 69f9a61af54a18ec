//! Random paths, layouts, operations and arguments, against what the system itself does.
//!
//! A bounded run is part of every test run; `CONTRIBUTING.md` has the command of a long one.
//! What it finds becomes a row of a table.

mod raw;
mod rebuilt;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rootbound::{Consent, Durability, Session};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded};

fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: cases.map_or(150, |text| text.parse().unwrap()),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn session_over(root: &Path) -> Recorded {
    Recorded::build(
        Session::builder()
            .work_root(root)
            .overwrite(Consent::Allow)
            .delete(Consent::Allow)
            .durability(Durability::Fast),
    )
}

/// Short paths over few names, so that they often mean something.
fn path() -> impl Strategy<Value = String> {
    let step = prop_oneof![
        3 => Just("a"),
        3 => Just("b"),
        2 => Just("l"),
        2 => Just("m"),
        2 => Just(".."),
        1 => Just("."),
        1 => Just(""),
    ];
    prop::collection::vec(step, 1..6).prop_map(|steps| steps.join("/"))
}

/// Paths of anything: what other systems take for separators, roots, devices and streams,
/// characters that nobody sees, and whatever chance adds.
fn any_path() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => path(),
        1 => prop::sample::select(vec![
            "/", "//", "\\", "\\\\?\\", "..", "...", "~", "~a", "C:", "file://", "CON", "nul.txt",
            "COM\u{b9}", "b:x", "b::$DATA", "b ", "b.", "B", "\0", "\n", "\u{85}", "\u{202e}",
            "\u{2215}", "\u{ff0f}", "\u{2024}\u{2024}", "%2e%2e", "%2f", "$HOME", "*", "'", "\"",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => Just("n".repeat(256)),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

/// A link at one of two places, leading anywhere: up, out, in a circle, absolute.
fn target() -> impl Strategy<Value = String> {
    let absolute = Just("/etc/hostname".to_owned());
    let out = Just("../../outside/secret".to_owned());
    prop_oneof![6 => path().prop_filter("a link leads somewhere", |path| !path.is_empty()), 1 => absolute, 1 => out]
}

fn lay_out(fixture: &Fixture, links: &[(String, String)]) -> PathBuf {
    let root = fixture.workspace();
    fs::write(fixture.outside().join("secret"), "secret").unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("b"), "b").unwrap();
    fs::write(root.join("a/a"), "aa").unwrap();
    fs::write(root.join("a/b/b"), "abb").unwrap();
    for (at, target) in links {
        let _ = symlink(target, root.join(at));
    }
    root
}

fn links() -> impl Strategy<Value = Vec<(String, String)>> {
    let place = prop_oneof![
        Just("l".to_owned()),
        Just("m".to_owned()),
        Just("a/l".to_owned()),
        Just("a/b/m".to_owned()),
    ];
    prop::collection::vec((place, target()), 0..4)
}

proptest! {
    #![proptest_config(cases())]

    /// Whatever can be read lies inside, and is what the system finds there.
    #[test]
    fn a_read_never_answers_with_what_lies_outside(links in links(), path in path()) {
        let fixture = Fixture::new();
        let root = lay_out(&fixture, &links);
        let recorded = session_over(&root);
        if let Ok(output) = recorded.call("read_file", json!({"path": path})) {
            let real = fs::canonicalize(root.join(&path)).unwrap();
            prop_assert!(real.starts_with(fs::canonicalize(&root).unwrap()), "{}", real.display());
            let content = fs::read_to_string(real).unwrap();
            prop_assert_eq!(output.text(), Some(content.as_str()));
        }
    }

    /// Without links that leave, the system's answer is ours.
    #[test]
    fn reading_inside_is_what_the_system_does(path in path()) {
        let fixture = Fixture::new();
        let root = lay_out(&fixture, &[("l".into(), "a/b".into()), ("a/m".into(), "../b".into())]);
        let recorded = session_over(&root);
        let native = fs::read_to_string(root.join(&path)).ok();
        let real = fs::canonicalize(root.join(&path)).ok();
        let inside = real.is_some_and(|real| real.starts_with(fs::canonicalize(&root).unwrap()));
        match recorded.call("read_file", json!({"path": path})) {
            Ok(output) => prop_assert_eq!(output.text().map(str::to_owned), native),
            Err(error) if native.is_some() && inside => {
                // The kernel would let a walk leave and come back; ours ends at the edge.
                prop_assert!(matches!(error.code(), "escape" | "invalid-path"), "{} {:?}", path, error);
            }
            Err(_) => {}
        }
    }

    /// No change lands outside, and none changes what it was not about.
    #[test]
    fn a_change_never_lands_outside(links in links(), operations in operations()) {
        let fixture = Fixture::new();
        let root = lay_out(&fixture, &links);
        let recorded = session_over(&root);
        for operation in &operations {
            let (tool, arguments) = operation.call();
            let _ = recorded.call(tool, arguments);
        }
        let outside: Vec<_> = fs::read_dir(fixture.outside()).unwrap().collect();
        prop_assert_eq!(outside.len(), 1);
        prop_assert_eq!(fs::read_to_string(fixture.outside().join("secret")).unwrap(), "secret");
        prop_assert_eq!(fs::read_dir(fixture.base()).unwrap().count(), 3);
    }

    /// The same operations, confined and native, make the same tree.
    #[test]
    fn operations_make_the_tree_that_the_system_makes(operations in operations()) {
        let (ours, theirs) = (Fixture::new(), Fixture::new());
        let recorded = session_over(&lay_out(&ours, &[]));
        let native = lay_out(&theirs, &[]);
        for operation in operations.iter().filter(|operation| operation.is_plain()) {
            let (tool, arguments) = operation.call();
            let done = recorded.call(tool, arguments);
            let natively = operation.natively(&native);
            prop_assert_eq!(done.is_ok(), natively, "{:?}: {:?}", operation, done.err());
            prop_assert_eq!(tree(&ours.workspace()), tree(&native), "{:?}", operation);
        }
    }

    /// Whatever a path says, the answer has a documented code or is true.
    #[test]
    fn any_path_gets_a_true_answer_or_a_clear_one(path in any_path()) {
        let fixture = Fixture::new();
        fs::write(fixture.outside().join("secret"), "secret").unwrap();
        let root = lay_out(&fixture, &[("l".into(), "a/b".into()), ("m".into(), "..".into())]);
        let recorded = session_over(&root);
        match recorded.call("file_exists", json!({"path": path})) {
            Ok(output) => {
                let there = fs::metadata(root.join(&path)).is_ok();
                prop_assert_eq!(&output.fields()["exists"], &json!(there), "{:?}", path);
                let real = fs::canonicalize(root.join(&path)).unwrap_or(root.clone());
                prop_assert!(real.starts_with(fs::canonicalize(&root).unwrap()), "{:?}", path);
            }
            Err(error) => {
                let known = ["invalid-path", "escape", "not-a-file", "not-a-directory"];
                prop_assert!(known.contains(&error.code()), "{path:?}: {error}");
                prop_assert_eq!(recorded.entries_of("refusal").len() <= 1, true);
            }
        }
    }

    /// Arguments of any shape get an answer with a documented code, never a trap.
    #[test]
    fn any_arguments_get_a_clear_answer(tool in 0..9_usize, arguments in any_json(3)) {
        let fixture = Fixture::new();
        fixture.input("a", "x");
        let recorded = fixture.session();
        let name = recorded.session.tools().unwrap()[tool].name.clone();
        if let Err(error) = recorded.call(&name, arguments) {
            prop_assert!(!matches!(error.code(), "trapped" | "io"), "{error}");
            prop_assert!(!error.message().is_empty());
        }
        prop_assert_eq!(recorded.entries_of("call").len(), 1);
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Write(String, String),
    Create(String, bool),
    MakeDirectory(String),
    Delete(String, bool),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let content = prop_oneof![
        Just(String::new()),
        Just("x".to_owned()),
        Just("y\n".to_owned())
    ];
    let one = prop_oneof![
        (path(), content).prop_map(|(path, content)| Operation::Write(path, content)),
        (path(), any::<bool>()).prop_map(|(path, overwrite)| Operation::Create(path, overwrite)),
        path().prop_map(Operation::MakeDirectory),
        (path(), any::<bool>()).prop_map(|(path, recursive)| Operation::Delete(path, recursive)),
    ];
    prop::collection::vec(one, 1..6)
}

impl Operation {
    fn path(&self) -> &str {
        match self {
            Self::Write(path, _)
            | Self::Create(path, _)
            | Self::MakeDirectory(path)
            | Self::Delete(path, _) => path,
        }
    }

    /// Spellings that mean the same to us and to the standard library.
    fn is_plain(&self) -> bool {
        let path = self.path();
        !path.starts_with('/')
            && !path.ends_with('/')
            && !path.is_empty()
            && path.split('/').all(|name| name != ".." && name != ".")
    }

    fn call(&self) -> (&'static str, Value) {
        match self {
            Self::Write(path, content) => ("write_file", json!({"path": path, "content": content})),
            Self::Create(path, overwrite) => (
                "create_file",
                json!({"file_path": path, "content": "c", "overwrite": overwrite}),
            ),
            Self::MakeDirectory(path) => ("create_directory", json!({"dir_path": path})),
            Self::Delete(path, recursive) => {
                ("delete_file", json!({"path": path, "recursive": recursive}))
            }
        }
    }

    fn natively(&self, root: &Path) -> bool {
        let path = root.join(self.path());
        let parents = || fs::create_dir_all(path.parent().unwrap()).is_ok();
        match self {
            Self::Write(_, content) => {
                !path.is_dir() && parents() && fs::write(&path, content).is_ok()
            }
            Self::Create(_, overwrite) => {
                let free = !path.exists() || (*overwrite && !path.is_dir());
                free && parents() && fs::write(&path, "c").is_ok()
            }
            Self::MakeDirectory(_) => !path.exists() && fs::create_dir_all(&path).is_ok(),
            Self::Delete(_, recursive) if path.is_dir() => match recursive {
                true => fs::remove_dir_all(&path).is_ok(),
                false => fs::remove_dir(&path).is_ok(),
            },
            Self::Delete(..) => fs::remove_file(&path).is_ok(),
        }
    }
}

/// Every path below a directory, with the content of files.
fn tree(root: &Path) -> Vec<(PathBuf, Option<String>)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let content = path.is_file().then(|| fs::read_to_string(&path).unwrap());
            found.push((path.strip_prefix(root).unwrap().to_owned(), content));
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

fn any_json(depth: u32) -> BoxedStrategy<Value> {
    let name = prop_oneof![
        Just("path".to_owned()),
        Just("content".to_owned()),
        Just("file_path".to_owned()),
        Just("dir_path".to_owned()),
        Just("template".to_owned()),
        Just("variables".to_owned()),
        Just("details".to_owned()),
        Just("overwrite".to_owned()),
        Just("expected_version".to_owned()),
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("a")),
        Just(json!("{{x}}")),
    ];
    leaf.prop_recursive(depth, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
    .boxed()
}
