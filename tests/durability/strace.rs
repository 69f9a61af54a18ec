//! The program under `strace`, which makes its system calls fail, kills it at one of them,
//! or only writes them down. A missing `strace` fails the test.
//!
//! `strace` counts calls by name and thread. So that the count begins with the tool call and
//! not with the start of the program, the program is held between the two: its session is
//! built, and the warning that it has for the operator does not fit into the pipe that is
//! its standard error.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::cli::Run;

/// What a pipe holds (pipe(7)).
const PIPE_CAPACITY: usize = 65_536;
/// Much longer than the program takes to start.
const PATIENCE: Duration = Duration::from_secs(60);
/// The number of write(2).
const WRITE: &str = if cfg!(target_arch = "x86_64") {
    "1"
} else {
    "64"
};

/// Calls that touch files, and `exit_group`, before which everything is over.
const CALLS: &str = "close,copy_file_range,exit_group,faccessat2,fchmod,fchown,fdatasync,\
    fgetxattr,flistxattr,flock,fsetxattr,fstat,fsync,ftruncate,getdents64,ioctl,linkat,lseek,\
    mkdir,mkdirat,newfstatat,openat,openat2,pread64,pwrite64,read,readlinkat,renameat,renameat2,\
    statx,unlink,unlinkat,write";

/// One system call of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemCall {
    pub name: String,
    /// Which of the calls of this name it is, from 1.
    nth: usize,
    /// As `strace` shows it.
    pub text: String,
}

impl SystemCall {
    /// Whether the call changes something on the disk, or makes a change last.
    pub fn changes(&self) -> bool {
        match &*self.name {
            "openat" => self.text.contains("O_CREAT") || self.text.contains("O_TMPFILE"),
            "ioctl" => self.text.contains("FICLONE"),
            name => {
                let reads = [
                    "close",
                    "exit_group",
                    "faccessat2",
                    "fgetxattr",
                    "flistxattr",
                    "flock",
                    "fstat",
                    "getdents64",
                    "lseek",
                    "newfstatat",
                    "openat2",
                    "pread64",
                    "read",
                    "readlinkat",
                    "statx",
                ];
                !reads.contains(&name)
            }
        }
    }

    /// Lets the call fail.
    pub fn failing(&self, errno: &str) -> Fault {
        self.fault(&format!("error={errno}"))
    }

    /// Kills the program just before the call.
    pub fn killing(&self) -> Fault {
        self.fault("signal=KILL")
    }

    fn fault(&self, what: &str) -> Fault {
        Fault {
            call: self.name.clone(),
            what: vec![format!("{}:{what}:when={}", self.name, self.nth)],
        }
    }
}

/// What `strace` is to do at one call, or at several.
#[derive(Clone, Debug)]
pub struct Fault {
    call: String,
    what: Vec<String>,
}

impl Fault {
    /// At every call of a name.
    pub fn at_every(call: &str, what: &str) -> Self {
        Self::at(call, what, "1+")
    }

    /// At those calls of a name that `when` says, as `strace` takes it.
    pub fn at(call: &str, what: &str, when: &str) -> Self {
        Self {
            call: call.to_owned(),
            what: vec![format!("{call}:{what}:when={when}")],
        }
    }

    /// And something else besides, as `strace` takes it.
    pub fn and(mut self, what: &str) -> Self {
        self.what.push(what.to_owned());
        self
    }
}

/// A program that has built its session and waits before the tool call.
pub struct Held {
    program: Child,
    stderr: PipeReader,
}

impl Held {
    /// Starts a command of which the program is the first process.
    pub fn start(mut command: Command) -> Self {
        let (stderr, mut full) = io::pipe().unwrap();
        full.write_all(&[b'\n'; PIPE_CAPACITY]).unwrap();
        let program = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(full)
            .spawn()
            .unwrap();
        // The command would hold the pipe open.
        drop(command);
        let mut held = Self { program, stderr };
        held.wait_for_the_warning();
        held
    }

    pub fn id(&self) -> u32 {
        self.program.id()
    }

