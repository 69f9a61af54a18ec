//! `docs/audit_verify.py`, which was written from `docs/audit.md` and knows nothing of this
//! program: both find the same logs whole, and the same line of damaged ones wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rootbound::{AuditFault, AuditKey, AuditLog, Rotation, Session, log_head, verify_log};
use serde_json::json;

use crate::support::cli::Cli;
use crate::support::{Fixture, sha256};

/// Says of each file what the other verifier finds, a line each: `whole`, or the number of the
/// line that is wrong.
const DRIVER: &str = "
import re, sys
sys.path.insert(0, sys.argv[1])
import audit_verify
for name in sys.argv[2:]:
    try:
        audit_verify.verify([name])
        print('whole')
    except audit_verify.Damage as damage:
        line = re.search(r'line (\\d+):', str(damage))
        print(line[1] if line else 'empty')
";

fn theirs(files: &[PathBuf]) -> Vec<String> {
    let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut python = Command::new("python3");
    python.args(["-B", "-c", DRIVER]).arg(documents).args(files);
    let output = python.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn ours(file: &Path) -> String {
    match verify_log(&*fs::read(file).unwrap(), None) {
        Ok(_) => "whole".to_owned(),
        Err(AuditFault::Line { line, .. }) => line.to_string(),
        Err(AuditFault::Beginning { .. }) => "1".to_owned(),
        Err(AuditFault::Empty) => "empty".to_owned(),
        Err(other) => panic!("{other}"),
    }
}

/// A log with everything in it that is hard to spell.
fn log_of(fixture: &Fixture) -> PathBuf {
    let file = fixture.outside().join("audit.jsonl");
    let log = AuditLog::file(&file)
        .unwrap()
        .signed_by(AuditKey::generate());
    let session = Session::builder()
        .work_root(fixture.workspace())
        .portable_names(false)
        .record_arguments(true)
        .audit(log)
        .build()
        .unwrap();
    for name in [
        "plain",
        "ä\u{202e}\u{e000}\u{10000}",
        "a\\\"b",
        "\u{7f}\u{1}\n",
        "../x",
    ] {
        let arguments = json!({ "path": name, "content": name, "\u{e000}": 1, "\u{10000}": 2 });
        let _ = session.call("write_file", arguments);
        let _ = session.call("write_file", json!({ "path": name, "content": name }));
        let _ = session.call(name, json!([name, 1.5, -1, u64::MAX, null, true]));
    }
    session.close().unwrap();
    file
}

/// A number below `most`, by chance that is the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 += 1;
        let digits = sha256(self.0.to_string());
        usize::try_from(u64::from_str_radix(&digits[..12], 16).unwrap()).unwrap() % most
    }
}

/// The lines of a log, each with its line feed, with one thing wrong.
fn damaged(lines: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut lines = lines.to_vec();
    let at = chance.below(lines.len());
    let place = chance.below(lines[at].len());
    match chance.below(9) {
        0 => lines[at][place] ^= 1 << chance.below(8),
        1 => drop(lines[at].remove(place)),
        2 => lines[at].insert(place, u8::try_from(chance.below(256)).unwrap()),
        3 => drop(lines.remove(at)),
        4 => lines.insert(at, lines[at].clone()),
        5 => {
            let other = chance.below(lines.len());
            lines.swap(at, other);
        }
        6 => lines.truncate(at),
        7 => lines.last_mut().unwrap().truncate(place + 1),
        _ => {
            let text = String::from_utf8_lossy(&lines[at]).replacen(":", ": ", 1);
            lines[at] = text.into_bytes();
        }
    }
    lines.concat()
}

