//! Servers of the Model Context Protocol side by side: the same requests to each in turn,
//! round after round, medians over rounds. Machines drift, so figures are for comparison
//! within one run, above all with the floor: one thread, std, no wasm, no policy, no log.
//!
//! `cargo bench --bench mcp [-- PART-OF-A-NAME]`. `MCP_BENCH_BEFORE` names another build of the
//! program, to be compared with this one. `MCP_BENCH_SERVERS` adds servers of the field, one a line:
//! `name = command words`, where `{inputs}` and `{work}` stand for the directories; they are
//! asked by the names that the reference server gave these tools.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    missing_docs,
    reason = "a benchmark stops at the first surprise and prints what it measured"
)]

mod fixture;
mod floor;
mod rows;
mod server;

use std::path::Path;

use fixture::Fixture;
use rows::{ROWS, Row};
use server::{Kind, Server};

/// Rounds, in each of which every server has its turn.
const ROUNDS: usize = 15;

fn main() {
    if let Some(directory) = std::env::var_os(floor::MARK) {
        return floor::serve(Path::new(&directory));
    }
    let fixture = Fixture::new();
    let servers = servers(&fixture);
    print!("{:<34}", "median");
    for server in &servers {
        print!("{:>22}", server.name);
    }
    println!();
    let only = std::env::args()
        .skip(1)
        .find(|word| !word.starts_with("--"));
    for row in &ROWS {
        if only
            .as_ref()
            .is_none_or(|only| row.name.contains(only.as_str()))
        {
            measure(row, &servers, &fixture);
        }
    }
}

fn servers(fixture: &Fixture) -> Vec<Kind> {
    let this = env!("CARGO_BIN_EXE_rootbound");
    let mut servers = vec![
        Kind::floor(fixture),
        Kind::rootbound("rootbound", this, fixture),
    ];
    if let Ok(before) = std::env::var("MCP_BENCH_BEFORE") {
        servers.push(Kind::rootbound("before", &before, fixture));
    }
    let further = std::env::var("MCP_BENCH_SERVERS").unwrap_or_default();
    servers.extend(
        further
            .lines()
            .filter_map(|line| Kind::of_field(line, fixture)),
    );
    servers
}

/// Measures one row for every server, in turns, and prints the medians and what they are in
/// multiples of the floor.
fn measure(row: &Row, servers: &[Kind], fixture: &Fixture) {
    let mut running: Vec<Option<Server>> = servers
        .iter()
        .map(|kind| row.needs_server.then(|| Server::start(kind)))
        .collect();
    let mut samples = vec![Vec::new(); servers.len()];
    for round in 0..ROUNDS {
        for (at, kind) in servers.iter().enumerate() {
            let sample = (row.sample)(kind, running[at].as_mut(), fixture, round);
            samples[at].extend(sample);
        }
    }
    print!("{:<34}", format!("{} [{}]", row.name, row.unit));
    let mut floor = None;
    for of_server in &mut samples {
        match median(of_server) {
            None => print!("{:>22}", "fails"),
            Some(value) => {
                let floor = *floor.get_or_insert(value);
                print!("{:>22}", format!("{value:.1} ({:.2}x)", value / floor));
            }
        }
    }
    println!();
}

fn median(samples: &mut [f64]) -> Option<f64> {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied()
}
