//! Signed checkpoints: what is cut off or written anew shows to whoever has the public key.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use rootbound::{AuditKey, AuditLog, Session};
use serde_json::{Value, json};

use super::{hash_of, lines_of, verify};
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

struct Signed {
    fixture: Fixture,
    cli: Cli,
    key: PathBuf,
    public_key: String,
    log: PathBuf,
}

impl Signed {
    fn new() -> Self {
        let (fixture, cli) = (Fixture::new(), Cli::new());
        fixture.input("t", "x");
        let key = fixture.outside().join("key");
        let run = cli.run(["audit".as_ref(), "keygen".as_ref(), key.as_os_str()]);
        assert_eq!(run.status, Some(0), "{run:?}");
        let public_key = run.stdout.trim_end().to_owned();
        let log = fixture.outside().join("audit.jsonl");
        Self {
            fixture,
            cli,
            key,
            public_key,
            log,
        }
    }

    /// One process that reads a file, signs, and ends.
    fn call(&self) -> Run {
        let (read, audit) = (self.fixture.inputs(), &self.log);
        let further = [
            "--read".as_ref(),
            read.as_os_str(),
            "--audit".as_ref(),
            audit.as_os_str(),
            "--audit-key".as_ref(),
            self.key.as_os_str(),
        ];
        self.cli.call("read_file", &json!({ "path": "t" }), further)
    }

    fn verify(&self) -> Run {
        self.verify_by(&self.public_key)
    }

    fn verify_by(&self, public_key: &str) -> Run {
        let log = self.log.to_str().unwrap();
        self.cli
            .run(["audit", "verify", log, "--public-key", public_key])
    }

    fn assert_fault(&self, what: &str) {
        let run = self.verify();
        assert_eq!(run.status, Some(1), "{run:?}");
        assert!(run.stderr.contains(what), "{run:?}");
    }
}

#[test]
fn a_log_ends_in_a_signature_of_all_of_it() {
    let signed = Signed::new();
    for checkpoints in 1..=3 {
        signed.call().success();
        let verified = signed.verify().success();
        assert_eq!(verified["checkpoints"], checkpoints);
        assert_eq!(verified["not_closed"], json!([]));
    }
    verify(&lines_of(&signed.log));
    let file = signed.fixture.outside().join("key.pub");
    fs::write(&file, format!("{}\n", signed.public_key)).unwrap();
    signed.verify_by(file.to_str().unwrap()).success();
}

#[test]
fn a_log_that_is_cut_off_anywhere_ends_without_signature() {
    let signed = Signed::new();
    signed.call().success();
    let lines = lines_of(&signed.log);
    for kept in 1..lines.len() {
        fs::write(&signed.log, lines[..kept].join("\n") + "\n").unwrap();
        signed.assert_fault("does not end in a signed checkpoint");
    }
}

/// Numbers the lines anew and binds them together, as someone would who has only the log.
fn forge(entries: &mut [Value]) -> String {
    let mut prev = "0".repeat(64);
    let mut text = String::new();
    for (seq, entry) in entries.iter_mut().enumerate() {
        entry["seq"] = seq.into();
        entry["prev"] = prev.into();
        prev = hash_of(entry);
        entry.as_object_mut().unwrap().remove("hash");
        let canonical = serde_json_canonicalizer::to_string(entry).unwrap();
        text += &format!(
            "{},\"hash\":\"{prev}\"}}\n",
            &canonical[..canonical.len() - 1]
        );
    }
    text
}

