//! What is measured.

use std::time::Instant;

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::server::{Kind, Server};

/// One line of the table.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// Whether one server serves all rounds.
    pub(crate) needs_server: bool,
    /// What one round measures; nothing where the server fails.
    pub(crate) sample: fn(&Kind, Option<&mut Server>, &Fixture, usize) -> Option<f64>,
}

pub(crate) const ROWS: [Row; 14] = [
    row("start to tools/list", "ms", false, start),
    row("ping", "µs", true, |_, server, _, _| {
        timed(200, server?, |server| {
            server.request("ping", json!({}));
            true
        })
    }),
    row("read 4 KiB", "µs", true, |kind, server, fixture, _| {
        let call = read(kind, fixture, "small.txt");
        timed(100, server?, |server| server.call(call.0, &call.1))
    }),
    row("write new 4 KiB", "µs", true, write_new),
    row("list 1,000", "µs", true, |kind, server, fixture, _| {
        list(kind, server?, fixture, "thousand", 10)
    }),
    row("list 10,000", "µs", true, |kind, server, fixture, _| {
        list(kind, server?, fixture, "ten-thousand", 2)
    }),
    row("read 10 MiB", "µs", true, |kind, server, fixture, _| {
        let call = read(kind, fixture, "large.txt");
        timed(2, server?, |server| server.call(call.0, &call.1))
    }),
    row("find in 20,000", "µs", true, |kind, server, fixture, _| {
        let call = find(kind, fixture);
        timed(2, server?, |server| server.call(call.0, &call.1))
    }),
    row("search 20,000", "µs", true, |kind, server, _, _| {
        let arguments = json!({ "query": "needle", "path": "tree" });
        let server = server.filter(|_| !kind.is_of_field)?;
        timed(1, server, |server| server.call("search_files", &arguments))
    }),
    row("8 in flight, µs a read", "µs", true, eight_in_flight),
    row(
        "read 4 KiB beside 80 searches",
        "µs",
        false,
        beside_searches,
    ),
    row("resident after start", "MiB", false, |kind, _, _, _| {
        let mut server = Server::start(kind);
        server.request("tools/list", json!({}));
        Some(server.memory("VmRSS:"))
    }),
    row(
        "peak after 10 MiB reads",
        "MiB",
        false,
        |kind, _, fixture, round| after_large_reads(kind, fixture, round, "VmHWM:"),
    ),
    row(
        "resident after 10 MiB reads",
        "MiB",
        false,
        |kind, _, fixture, round| after_large_reads(kind, fixture, round, "VmRSS:"),
    ),
];

/// Rounds of rows that take long, or hardly differ.
const FEW_ROUNDS: usize = 3;

const fn row(
    name: &'static str,
    unit: &'static str,
    needs_server: bool,
    sample: fn(&Kind, Option<&mut Server>, &Fixture, usize) -> Option<f64>,
) -> Row {
    Row {
        name,
        unit,
        needs_server,
        sample,
    }
}

/// Microseconds that one of several rounds trips takes.
fn timed(
    times: u32,
    server: &mut Server,
    mut trip: impl FnMut(&mut Server) -> bool,
) -> Option<f64> {
    let started = Instant::now();
    for _ in 0..times {
        if !trip(server) {
            return None;
        }
    }
    Some(started.elapsed().as_secs_f64() * 1e6 / f64::from(times))
}

fn start(kind: &Kind, _: Option<&mut Server>, _: &Fixture, _: usize) -> Option<f64> {
    let started = Instant::now();
    let mut server = Server::start(kind);
    server.request("tools/list", json!({}));
    Some(started.elapsed().as_secs_f64() * 1e3)
}

fn path(kind: &Kind, fixture: &Fixture, name: &str) -> Value {
    match kind.is_of_field {
        true => json!(fixture.inputs().join(name)),
        false => json!(name),
    }
}

fn read(kind: &Kind, fixture: &Fixture, name: &str) -> (&'static str, Value) {
    let tool = if kind.is_of_field {
        "read_text_file"
    } else {
        "read_file"
    };
    let mut arguments = json!({ "path": path(kind, fixture, name) });
    if !kind.is_of_field {
        arguments["max_bytes"] = json!(16 << 20);
    }
    (tool, arguments)
}

fn write_new(
    kind: &Kind,
    server: Option<&mut Server>,
    fixture: &Fixture,
    round: usize,
) -> Option<f64> {
    let content = "x".repeat(4096);
    let mut number = 0;
    timed(50, server?, |server| {
        number += 1;
        let name = format!("{}-{round}-{number}.txt", kind.name);
        let path = match kind.is_of_field {
            true => json!(fixture.work().join(name)),
            false => json!(name),
        };
        server.call("write_file", &json!({ "path": path, "content": content }))
    })
}

fn list(
    kind: &Kind,
    server: &mut Server,
    fixture: &Fixture,
    name: &str,
    times: u32,
) -> Option<f64> {
    let path = path(kind, fixture, name);
    timed(times, server, |server| match kind.is_of_field {
        true => server.call("list_directory", &json!({ "path": path })),
        false => server.call("list_files", &json!({ "path": path, "details": false })),
    })
}

fn find(kind: &Kind, fixture: &Fixture) -> (&'static str, Value) {
    match kind.is_of_field {
        true => {
            let path = path(kind, fixture, "tree");
            (
                "search_files",
                json!({ "path": path, "pattern": "**/file-1999*.txt" }),
            )
        }
        false => (
            "find_files",
            json!({ "path": "tree", "pattern": "**/file-1999*.txt" }),
        ),
    }
}

/// Microseconds a read when eight are asked for at a time.
fn eight_in_flight(
    kind: &Kind,
    server: Option<&mut Server>,
    fixture: &Fixture,
    _: usize,
) -> Option<f64> {
    let (tool, arguments) = read(kind, fixture, "small.txt");
    let params = json!({ "name": tool, "arguments": arguments });
    let server = server?;
    let (reads, started) = (400, Instant::now());
    for _ in 0..8 {
        server.send("tools/call", &params);
    }
    for _ in 8..reads {
        server.receive();
        server.send("tools/call", &params);
    }
    for _ in 0..8 {
        server.receive();
    }
    Some(started.elapsed().as_secs_f64() * 1e6 / f64::from(reads))
}

/// How long a short read takes that is asked for behind long searches.
fn beside_searches(
    kind: &Kind,
    _: Option<&mut Server>,
    fixture: &Fixture,
    round: usize,
) -> Option<f64> {
    if kind.is_of_field || round >= FEW_ROUNDS {
        return None;
    }
    let mut server = Server::start(kind);
    let search = json!({ "query": "needle", "path": "tree" });
    for _ in 0..80 {
        server.send_call("search_files", &search);
    }
    let (tool, arguments) = read(kind, fixture, "small.txt");
    let started = Instant::now();
    let id = server.send_call(tool, &arguments);
    server.receive_until(id);
    Some(started.elapsed().as_secs_f64() * 1e6)
}

fn after_large_reads(kind: &Kind, fixture: &Fixture, round: usize, what: &str) -> Option<f64> {
    if round >= FEW_ROUNDS {
        return None;
    }
    let mut server = Server::start(kind);
    let call = read(kind, fixture, "large.txt");
    let well = (0..3).all(|_| server.call(call.0, &call.1));
    well.then(|| server.memory(what))
}