#[test]
fn two_verifiers_agree_on_good_and_on_damaged_logs() {
    let fixture = Fixture::new();
    let log = log_of(&fixture);
    let whole = fs::read(&log).unwrap();
    let lines: Vec<Vec<u8>> = whole
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let mut files = vec![log];
    let mut chance = Chance(0);
    for number in 0..250 {
        let file = fixture.outside().join(format!("damaged-{number}"));
        fs::write(&file, damaged(&lines, &mut chance)).unwrap();
        files.push(file);
    }
    let theirs = theirs(&files);
    let ours: Vec<String> = files.iter().map(|file| ours(file)).collect();
    for ((file, ours), theirs) in files.iter().zip(&ours).zip(&theirs) {
        assert_eq!(ours, theirs, "{}: {:?}", file.display(), fs::read(file));
    }
    assert_eq!((ours[0].as_str(), theirs.len()), ("whole", files.len()));
    // The control: a log that is cut off at a line is a whole log, and most others are not.
    let found = ours.iter().filter(|ours| *ours != "whole").count();
    assert!(found > 200, "{found}");
}

#[test]
fn a_file_of_a_chain_is_whole_to_both_behind_the_one_before() {
    let fixture = Fixture::new();
    let log = fixture.outside().join("audit.jsonl");
    let session = Session::builder()
        .read_root(fixture.inputs())
        .audit_file(&log)
        .audit_rotation(Rotation {
            max_bytes: Some(1),
            max_age: None,
        })
        .build()
        .unwrap();
    session.call("list_files", "{}").unwrap();
    let files = [log.with_extension("jsonl.1"), log];
    assert_eq!(theirs(&files), ["whole", "1"]);
    assert_eq!(files.each_ref().map(|file| ours(file)), ["whole", "1"]);
    let [first, second] = files.each_ref().map(|file| file.to_str().unwrap());
    let head = log_head(fs::File::open(first).unwrap()).unwrap();
    let zeros = "0".repeat(64);
    for (arguments, status) in [
        (&[first, second][..], 0),
        (&["--after", &head, second], 0),
        (&["--after", &zeros, second], 1),
        (&["--after", &head, first], 1),
        (&["--after", "", first], 2),
        (&[second], 1),
    ] {
        assert_eq!(script(arguments), Some(status), "{arguments:?}");
        let run = Cli::new().run(["audit", "verify"].iter().chain(arguments));
        assert_eq!(run.status, Some(status), "{arguments:?} {run:?}");
    }
}

fn script(arguments: &[&str]) -> Option<i32> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/audit_verify.py");
    let mut python = Command::new("python3");
    let output = python.arg("-B").arg(script).args(arguments).output();
    output.unwrap().status.code()
}

/// An option whose value is empty, as that of a variable which was not set, is not one that was
/// not given.
#[test]
fn what_is_no_hash_and_no_key_is_an_error_to_both() {
    let fixture = Fixture::new();
    let log = log_of(&fixture);
    let log = log.to_str().unwrap();
    assert_eq!(script(&[log]), Some(0));
    let zeros = "0".repeat(64);
    for (option, value, status) in [
        ("--head", "", 2),
        ("--head", "00", 2),
        ("--head", zeros.as_str(), 1),
        ("--public-key", "", 2),
        ("--public-key", "nonsense", 2),
    ] {
        assert_eq!(
            script(&[option, value, log]),
            Some(status),
            "{option} {value}"
        );
        let run = Cli::new().run(["audit", "verify", option, value, log]);
        assert_eq!(run.status, Some(status), "{option} {value} {run:?}");
    }
}

/// What no writer writes, though its hash is right.
#[test]
fn numbers_below_zero_and_lines_without_end_are_refused_by_both() {
    let fixture = Fixture::new();
    let file = fixture.outside().join("odd");
    let long = "x".repeat(4 << 20);
    for member in ["\"bytes\":-1".to_owned(), format!("\"code\":\"{long}\"")] {
        let zeros = "0".repeat(64);
        let entry = format!("{{{member},\"kind\":\"genesis\",\"prev\":\"{zeros}\",\"seq\":0}}");
        let hash = sha256(&entry);
        let line = format!("{},\"hash\":\"{hash}\"}}\n", entry.trim_end_matches('}'));
        fs::write(&file, line).unwrap();
        assert_eq!(
            (
                ours(&file).as_str(),
                theirs(std::slice::from_ref(&file))[0].as_str()
            ),
            ("1", "1")
        );
    }
}
