//! What a command writes where it is told to: whole or not at all, over its like only, and never
//! through a link.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::guest;
use crate::hostile::component::with_listing;
use crate::support::cli::{Cli, PROGRAM, Run};
use crate::support::tree::{Tree, names, tree};

/// A command that writes, and where it writes to.
struct Writer {
    name: &'static str,
    /// The arguments, in which `OUT` stands for the output.
    arguments: &'static [&'static str],
    /// What it may write over, if anything.
    alike: Option<fn() -> Vec<u8>>,
}

fn another_component() -> Vec<u8> {
    with_listing(b'o')
}

fn another_lock() -> Vec<u8> {
    b"lock = 1\n".to_vec()
}

const WRITERS: [Writer; 5] = [
    Writer {
        name: "pack",
        arguments: &["pack", "module.wasm", "--output", "OUT"],
        alike: Some(another_component),
    },
    Writer {
        name: "manifest add",
        arguments: &["manifest", "add", "tool.wasm", "m.json", "--output", "OUT"],
        alike: Some(another_component),
    },
    Writer {
        name: "lock",
        arguments: &["lock", "--component", "tool.wasm", "--lock", "OUT"],
        alike: Some(another_lock),
    },
    Writer {
        name: "audit keygen",
        arguments: &["audit", "keygen", "OUT"],
        alike: None,
    },
    Writer {
        name: "new",
        arguments: &["new", "out"],
        alike: None,
    },
];

/// A directory with what the commands read, and one in it for what they write.
struct Desk {
    cli: Cli,
    outputs: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let cli = Cli::new();
        guest::file(cli.state(), "tool.wasm", guest::plain());
        guest::file(cli.state(), "module.wasm", guest::module());
        guest::file(cli.state(), "m.json", br#"{"manifest":1,"read":true}"#);
        let outputs = cli.state().join("outputs");
        fs::create_dir(&outputs).unwrap();
        Self { cli, outputs }
    }

    fn output(&self) -> PathBuf {
        self.outputs.join("out")
    }

    /// `new` makes its directory where it is; the others are told where.
    fn run(&self, writer: &Writer) -> Run {
        let output = self.output();
        let arguments = writer.arguments.iter().map(|argument| match *argument {
            "OUT" => output.as_os_str().to_owned(),
            input if input.contains('.') => self.cli.state().join(input).into_os_string(),
            word => word.into(),
        });
        let mut command = self.cli.command(arguments);
        Run::of(command.current_dir(&self.outputs))
    }

    fn refuses(&self, writer: &Writer, what: &str) {
        let before: Tree = tree(&self.outputs);
        let run = self.run(writer);
        let (name, said) = (writer.name, &run.stderr);
        assert_eq!(run.status, Some(2), "{name}: {what}: {run:?}");
        assert_eq!(said.lines().count(), 1, "{name}: {what}: {said}");
        assert_eq!(tree(&self.outputs), before, "{name}: {what}");
    }
}

#[test]
fn where_nothing_is_it_is_written_with_nothing_beside_it() {
    for writer in &WRITERS {
        let desk = Desk::new();
        let run = desk.run(writer);
        assert_eq!(run.status, Some(0), "{}: {run:?}", writer.name);
        let made = names(&desk.outputs);
        let beside = |name: &&String| *name != "out" && !name.starts_with("out/");
        assert_eq!(made.iter().find(beside), None, "{}", writer.name);
    }
}

