//! How long verification takes. `ROOTBOUND_AUDIT_ENTRIES` says of how many entries; a million
//! of them must take no more than ten seconds, in a release build on a machine at rest.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::time::{Duration, Instant};

use rootbound::{AuditLog, Session, verify_log};

use crate::support::Fixture;

const A_MILLION: u64 = 1_000_000;

#[test]
fn a_long_log_verifies_in_time() {
    let entries = std::env::var("ROOTBOUND_AUDIT_ENTRIES").ok();
    let entries: u64 = entries.map_or(2_000, |text| text.parse().unwrap());
    let fixture = Fixture::new();
    fixture.input("t", "x");
    let file = fixture.outside().join("audit.jsonl");
    let log = BufWriter::new(File::create(&file).unwrap());
    let log = std::sync::Mutex::new(log);
    let sink = AuditLog::sink(move |line: &str| writeln!(log.lock().unwrap(), "{line}"));
    let builder = Session::builder().read_root(fixture.inputs());
    let session = builder.audit(sink).build().unwrap();
    // A call is its `access` and its `call`.
    for _ in 0..entries / 2 {
        session.call("read_file", r#"{"path": "t"}"#).unwrap();
    }
    drop(session);
    let began = Instant::now();
    let verified = verify_log(BufReader::new(File::open(&file).unwrap()), None).unwrap();
    let took = began.elapsed();
    assert_eq!(verified.entries, entries / 2 * 2 + 1);
    eprintln!("{} entries verified in {took:?}", verified.entries);
    if entries >= A_MILLION {
        let share = entries as f64 / A_MILLION as f64;
        assert!(took <= Duration::from_secs(10).mul_f64(share), "{took:?}");
    }
}
