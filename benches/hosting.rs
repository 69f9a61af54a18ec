//! A thousand tenants and a hundred components in one process: what an idle session takes, and
//! how long a call takes that is one of many.
//!
//! `cargo bench --bench hosting`. The aims: 64 KiB for an idle session, no thread of its own, and
//! with 64 callers a 99th percentile of no more than five times the median of one caller. Callers
//! pause between calls, as agents do; what share of the processors they keep busy is printed beside
//! the figures, and what a call takes without pauses, when everything is in the caches.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark sets up directories, prints, and stops at the first surprise"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rootbound::{AuditLog, ComponentLoader, Import, Session, Tenant, ToolComponent, ToolHost};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tempfile::TempDir;
use wit_component::ComponentEncoder;

const TENANTS: usize = 1000;
const COMPONENTS: usize = 100;
const CALLERS: usize = 64;
const CALLS: usize = 300;
const UNPAUSED: usize = 2000;
const PAUSE: Duration = Duration::from_millis(20);
const READ: (&str, &str) = ("files__read_file", r#"{"path": "notes.md"}"#);

fn main() {
    allow_many_files();
    let base = tempfile::tempdir().unwrap();
    let host = ToolHost::default();
    host.load("files", ToolComponent::file_tools().unwrap())
        .unwrap();
    // What the first call sets up for all is not any session's.
    let first = tenant(&host, &base, TENANTS);
    read(&first);
    // Before anything is compiled: what a compiler gives back would hide what sessions take.
    let (memory, threads) = (resident_kib(), threads());
    let tenants: Vec<Tenant> = (0..TENANTS)
        .map(|number| tenant(&host, &base, number))
        .collect();
    tenants.iter().for_each(read);
    let each = (resident_kib().saturating_sub(memory)) as f64 / TENANTS as f64;
    let more = self::threads().saturating_sub(threads);
    let started = Instant::now();
    load_others(&host);
    let loading = started.elapsed().as_secs_f64();
    println!("tenants, each with a session   {TENANTS}");
    println!("memory per idle session        {each:.1} KiB (aim: 64)");
    println!("threads for the sessions       {more} (aim: 0)");
    println!("components loaded              {COMPONENTS} in {loading:.1} s");

    let without_pause = (0..UNPAUSED).map(|at| timed(&tenants[at % TENANTS]));
    let (median, _) = shown("one after the other", without_pause.collect());
    let (alone, _) = shown("one caller", calls_of(&tenants, 0));
    let busy = processor_time();
    let started = Instant::now();
    let together = together(&tenants);
    let share = (processor_time() - busy).as_secs_f64() / started.elapsed().as_secs_f64();
    let (_, most) = shown(&format!("{CALLERS} callers"), together);
    let by = |median: Duration| most.as_secs_f64() / median.as_secs_f64();
    println!(
        "p99 of {CALLERS} by the median of one {:.1} (aim: 5), at {share:.2} processors busy",
        by(alone)
    );
    println!("  and by that without pauses   {:.1}", by(median));
}

/// Prints the median and the 99th percentile of reads.
fn shown(what: &str, mut times: Vec<Duration>) -> (Duration, Duration) {
    let (half, most) = (percentile(&mut times, 50), percentile(&mut times, 99));
    println!("read of 4 KiB, {what:<19} median {half:.1?}, p99 {most:.1?}");
    (half, most)
}

/// Loads components of different bytes beside the file tools: a small one with a number in it.
fn load_others(host: &ToolHost) {
    let small = small_component();
    let loader = Import::ALL
        .into_iter()
        .fold(ComponentLoader::default(), ComponentLoader::import);
    for number in 1..COMPONENTS {
        let component = loader.load(&numbered(&small, number)).unwrap();
        host.load(&format!("small-{number}"), component).unwrap();
    }
}

fn small_component() -> Vec<u8> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = Command::new(repository.join("scripts/build-guest"))
        .arg("--manifest-path")
        .arg(repository.join("tests/optional_guest/Cargo.toml"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let module = PathBuf::from(String::from_utf8(built.stdout).unwrap().trim_end());
    let encoder = ComponentEncoder::default().module(&std::fs::read(module).unwrap());
    encoder.unwrap().encode().unwrap()
}

/// The component with a custom section more, which makes it another file.
fn numbered(component: &[u8], number: usize) -> Vec<u8> {
    let section = [b"\x06number", number.to_string().as_bytes()].concat();
    [component, &[0, section.len() as u8], &section].concat()
}

/// A tenant with a directory and an audit log of its own.
fn tenant(host: &ToolHost, base: &TempDir, number: usize) -> Tenant {
    let root = base.path().join(format!("tenant-{number}"));
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("notes.md"), "x".repeat(4096)).unwrap();
    let log = AuditLog::file(base.path().join(format!("audit-{number}.jsonl"))).unwrap();
    let builder = Session::builder().read_root(root).audit(log);
    host.tenant(
        builder
            .principal(format!("tenant-{number}"))
            .build()
            .unwrap(),
    )
}

fn read(tenant: &Tenant) {
    tenant.call(READ.0, READ.1).unwrap();
}

fn timed(tenant: &Tenant) -> Duration {
    let started = Instant::now();
    read(tenant);
    started.elapsed()
}

/// Many callers, who do not begin at one moment.
fn together(tenants: &[Tenant]) -> Vec<Duration> {
    thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| scope.spawn(move || calls_of(tenants, caller)))
            .collect();
        callers
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect()
    })
}

/// The calls of one caller, who pauses before each. The first sets up the thread.
fn calls_of(tenants: &[Tenant], caller: usize) -> Vec<Duration> {
    read(&tenants[caller]);
    thread::sleep(PAUSE * caller as u32 / CALLERS as u32);
    let call = |at: usize| {
        thread::sleep(PAUSE);
        timed(&tenants[(caller + at * CALLERS) % tenants.len()])
    };
    (0..CALLS).map(call).collect()
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}

/// Each session keeps its directory and its log open.
fn allow_many_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let current = maximum;
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
}

fn resident_kib() -> u64 {
    status("VmRSS:")
}

fn threads() -> u64 {
    status("Threads:")
}

fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// What this process has used of the processors, in ticks of ten milliseconds (`proc(5)`).
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks = |at: usize| -> u64 { fields.split_whitespace().nth(at).unwrap().parse().unwrap() };
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}
