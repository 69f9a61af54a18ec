//! `--session-dir` where one server has many sessions: each has a directory of its own.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::mcp::http::server::Server;
use crate::support::Fixture;
use crate::support::cli::Cli;

const REVISION: &str = "2025-06-18";

/// A server whose sessions write below `base`.
fn server(cli: &Cli, fixture: &Fixture, base: &Path, further: &[&str]) -> Server {
    let mut command = cli.command(["mcp", "--http", "127.0.0.1:0", "--delete", "allow"]);
    command.arg("--read").arg(fixture.inputs());
    command.arg("--session-dir").arg(base).args(further);
    Server::of(command, false)
}

/// A client with a session.
struct Client<'a> {
    server: &'a Server,
    session: String,
}

impl<'a> Client<'a> {
    fn open(server: &'a Server) -> Self {
        let initialize = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "protocolVersion": REVISION,
                "capabilities": {},
                "clientInfo": { "name": "c", "version": "1" },
            },
        });
        let opened = server.post(&[], &initialize.to_string());
        let session = opened.header("mcp-session-id").unwrap().to_owned();
        Self { server, session }
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let request =
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
        let headers = [
            ("Mcp-Session-Id", self.session.as_str()),
            ("MCP-Protocol-Version", REVISION),
        ];
        self.server.post(&headers, &request.to_string()).message()["result"].clone()
    }

    fn write(&self, path: &str) {
        let arguments = json!({ "path": path, "content": self.session });
        let written = self.call("write_file", arguments);
        assert_eq!(written["isError"], false, "{written}");
    }

    fn end(&self) {
        let (host, token) = (self.server.address, &self.server.token);
        let request = format!(
            "DELETE /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Mcp-Session-Id: {}\r\nConnection: close\r\n\r\n",
            self.session
        );
        let status = self.server.exchange(request.as_bytes()).status;
        assert!((200..300).contains(&status), "{status}");
    }
}

/// The directories that hold something, by what the file `mine` in them says.
fn directories(base: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(base)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut held: Vec<PathBuf> = entries.filter(|path| path.join("mine").exists()).collect();
    held.sort();
    held
}

fn directory_of(base: &Path, client: &Client<'_>) -> PathBuf {
    let is_its = |path: &PathBuf| {
        fs::read_to_string(path.join("mine")).is_ok_and(|text| text == client.session)
    };
    directories(base).into_iter().find(is_its).unwrap()
}

#[test]
fn each_session_of_a_server_writes_to_a_directory_of_its_own() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let base = fixture.base().join("base");
    let server = server(&cli, &fixture, &base, &[]);
    let (one, other) = (Client::open(&server), Client::open(&server));
    one.write("mine");
    other.write("mine");
    assert_eq!(directories(&base).len(), 2);
    let (own, foreign) = (directory_of(&base, &one), directory_of(&base, &other));
    assert_ne!(own, foreign);
    // By its name, by links that somebody left there, and from both ends of a rename.
    let name = foreign.file_name().unwrap().to_str().unwrap();
    symlink(format!("../{name}"), own.join("link")).unwrap();
    symlink(&foreign, own.join("absolute")).unwrap();
    let before = crate::support::tree::tree(&foreign);
    let absolute = foreign.to_str().unwrap();
    for way in [&*format!("../{name}"), "link", "absolute", absolute] {
        let mine = format!("{way}/mine");
        for (tool, arguments) in [
            (
                "write_file",
                json!({ "path": format!("{way}/new"), "content": "x" }),
            ),
            (
                "create_file",
                json!({ "file_path": mine, "content": "x", "overwrite": true }),
            ),
            ("append_file", json!({ "path": mine, "content": "x" })),
            ("delete_file", json!({ "path": mine })),
            ("delete_file", json!({ "path": way, "recursive": true })),
            ("move_file", json!({ "from": mine, "to": "taken" })),
            (
                "move_file",
                json!({ "from": "mine", "to": format!("{way}/put") }),
            ),
            ("copy_file", json!({ "from": mine, "to": "copied" })),
            (
                "create_directory",
                json!({ "dir_path": format!("{way}/d") }),
            ),
            ("read_file", json!({ "path": mine })),
            ("list_files", json!({ "path": way })),
        ] {
            // A link itself is the session's own, and may go.
            if tool == "delete_file" && arguments["path"] == way && !way.contains('/') {
                continue;
            }
            let answer = one.call(tool, arguments.clone());
            assert_eq!(answer["isError"], true, "{tool} {arguments}: {answer}");
        }
    }
    assert_eq!(crate::support::tree::tree(&foreign), before);
}

#[test]
fn a_session_that_ends_takes_its_directory_along_where_that_is_wanted() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let base = fixture.base().join("base");
    let server = server(&cli, &fixture, &base, &["--remove-session-dir"]);
    let (one, other) = (Client::open(&server), Client::open(&server));
    one.write("mine");
    other.write("mine");
    let kept = directory_of(&base, &other);
    one.end();
    wait_until(|| directories(&base) == [kept.clone()]);
    other.write("still");
    assert_eq!(server.terminate(), Some(0));
    assert_eq!(fs::read_dir(&base).unwrap().count(), 0);
}

/// A request without a session is one by itself.
#[test]
fn a_stateless_request_has_a_directory_for_itself() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let base = fixture.base().join("base");
    let server = server(&cli, &fixture, &base, &[]);
    for _ in 0..2 {
        let arguments = json!({ "path": "mine", "content": "x" });
        let created = server.call("write_file", arguments);
        assert_eq!(created["isError"], false, "{created}");
    }
    assert_eq!(directories(&base).len(), 2);
}

/// Nobody is there to remove it; the operator is, and docs/deployment.md says how.
#[test]
fn a_killed_server_leaves_its_directories_to_the_operator() {
    let (cli, fixture) = (Cli::new(), Fixture::new());
    let base = fixture.base().join("base");
    let killed = server(&cli, &fixture, &base, &["--remove-session-dir"]);
    Client::open(&killed).write("mine");
    drop(killed);
    let left = directories(&base);
    assert_eq!(left.len(), 1);
    // The next one neither uses nor removes what it did not make.
    let next = server(&cli, &fixture, &base, &["--remove-session-dir"]);
    Client::open(&next).write("mine");
    assert_eq!(directories(&base).len(), 2);
    assert_eq!(next.terminate(), Some(0));
    assert_eq!(directories(&base), left);
}

fn wait_until(holds: impl Fn() -> bool) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !holds() {
        assert!(std::time::Instant::now() < until, "it never comes to be");
        std::thread::yield_now();
    }
}