#[test]
fn what_is_something_else_stays_as_it_is() {
    type Obstacle = (&'static str, fn(&Path));
    let obstacles: [Obstacle; 6] = [
        ("a text", |out| fs::write(out, "my thesis").unwrap()),
        ("a module", |out| {
            fs::write(out, b"\0asm\x01\0\0\0").unwrap()
        }),
        ("a directory", |out| fs::create_dir(out).unwrap()),
        ("a pipe", crate::support::pipe),
        ("a dangling link", |out| symlink("nowhere", out).unwrap()),
        ("a link to what may go", |out| {
            let like = out.with_file_name("like");
            fs::write(&like, "").unwrap();
            symlink(like, out).unwrap();
        }),
    ];
    for writer in &WRITERS {
        for (what, put) in obstacles {
            let desk = Desk::new();
            put(&desk.output());
            desk.refuses(writer, what);
        }
    }
}

#[test]
fn one_kind_of_file_is_not_written_over_another() {
    for writer in &WRITERS {
        for (what, bytes) in [
            ("a lock", another_lock()),
            ("a component", another_component()),
        ] {
            if writer.alike.is_some_and(|alike| alike() == bytes) {
                continue;
            }
            let desk = Desk::new();
            fs::write(desk.output(), bytes).unwrap();
            desk.refuses(writer, what);
        }
    }
}

#[test]
fn its_like_and_an_empty_file_are_written_over_and_keep_their_permissions() {
    for writer in &WRITERS {
        let Some(alike) = writer.alike else { continue };
        for old in [alike(), Vec::new()] {
            let desk = Desk::new();
            let output = desk.output();
            fs::write(&output, &old).unwrap();
            fs::set_permissions(&output, Permissions::from_mode(0o640)).unwrap();
            let run = desk.run(writer);
            assert_eq!(run.status, Some(0), "{}: {run:?}", writer.name);
            assert_ne!(fs::read(&output).unwrap(), old, "{}", writer.name);
            let mode = fs::metadata(&output).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o640, "{}", writer.name);
            assert_eq!(names(&desk.outputs), ["out"], "{}", writer.name);
        }
    }
}

#[test]
fn a_key_takes_the_place_of_nothing_and_is_closed_to_others() {
    let desk = Desk::new();
    let keygen = WRITERS.iter().find(|it| it.name == "audit keygen").unwrap();
    fs::write(desk.output(), "").unwrap();
    desk.refuses(keygen, "an empty file");
    fs::remove_file(desk.output()).unwrap();
    assert_eq!(desk.run(keygen).status, Some(0));
    let mode = fs::metadata(desk.output()).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    desk.refuses(keygen, "a key");
}

#[test]
fn what_cannot_be_written_leaves_nothing() {
    for writer in WRITERS.iter().filter(|writer| writer.name != "new") {
        let desk = Desk::new();
        let before = tree(&desk.outputs);
        for output in ["outputs/none/out", "outputs/", ".."] {
            let arguments = writer.arguments.iter().map(|word| match *word {
                "OUT" => output,
                word => word,
            });
            let mut command = desk.cli.command(arguments);
            let run = Run::of(command.current_dir(desk.cli.state()));
            assert_eq!(run.status, Some(2), "{}: {output}: {run:?}", writer.name);
        }
        assert_eq!(tree(&desk.outputs), before, "{}", writer.name);
    }
}

/// Kills the program before the `nth` system call of a name, and says whether it came so far.
fn killed_at(program: &mut Command, call: &str, nth: usize) -> bool {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e"]);
    strace.arg(format!("trace={call}")).arg("-e");
    strace.arg(format!("inject={call}:signal=KILL:when={nth}"));
    strace.arg(program.get_program()).args(program.get_args());
    let variables = program.get_envs();
    strace.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    let run = strace.output();
    let run = run.expect("`scripts/test-prerequisites` installs strace");
    !run.status.success()
}

#[test]
fn killed_at_any_step_a_lock_is_old_or_new() {
    let desk = Desk::new();
    let output = desk.output();
    let lock = WRITERS.iter().find(|it| it.name == "lock").unwrap();
    // The component is compiled and kept, so that later runs write nothing but the lock.
    assert_eq!(desk.run(lock).status, Some(0));
    let new = fs::read(&output).unwrap();
    let old = another_lock();
    let (mut kept, mut replaced) = (0, 0);
    for call in ["write", "fchmod", "fsync", "/^renameat2?$", "exit_group"] {
        for nth in 1.. {
            fs::write(&output, &old).unwrap();
            let mut command = Command::new(PROGRAM);
            command.arg("lock").arg("--component");
            command.arg(desk.cli.state().join("tool.wasm"));
            command.arg("--lock").arg(&output);
            let isolated = desk.cli.command([""; 0]);
            let variables = isolated.get_envs();
            command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
            if !killed_at(&mut command, call, nth) {
                break;
            }
            let found = fs::read(&output).unwrap();
            assert!(found == old || found == new, "{call} {nth}: {found:?}");
            kept += usize::from(found == old);
            replaced += usize::from(found == new);
        }
    }
    assert!(kept > 2 && replaced > 0, "{kept} {replaced}");
}
