//! A client that speaks raw lines, so that no library can hide what the server says.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Fixture;
use crate::support::cli::Cli;

/// Longer than anything takes that ends at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which revision of the protocol a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    Session(&'static str),
    Stateless,
}

/// The two that differ, and one in between.
pub const GENERATIONS: [Generation; 3] = [
    Generation::Session("2025-06-18"),
    Generation::Session("2025-11-25"),
    Generation::Stateless,
];

pub const STATELESS: &str = "2026-07-28";

/// A running server and the lines between it and us.
pub struct Client {
    child: Child,
    input: Option<Box<dyn Write + Send>>,
    lines: Receiver<String>,
    pub generation: Generation,
    capabilities: Value,
    next_id: i64,
    _cli: Option<Cli>,
}

/// The two ends of the standard streams that programs give their children.
#[derive(Clone, Copy, Debug)]
pub enum Streams {
    Pipes,
    Sockets,
}

impl Client {
    /// A server over the fixture's directories, with further arguments, ready for calls.
    pub fn over(fixture: &Fixture, generation: Generation, further: &[&str]) -> Self {
        Self::start(fixture, generation, further, json!({}), Streams::Pipes)
    }

    pub fn start(
        fixture: &Fixture,
        generation: Generation,
        further: &[&str],
        capabilities: Value,
        streams: Streams,
    ) -> Self {
        let cli = Cli::new();
        let mut client = Self::spawn(&cli, fixture, generation, further, capabilities, streams);
        client._cli = Some(cli);
        client
    }

    /// As `start`, with a state directory that outlives the server.
    pub fn spawn(
        cli: &Cli,
        fixture: &Fixture,
        generation: Generation,
        further: &[&str],
        capabilities: Value,
        streams: Streams,
    ) -> Self {
        let mut command = cli.command(["mcp"]);
        command
            .arg("--read")
            .arg(fixture.inputs())
            .arg("--work")
            .arg(fixture.workspace())
            .args(further)
            .stderr(Stdio::inherit());
        let (child, input, output) = match streams {
            Streams::Pipes => {
                command.stdin(Stdio::piped()).stdout(Stdio::piped());
                let mut child = command.spawn().unwrap();
                let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
                (child, Stream::of_pipe(input), Stream::of_output(output))
            }
            Streams::Sockets => {
                let (ours, theirs) = UnixStream::pair().unwrap();
                let (our_end, their_end) = UnixStream::pair().unwrap();
                command
                    .stdin(OwnedFd::from(theirs))
                    .stdout(OwnedFd::from(their_end));
                let child = command.spawn().unwrap();
                (child, Stream(Box::new(ours)), ReadStream(Box::new(our_end)))
            }
        };
        // The command holds the child's ends of the sockets.
        drop(command);
        let mut client = Self {
            child,
            input: Some(input.0),
            lines: lines_of(output.0),
            generation,
            capabilities,
            next_id: 1,
            _cli: None,
        };
        client.open();
        client
    }

    fn open(&mut self) {
        let Generation::Session(version) = self.generation else {
            // It is started once it answers anything.
            let answer = self.request("server/discover", json!({}));
            assert!(answer["result"].is_object(), "{answer}");
            return;
        };
        let answer = self.request(
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": self.capabilities,
                "clientInfo": { "name": "lines", "version": "1" },
            }),
        );
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Writes one line.
    pub fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    pub fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Closes the server's input.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// The next line of the server.
    pub fn receive(&self) -> Value {
        let line = self
            .lines
            .recv_timeout(PATIENCE)
            .expect("an answer in time");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The next line, if one comes soon.
    pub fn receive_within(&self, patience: Duration) -> Option<Value> {
        let line = self.lines.recv_timeout(patience).ok()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// Sends a request and gives its id.
    pub fn ask(&mut self, method: &str, mut params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.add_meta(&mut params);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// What each request of the stateless generation carries.
    pub fn add_meta(&self, params: &mut Value) {
        if self.generation == Generation::Stateless {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "lines", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
    }

    /// A request and its answer; nothing else may come in between.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub fn ask_call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// A call and its result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Answered {
        let answer = self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        );
        Answered::of(&answer)
    }

    /// Closes the input and waits for the end: its exit status, and whatever else was said.
    pub fn finish(mut self) -> (Option<i32>, Vec<String>) {
        self.close_input();
        self.wait()
    }

    /// Waits for the end without closing anything.
    pub fn wait(mut self) -> (Option<i32>, Vec<String>) {
        let rest = self.lines.iter().collect();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A server that a failed test leaves behind; one that has ended is not hurt.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Stream(Box<dyn Write + Send>);

struct ReadStream(Box<dyn Read + Send>);

impl Stream {
    fn of_pipe(input: ChildStdin) -> Self {
        Self(Box::new(input))
    }

    fn of_output(output: ChildStdout) -> ReadStream {
        ReadStream(Box::new(output))
    }
}

fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The result of a call.
#[derive(Debug)]
pub struct Answered {
    pub result: Value,
}

impl Answered {
    pub fn of(answer: &Value) -> Self {
        assert!(answer["result"]["content"].is_array(), "{answer}");
        Self {
            result: answer["result"].clone(),
        }
    }

    pub fn is_error(&self) -> bool {
        self.result["isError"] == true
    }

    /// The text of a block.
    pub fn text(&self, block: usize) -> &str {
        self.result["content"][block]["text"].as_str().unwrap()
    }

    /// The fields: the last block.
    pub fn fields(&self) -> Value {
        let blocks = self.result["content"].as_array().unwrap().len();
        serde_json::from_str(self.text(blocks - 1)).unwrap()
    }

    /// The fields of a call that must succeed.
    pub fn success(&self) -> Value {
        assert!(!self.is_error(), "{:?}", self.result);
        self.fields()
    }

    /// The code of a call that must not.
    pub fn code(&self) -> String {
        assert!(self.is_error(), "{:?}", self.result);
        let code = self.fields()["code"].as_str().unwrap().to_owned();
        assert_eq!(self.result["content"].as_array().unwrap().len(), 1);
        code
    }
}
