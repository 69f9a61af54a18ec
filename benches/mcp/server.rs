//! A running server, and requests to it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::floor;

/// How a server is started, and by which names it knows its tools.
pub(crate) struct Kind {
    pub(crate) name: String,
    command: Vec<String>,
    environment: Vec<(String, String)>,
    pub(crate) is_of_field: bool,
}

impl Kind {
    pub(crate) fn floor(fixture: &Fixture) -> Self {
        let program = std::env::current_exe().unwrap();
        Self {
            name: "floor".to_owned(),
            command: vec![program.display().to_string()],
            environment: vec![(
                floor::MARK.to_owned(),
                fixture.inputs().display().to_string(),
            )],
            is_of_field: false,
        }
    }

    /// A build of this program.
    pub(crate) fn rootbound(name: &str, program: &str, fixture: &Fixture) -> Self {
        let words = [
            program,
            "mcp",
            "--read",
            &fixture.inputs().display().to_string(),
            "--write",
            &fixture.work().display().to_string(),
            "--durability",
            "fast",
            "--max-output-bytes",
            "16MiB",
            "--max-entries",
            "30000",
        ];
        let state = fixture.state().display().to_string();
        Self {
            name: name.to_owned(),
            command: words.map(str::to_owned).into(),
            environment: vec![("XDG_STATE_HOME".to_owned(), state)],
            is_of_field: false,
        }
    }

    pub(crate) fn of_field(line: &str, fixture: &Fixture) -> Option<Self> {
        let (name, command) = line.split_once('=')?;
        let placed = |word: &str| {
            word.replace("{inputs}", &fixture.inputs().display().to_string())
                .replace("{work}", &fixture.work().display().to_string())
        };
        Some(Self {
            name: name.trim().to_owned(),
            command: command.split_whitespace().map(placed).collect(),
            environment: Vec::new(),
            is_of_field: true,
        })
    }
}

pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next_id: u64,
    line: String,
}

impl Server {
    /// Starts a server and opens a session.
    pub(crate) fn start(kind: &Kind) -> Self {
        let mut child = Command::new(&kind.command[0])
            .args(&kind.command[1..])
            .envs(kind.environment.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", kind.name));
        let mut server = Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::with_capacity(1 << 20, child.stdout.take().unwrap()),
            child,
            next_id: 0,
            line: String::new(),
        };
        server.request(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } }),
        );
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        writeln!(server.input, "{initialized}").unwrap();
        server
    }

    /// Sends without waiting.
    pub(crate) fn send(&mut self, method: &str, params: &Value) {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.input
            .write_all(format!("{request}\n").as_bytes())
            .unwrap();
    }

    /// The next answer, as text; notifications are passed over.
    pub(crate) fn receive(&mut self) -> &str {
        loop {
            self.line.clear();
            self.output.read_line(&mut self.line).unwrap();
            assert!(!self.line.is_empty(), "the server is gone");
            if !self.line.contains("\"method\":\"notifications/") {
                return &self.line;
            }
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> &str {
        self.send(method, &params);
        self.receive()
    }

    /// Sends a call without waiting, and says by which id it will be answered.
    pub(crate) fn send_call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.send(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        );
        self.next_id
    }

    /// Receives answers up to the one with this id.
    pub(crate) fn receive_until(&mut self, id: u64) {
        let wanted = format!("\"id\":{id},");
        while !self.receive().contains(&wanted) {}
    }

    /// A call; says whether it succeeded.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> bool {
        let answer = self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        );
        !answer.contains("\"isError\":true") && !answer.contains("\"error\":{")
    }

    /// A number of `/proc/PID/status`, in MiB.
    pub(crate) fn memory(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        let kib: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kib / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