#[test]
fn a_log_that_is_written_anew_is_not_signed() {
    let signed = Signed::new();
    signed.call().success();
    let mut entries = verify(&lines_of(&signed.log));
    // The control: the forger's craft is good enough.
    assert_eq!(
        forge(&mut entries.clone()),
        fs::read_to_string(&signed.log).unwrap()
    );
    entries[1]["path"] = "harmless".into();
    fs::write(&signed.log, forge(&mut entries)).unwrap();
    let log = signed.log.to_str().unwrap();
    signed.cli.run(["audit", "verify", log]).success();
    signed.assert_fault("signature");
    // Nor is it continued by the one whose signature it is said to have.
    let refusal = signed.call().refusal();
    assert_eq!(refusal["code"], "audit-unavailable", "{refusal}");
    // With another key.
    let other = AuditKey::generate().public_key().to_string();
    assert_eq!(signed.verify_by(&other).status, Some(1));
}

#[test]
fn a_process_that_did_not_sign_its_end_is_named() {
    let signed = Signed::new();
    signed.call().success();
    let lines = lines_of(&signed.log);
    fs::write(&signed.log, lines[..lines.len() - 1].join("\n") + "\n").unwrap();
    signed.call().success();
    let verified = signed.verify().success();
    assert_eq!(verified["not_closed"], json!([lines.len()]));
}

#[test]
fn a_long_log_is_signed_every_thousand_entries() {
    let fixture = Fixture::new();
    let file = fixture.outside().join("audit.jsonl");
    let log = AuditLog::file(&file)
        .unwrap()
        .signed_by(AuditKey::generate());
    let session = Session::builder().audit(log).build().unwrap();
    for _ in 0..2500 {
        session.call("no_such_tool", "{}").unwrap_err();
    }
    session.close().unwrap();
    session.close().unwrap();
    drop(session);
    let entries = verify(&lines_of(&file));
    let checkpoints = entries.iter().filter(|entry| entry["kind"] == "checkpoint");
    let reasons: Vec<&Value> = checkpoints.map(|entry| &entry["reason"]).collect();
    assert_eq!(reasons, ["interval", "interval", "closed"]);
    assert_eq!(entries[1000]["kind"], "checkpoint");
}

#[test]
fn only_the_user_may_read_a_key() {
    let signed = Signed::new();
    let mode = |mode| fs::set_permissions(&signed.key, Permissions::from_mode(mode)).unwrap();
    let secret = fs::read_to_string(&signed.key).unwrap();
    assert_eq!(
        fs::metadata(&signed.key).unwrap().permissions().mode() & 0o7777,
        0o600
    );
    for open in [0o640, 0o604, 0o666] {
        mode(open);
        let run = signed.call();
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains("mode 0600"), "{run:?}");
    }
    mode(0o600);
    let link = signed.fixture.outside().join("link");
    symlink(&signed.key, &link).unwrap();
    let error = AuditKey::read(&link).unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    let again = ["audit".as_ref(), "keygen".as_ref(), signed.key.as_os_str()];
    assert_eq!(signed.cli.run(again).status, Some(2));
    assert_eq!(fs::read_to_string(&signed.key).unwrap(), secret);
    signed.call().success();
    let log = fs::read_to_string(&signed.log).unwrap();
    let secret = secret.split_whitespace().last().unwrap();
    assert!(!log.contains(secret));
}

#[test]
fn where_there_is_no_log_nothing_can_be_signed() {
    let signed = Signed::new();
    let key = signed.key.to_str().unwrap();
    let further = ["--audit", "none", "--audit-key", key];
    let run = signed.cli.call("list_files", &json!({}), further);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("no audit log"), "{run:?}");
}

#[test]
fn a_key_that_a_tool_could_read_is_refused() {
    let mut signed = Signed::new();
    let inside = signed.fixture.inputs().join("key");
    let outside = signed.key.clone();
    fs::copy(&outside, &inside).unwrap();
    signed.key = inside.clone();
    let run = signed.call();
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("it contains the key"), "{run:?}");
    let link = signed.fixture.outside().join("link");
    symlink(&inside, &link).unwrap();
    signed.key = link;
    assert_eq!(signed.call().status, Some(2));
    fs::remove_file(&inside).unwrap();
    fs::hard_link(&outside, &inside).unwrap();
    signed.key = outside;
    assert_eq!(signed.call().status, Some(2));
}
