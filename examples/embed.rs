//! A program that grants its agent two directories and watches what is done there.
//!
//! `cargo run --example embed`
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use rootbound::{AuditLog, Session};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let reports = tempfile::tempdir()?;
    let session = Session::builder()
        .read_root("examples/sample-project")
        .write_root(reports.path())
        .audit(AuditLog::sink(|line: &str| {
            println!("audit: {line}");
            Ok(())
        }))
        .build()?;
    let notes = session.call("read_file", json!({"path": "notes.md"}))?;
    println!("{}", notes.text().unwrap_or_default());

    if let Err(refused) = session.call("read_file", json!({"path": "../embed.rs"})) {
        println!("{}: {}", refused.code(), refused.message());
    }

    let report = json!({"path": "q3.md", "content": "18 % up\n"});
    let written = session.call("write_file", report)?;
    if let Some(receipt) = written.receipt() {
        println!("receipt: {}", receipt.to_json());
    }
    session.close()?;
    Ok(())
}