    fn wait_for_the_warning(&mut self) {
        let began = Instant::now();
        let call = format!("/proc/{}/syscall", self.id());
        let waits = format!("{WRITE} 0x2 ");
        while !fs::read_to_string(&call).is_ok_and(|now| now.starts_with(&waits)) {
            let ended = self.program.try_wait().unwrap();
            assert!(ended.is_none(), "the program ended before the call");
            assert!(began.elapsed() < PATIENCE, "the program never warned");
            thread::sleep(Duration::from_micros(500));
        }
    }

    /// Lets the program go on, and waits for its end.
    pub fn go_on(self) -> Run {
        self.go_on_and(|_| ())
    }

    /// Lets the program go on, does something to it, and waits for its end.
    pub fn go_on_and(self, meanwhile: impl FnOnce(&mut Child)) -> Run {
        let Self {
            mut program,
            mut stderr,
        } = self;
        let draining = thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        meanwhile(&mut program);
        let output = program.wait_with_output().unwrap();
        let mut run = Run::from(output);
        run.stderr = draining.join().unwrap();
        run
    }
}

/// What `strace` saw.
pub struct Traced {
    pub run: Run,
    /// The system calls of the tool call and what followed it, in order.
    pub calls: Vec<SystemCall>,
    /// Whether the fault was reached.
    pub struck: bool,
}

/// Runs the tool call of a command with a fault, or with none. Calls of write(2) are counted
/// where they go to the log, so that the answer of the program does not count.
pub fn trace(command: Command, log: &Path, fault: Option<&Fault>) -> Traced {
    trace_and(command, log, fault, |_| ())
}

/// The same, and does something in the meantime.
pub fn trace_and(
    command: Command,
    log: &Path,
    fault: Option<&Fault>,
    meanwhile: impl FnOnce(&mut Child),
) -> Traced {
    let held = Held::start(command);
    let program = held.id();
    let log_descriptor = descriptor_of(program, log);
    let record = tempfile::NamedTempFile::new().unwrap();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-p", &program.to_string(), "-e"]);
    strace.arg(format!("trace={CALLS}"));
    strace.arg("-o").arg(record.path());
    if let Some(fault) = fault {
        for what in &fault.what {
            strace.args(["-e", &format!("inject={what}")]);
        }
        if fault.call == "write" {
            strace.arg("-P").arg(log);
        }
    }
    let mut strace = strace.stderr(Stdio::piped()).spawn().unwrap();
    wait_until_attached(&mut strace);
    let run = held.go_on_and(meanwhile);
    assert!(strace.wait().is_ok());
    let text = fs::read_to_string(record.path()).unwrap();
    Traced {
        run,
        calls: calls_of(&text, program, &log_descriptor),
        struck: text.contains("(INJECTED)") || text.contains("killed by SIGKILL"),
    }
}

fn wait_until_attached(strace: &mut Child) {
    let mut lines = BufReader::new(strace.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.contains("attached"), "{first}");
    // The pipe must stay open, and empty, for what `strace` says later.
    thread::spawn(move || lines.for_each(drop));
}

/// The calls of the thread that makes the tool call, and of the first thread when that is
/// over. A call that another thread interrupts is shown in two lines.
fn calls_of(text: &str, program: u32, log: &str) -> Vec<SystemCall> {
    let program = program.to_string();
    let mut counts = BTreeMap::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let Some((thread, call)) = line.split_once(' ') else {
            continue;
        };
        let Some((name, rest)) = call.trim_start().split_once('(') else {
            continue;
        };
        if name.contains(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '_') {
            continue;
        }
        let is_first = thread == program;
        let ends = matches!(name, "exit_group" | "fdatasync");
        let to_log = rest.split(',').next() == Some(log);
        if (name == "write" && !to_log) || (is_first && !ends) {
            continue;
        }
        let nth = counts.entry((is_first, name.to_owned())).or_insert(0);
        *nth += 1;
        // The other uses of ioctl(2) are wasmtime's and have to do with memory.
        if name == "ioctl" && !rest.contains("FICLONE") {
            continue;
        }
        calls.push(SystemCall {
            name: name.to_owned(),
            nth: *nth,
            text: call.to_owned(),
        });
    }
    calls
}

/// The descriptor under which a process has a file open; none where it has not.
fn descriptor_of(process: u32, file: &Path) -> String {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    let found = paths.find(|path| fs::read_link(path).is_ok_and(|to| to == file));
    found.map_or(String::new(), |path| {
        path.file_name().unwrap().to_string_lossy().into_owned()
    })
}
