//! A server over HTTP, and a client that writes every byte itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::mcp::client::STATELESS;
use crate::support::Fixture;
use crate::support::cli::Cli;

pub struct Server {
    /// Absent where another started it.
    child: Option<Child>,
    pub address: SocketAddr,
    pub token: String,
}

/// An answer of the server.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Server {
    pub fn start(cli: &Cli, fixture: &Fixture, further: &[&str]) -> Self {
        Self::start_with(cli, fixture, further, &[])
    }

    /// Starts a server on some free port of the loopback interface.
    pub fn start_with(
        cli: &Cli,
        fixture: &Fixture,
        further: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let mut command = cli.command(["mcp", "--http", "127.0.0.1:0"]);
        command
            .arg("--read")
            .arg(fixture.inputs())
            .arg("--work")
            .arg(fixture.workspace())
            .args(further)
            .envs(environment.iter().copied());
        let given = !environment.is_empty() || further.contains(&"--http-token-file");
        Self::of(command, given)
    }

    /// A server of another command line; it prints its token unless it is given one.
    pub fn of(mut command: Command, given: bool) -> Self {
        command.stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut next = |prefix: &str| {
            // Warnings, such as that root runs this, come first.
            let line = lines.find_map(|line| Some(line.unwrap().strip_prefix(prefix)?.to_owned()));
            line.expect("the server says where it listens")
        };
        let address = next("listening on http://");
        let address = address.strip_suffix("/mcp").unwrap().parse().unwrap();
        let token = if given {
            String::new()
        } else {
            next("token: ")
        };
        Self {
            child: Some(child),
            address,
            token,
        }
    }

    /// A server that is there already.
    pub fn known(address: SocketAddr, token: &str) -> Self {
        Self {
            child: None,
            address,
            token: token.to_owned(),
        }
    }

    pub fn process(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).unwrap();
        stream
    }

    /// Sends bytes and reads what comes until the server closes the connection.
    pub fn exchange(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses early may not read the rest.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::of(&answer)
    }

    /// A request with these headers instead of the usual ones of the same name.
    pub fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        self.exchange(self.request_text(headers, body).as_bytes())
    }

    /// A request, with these headers instead of the usual ones of the same name.
    pub fn request_text(&self, headers: &[(&str, &str)], body: &str) -> String {
        let authorization = format!("Bearer {}", self.token);
        let host = self.address.to_string();
        let usual = [
            ("Host", host.as_str()),
            ("Authorization", authorization.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Connection", "close"),
        ];
        let mut request = "POST /mcp HTTP/1.1\r\n".to_owned();
        let replaced = |name: &str| headers.iter().any(|(other, _)| *other == name);
        for (name, value) in usual
            .iter()
            .filter(|(name, _)| !replaced(name))
            .chain(headers)
        {
            if !value.is_empty() {
                request.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        request
    }

    /// Sends a request and reads as far as the first message that is no answer.
    pub fn begin(&self, request: &str) -> (BufReader<TcpStream>, Value) {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let question = (&mut reader).lines().find_map(|line| {
            let line = line.unwrap();
            let message: Value = serde_json::from_str(line.strip_prefix("data:")?.trim()).ok()?;
            message["method"].is_string().then_some(message)
        });
        (reader, question.expect("the server says something"))
    }

    /// What comes until the connection is closed.
    pub fn rest(mut reader: BufReader<TcpStream>) -> String {
        let mut rest = String::new();
        reader.read_to_string(&mut rest).unwrap();
        rest
    }

    /// A request of the stateless generation.
    pub fn request(&self, method: &str, params: Value, capabilities: Value) -> Answer {
        self.request_as(&self.token, method, params, capabilities)
    }

    pub fn request_as(
        &self,
        token: &str,
        method: &str,
        params: Value,
        capabilities: Value,
    ) -> Answer {
        let request = self.stateless_text(token, method, params, capabilities);
        self.exchange(request.as_bytes())
    }

    pub fn stateless_text(
        &self,
        token: &str,
        method: &str,
        mut params: Value,
        capabilities: Value,
    ) -> String {
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
        meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "c", "version": "1" });
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let authorization = format!("Bearer {token}");
        let headers = [
            ("Authorization", authorization.as_str()),
            ("MCP-Protocol-Version", STATELESS),
            ("Mcp-Method", method),
            ("Mcp-Name", &name),
        ];
        self.request_text(&headers, &body.to_string())
    }

    /// A call of a tool by a client that can ask its user.
    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request("tools/call", params, json!({ "elicitation": {} }));
        answer.message()["result"].clone()
    }

    /// Ends the server by a signal and gives its exit status.
    pub fn terminate(self) -> Option<i32> {
        self.end_by("TERM")
    }

    pub fn end_by(mut self, signal: &str) -> Option<i32> {
        let sent = std::process::Command::new("kill")
            .args(["-s", signal, &self.process().to_string()])
            .status();
        assert!(sent.unwrap().success());
        self.child.take().unwrap().wait().unwrap().code()
    }

    /// Opens a session in a revision that has them, and gives its id.
    pub fn open(&self, version: &str, capabilities: &Value) -> String {
        let initialize = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": { "protocolVersion": version, "capabilities": capabilities, "clientInfo": { "name": "c", "version": "1" } },
        });
        let opened = self.post(&[], &initialize.to_string());
        assert_eq!(opened.message()["result"]["protocolVersion"], version);
        opened.header("mcp-session-id").unwrap().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Self {
            status: status.unwrap_or(0),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let prefix = format!("{name}: ");
        self.head
            .lines()
            .find_map(|line| line.strip_prefix(prefix.as_str()))
    }

    /// The last JSON-RPC message: the body, or the last event of a stream.
    pub fn message(&self) -> Value {
        let of_line = |line: &str| {
            let line = line.strip_prefix("data:").unwrap_or(line).trim();
            serde_json::from_str(line).ok().filter(Value::is_object)
        };
        let message = self.body.lines().filter_map(of_line).next_back();
        message.unwrap_or_else(|| panic!("{self:?}"))
    }
}
