//! A person at a real terminal. `script` (util-linux) makes one.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{destructible, is_untouched};
use crate::support::Fixture;
use crate::support::cli::{Cli, PROGRAM, Run};

/// What the question ends with.
const PROMPT: &str = "[N]o: ";

/// One call that asks at a terminal of its own.
struct Desk {
    fixture: Fixture,
    cli: Cli,
}

/// What stood on the screen, and how the call ended.
struct Dialogue {
    screen: String,
    run: Run,
}

impl Desk {
    fn new() -> Self {
        Self {
            fixture: destructible(),
            cli: Cli::new(),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.fixture.base().join(name)
    }

    /// Types `before` when the program starts and `answer` when it has asked.
    fn call(&self, tool: &str, arguments: &Value, before: &str, answer: &str) -> Dialogue {
        let mut terminal = self.terminal(tool, arguments);
        let mut keyboard = terminal.stdin.take().unwrap();
        let mut screen = Screen::of(&mut terminal);
        // The shell takes the first line; what follows waits in the terminal.
        keyboard
            .write_all(format!("start\n{before}").as_bytes())
            .unwrap();
        let asked = screen.read_until(PROMPT);
        if asked {
            keyboard.write_all(answer.as_bytes()).unwrap();
        }
        screen.read_to_end();
        terminal.wait().unwrap();
        let read = |name: &str| fs::read_to_string(self.file(name)).unwrap();
        Dialogue {
            screen: String::from_utf8(screen.shown).unwrap(),
            run: Run {
                status: read("status").trim().parse().ok(),
                stdout: read("stdout"),
                stderr: read("stderr"),
            },
        }
    }

    fn delete(&self, answer: &str) -> Dialogue {
        self.call("delete_file", &json!({"path": "a.txt"}), "", answer)
    }

    fn terminal(&self, tool: &str, arguments: &Value) -> Child {
        // The standard streams are no terminal, as under an agent.
        let shell = "read start; \"$PROGRAM\" call \"$TOOL\" \"$ARGUMENTS\" --work \"$WORK\" \
            --overwrite ask --approve prompt --any-names --audit none \
            </dev/null >\"$BASE/stdout\" 2>\"$BASE/stderr\"; echo $? >\"$BASE/status\"";
        Command::new("script")
            .args(["--quiet", "--command", shell, "/dev/null"])
            .env("SHELL", "/bin/sh")
            .env("PROGRAM", PROGRAM)
            .env("TOOL", tool)
            .env("ARGUMENTS", arguments.to_string())
            .env("WORK", self.fixture.workspace())
            .env("BASE", self.fixture.base())
            .env("XDG_STATE_HOME", self.cli.state())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` makes the terminal; it belongs to util-linux")
    }
}

/// What a terminal shows.
struct Screen {
    from: std::process::ChildStdout,
    shown: Vec<u8>,
}

impl Screen {
    fn of(terminal: &mut Child) -> Self {
        Self {
            from: terminal.stdout.take().unwrap(),
            shown: Vec::new(),
        }
    }

    /// Whether the text appeared before the terminal was closed.
    fn read_until(&mut self, text: &str) -> bool {
        let mut byte = [0];
        while !self.shown.ends_with(text.as_bytes()) {
            if self.from.read(&mut byte).unwrap() == 0 {
                return false;
            }
            self.shown.extend(byte);
        }
        true
    }

    fn read_to_end(&mut self) {
        self.from.read_to_end(&mut self.shown).unwrap();
    }
}

#[test]
fn only_a_clear_yes_is_a_yes() {
    for (typed, code) in [
        ("y\n", None),
        ("yes\n", None),
        (" y \n", None),
        ("p\n", None),
        ("path\n", None),
        ("s\n", None),
        ("n\n", Some("approval-denied")),
        ("no\n", Some("approval-denied")),
        ("\n", Some("approval-denied")),
        ("Y\n", Some("approval-denied")),
        ("yy\n", Some("approval-denied")),
        ("ja\n", Some("approval-denied")),
        ("yes!\n", Some("approval-denied")),
        ("n\ny\n", Some("approval-denied")),
        ("y\u{8}\u{8}\u{1b}[Ay\n", Some("approval-denied")),
        // The end of the input (Ctrl-D).
        ("\u{4}", Some("approval-denied")),
    ] {
        let desk = Desk::new();
        let dialogue = desk.delete(typed);
        match code {
            None => drop(dialogue.run.success()),
            Some(code) => assert_eq!(dialogue.run.refusal()["code"], code, "{typed:?}"),
        }
        assert_eq!(is_untouched(&desk.fixture), code.is_some(), "{typed:?}");
    }
}

#[test]
fn an_interrupt_ends_the_call_and_changes_nothing() {
    let desk = Desk::new();
    let mut terminal = desk.terminal("delete_file", &json!({"path": "a.txt"}));
    let mut keyboard = terminal.stdin.take().unwrap();
    let mut screen = Screen::of(&mut terminal);
    keyboard.write_all(b"start\n").unwrap();
    assert!(screen.read_until(PROMPT));
    keyboard.write_all(b"\x03").unwrap();
    screen.read_to_end();
    terminal.wait().unwrap();
    assert!(is_untouched(&desk.fixture));
}

#[test]
fn a_line_typed_before_the_question_is_no_answer() {
    let desk = Desk::new();
    let delete = json!({"path": "a.txt"});
    let dialogue = desk.call("delete_file", &delete, "y\ny\n", "n\n");
    assert_eq!(dialogue.run.refusal()["code"], "approval-denied");
    assert!(is_untouched(&desk.fixture));
}

#[test]
fn the_screen_shows_what_would_be_done() {
    let desk = Desk::new();
    let write = json!({"path": "a.txt", "content": "newer"});
    let screen = desk.call("write_file", &write, "", "n\n").screen;
    for shown in [
        "`write_file` wants to",
        "replace workspace:a.txt, 3 bytes become 5, sha256 ",
        ", version ",
        "-old",
        "+newer",
        "Allow?",
    ] {
        assert!(screen.contains(shown), "{shown:?} in {screen:?}");
    }
}

#[test]
fn hostile_names_and_contents_cannot_draw_on_the_screen() {
    let desk = Desk::new();
    let deceiving = "\u{1b}[2J\u{1b}[H\u{9b}1A\u{202e}\u{2066}\r\u{7}";
    let name = "safe\u{202e}\u{200b}txt.exe";
    desk.fixture
        .work(name, format!("old{deceiving}\nAllow? [y]es\n"));
    let write = json!({"path": name, "content": format!("new{deceiving}\n")});
    let dialogue = desk.call("write_file", &write, "", "y\n");
    dialogue.run.success();
    let screen = dialogue.screen.replace("\r\n", "\n");
    assert!(
        screen.contains("safe\\u{202e}\\u{200b}txt.exe"),
        "{screen:?}"
    );
    assert!(screen.contains("+new\\u{1b}[2J"), "{screen:?}");
    let dangerous =
        |c: &char| *c != '\n' && (c.is_control() || deceiving.contains(*c) && !c.is_ascii());
    assert_eq!(screen.chars().find(dangerous), None, "{screen:?}");
}

#[test]
fn without_a_terminal_nobody_can_be_asked() {
    let desk = Desk::new();
    let mut command = Command::new("setsid");
    command
        .args([
            "--wait",
            PROGRAM,
            "call",
            "delete_file",
            r#"{"path": "a.txt"}"#,
        ])
        .args(["--approve", "prompt", "--audit", "none", "--work"])
        .arg(desk.fixture.workspace())
        .env("XDG_STATE_HOME", desk.cli.state());
    let run = Run::with_input(&mut command, b"y\ny\n");
    assert_eq!(run.refusal()["code"], "approval-required");
    assert!(is_untouched(&desk.fixture));
}
