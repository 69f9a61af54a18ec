//! What each tool does.

use crate::bindings::wasi::cli::{
    environment, exit, stderr, stdin, stdout, terminal_stderr, terminal_stdin, terminal_stdout,
};
use crate::bindings::wasi::clocks::{monotonic_clock, wall_clock};
use crate::bindings::wasi::io::{poll, streams::OutputStream};
use crate::bindings::wasi::random::{insecure, insecure_seed, random};
use crate::bindings::wasi::sockets::network::IpAddressFamily;
use crate::bindings::wasi::sockets::{instance_network, ip_name_lookup, tcp_create_socket};

const MILLISECOND: u64 = 1_000_000;

pub fn environment() -> String {
    let variables = environment::get_environment();
    let arguments = environment::get_arguments();
    let directory = environment::initial_cwd();
    format!("{variables:?} {arguments:?} {directory:?}")
}

pub fn input() -> String {
    let input = stdin::get_stdin();
    let pollable = input.subscribe();
    pollable.block();
    format!("{:?} {:?}", input.read(10), input.blocking_skip(10))
}

pub fn streams() -> String {
    write(&stdout::get_stdout(), b"hello\n\x1b[2Jcleared");
    write(&stderr::get_stderr(), b"oops\n");
    String::new()
}

pub fn flood() -> String {
    let output = stderr::get_stderr();
    for _ in 0..10_000 {
        write(&output, &[b'x'; 1000]);
    }
    String::new()
}

fn write(to: &OutputStream, bytes: &[u8]) {
    to.blocking_write_and_flush(bytes).expect("the stream takes it");
}

pub fn terminal() -> String {
    let terminals = [
        terminal_stdin::get_terminal_stdin().is_some(),
        terminal_stdout::get_terminal_stdout().is_some(),
        terminal_stderr::get_terminal_stderr().is_some(),
    ];
    format!("{terminals:?}")
}

pub fn time() -> String {
    let seconds = wall_clock::now().seconds;
    let step = monotonic_clock::resolution();
    let coarse = (0..1000).all(|_| monotonic_clock::now() % step == 0);
    format!("{seconds} {coarse}")
}

pub fn wait() -> String {
    let before = monotonic_clock::now();
    let soon = monotonic_clock::subscribe_duration(20 * MILLISECOND);
    let late = monotonic_clock::subscribe_instant(before + 60_000 * MILLISECOND);
    let ready = poll::poll(&[&late, &soon]);
    let waited = (monotonic_clock::now() - before) / MILLISECOND;
    format!("{ready:?} {} {}", waited >= 20, late.ready())
}

pub fn wait_for_ever() -> String {
    monotonic_clock::subscribe_duration(u64::MAX).block();
    String::from("for ever is over")
}

pub fn lots() -> String {
    let bytes = random::get_random_bytes(32);
    let more = insecure::get_insecure_random_bytes(32);
    let differ = bytes != more && random::get_random_u64() != insecure::get_insecure_random_u64();
    format!("{} {differ} {}", bytes.len(), insecure_seed::insecure_seed().0 != 0)
}

pub fn too_many_lots() -> String {
    random::get_random_bytes(u64::MAX).len().to_string()
}

pub fn leave() -> String {
    exit::exit(Ok(()));
    String::from("still here")
}

pub fn socket() -> String {
    let network = instance_network::instance_network();
    let socket = tcp_create_socket::create_tcp_socket(IpAddressFamily::Ipv4);
    drop(network);
    format!("{:?}", socket.map(|_| ()))
}

pub fn resolve() -> String {
    let network = instance_network::instance_network();
    let addresses = ip_name_lookup::resolve_addresses(&network, "example.com");
    format!("{:?}", addresses.map(|_| ()))
}

pub fn hoard() -> String {
    let networks: Vec<_> = (0..100_000).map(|_| instance_network::instance_network()).collect();
    networks.len().to_string()
}
