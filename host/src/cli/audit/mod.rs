//! `rootbound audit`: for those who read the log, whoever wrote it.

mod filter;
mod follow;
mod row;
mod show;
mod summary;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rootbound::{
    AuditFault, AuditKey, AuditPublicKey, LogVerifier, Unsettled, VerifiedLog, escaped, log_head,
};
use rustix::fs::OFlags;
use serde_json::{Value, json};

use super::args::{AuditArgs, AuditCommand};
use super::{Exit, Failure, print};

/// Bytes of a log that are read at a time.
const PIECE: usize = 1 << 20;
/// Bytes that are read of a file with a public key, which has 64 digits.
const MOST_OF_KEY: u64 = 1024;

pub(super) fn run(args: &AuditArgs) -> Result<Exit, Failure> {
    match &args.command {
        AuditCommand::Verify {
            files,
            head,
            after,
            public_key,
        } => {
            let mut verifier = LogVerifier::new();
            if let Some(hash) = after {
                verifier = verifier.after(hash);
            }
            verify(verifier, files, head.as_deref(), public_key.as_deref())
        }
        AuditCommand::Show(args) => show::run(args),
        AuditCommand::Head { file } => answer(file, log_head(open(file)?), |head| head),
        AuditCommand::Keygen { file } => keygen(file),
    }
}

/// Opens a log. A pipe, which might never end, a directory and a device are none.
#[expect(
    clippy::disallowed_methods,
    reason = "the operator names the file to be read"
)]
fn open(file: &Path) -> anyhow::Result<File> {
    let open = || {
        let file = File::options()
            .read(true)
            .custom_flags(OFlags::NONBLOCK.bits() as i32)
            .open(file)?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(std::io::Error::other("it is not a regular file")),
        }
    };
    open().with_context(|| format!("`{}`", file.display()))
}

/// A log by name, or from the standard input.
fn read(file: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    Ok(match file.as_os_str() == "-" {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(BufReader::with_capacity(PIECE, open(file)?)),
    })
}

fn verify(
    mut verifier: LogVerifier,
    files: &[PathBuf],
    head: Option<&str>,
    key: Option<&OsStr>,
) -> Result<Exit, Failure> {
    if let Some(key) = key {
        verifier = verifier.signed_by(public_key(key)?);
    }
    check_files(files)?;
    for file in files {
        if let Err(fault) = verifier.read(read(file)?) {
            return refused(file, fault);
        }
    }
    let result = verifier.finish(head);
    let concerned = match result {
        Err(AuditFault::Beginning { .. }) => files.first(),
        _ => files.last(),
    };
    let file = concerned.map_or(Path::new(""), PathBuf::as_path);
    answer(file, result, |verified| {
        if let Some(words) = beginning(verified.before) {
            print::to_stderr(&format!("warning: {words}"));
        }
        for change in &verified.unsettled {
            print::to_stderr(&format!("warning: {}", describe(change)));
        }
        as_json(&verified, key.is_some()).to_string()
    })
}

/// Refuses one file under two names, which says nothing about its entries.
#[expect(
    clippy::disallowed_methods,
    reason = "the operator names the files to be read"
)]
fn check_files(files: &[PathBuf]) -> anyhow::Result<()> {
    let id = |file: &PathBuf| {
        let metadata = std::fs::metadata(file).ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    for (at, file) in files.iter().enumerate() {
        let mut before = files[..at].iter();
        if let Some(same) = before.find(|before| id(before).is_some() && id(before) == id(file)) {
            if same == file {
                let name = escaped(&file.display().to_string());
                anyhow::bail!("`{name}` is named twice; leave one of them out");
            }
            anyhow::bail!(
                "`{}` and `{}` are one file: a process was killed while it put the file aside; leave one of them out here, and the next start with `--audit` takes the second name away",
                escaped(&same.display().to_string()),
                escaped(&file.display().to_string()),
            );
        }
    }
    Ok(())
}

/// Prints what was found, or what is wrong.
fn answer<T>(
    file: &Path,
    result: Result<T, AuditFault>,
    text: impl FnOnce(T) -> String,
) -> Result<Exit, Failure> {
    match result {
        Ok(found) => {
            print::json(&text(found));
            Ok(Exit::Success)
        }
        Err(fault) => refused(file, fault),
    }
}

fn refused(file: &Path, fault: AuditFault) -> Result<Exit, Failure> {
    match fault {
        AuditFault::Unreadable(error) if error.kind() != std::io::ErrorKind::InvalidData => {
            Err(anyhow::Error::from(error).into())
        }
        fault => {
            let name = escaped(&file.display().to_string());
            print::to_stderr(&format!("error: `{name}`: {fault}"));
            Ok(Exit::Refused)
        }
    }
}

fn as_json(verified: &VerifiedLog, signed: bool) -> Value {
    let mut answer = json!({ "entries": verified.entries, "head": verified.head });
    if verified.before > 0 {
        answer["before"] = verified.before.into();
    }
    if !verified.unsettled.is_empty() {
        let unsettled = verified.unsettled.iter().map(|change| {
            json!({
                "line": change.line,
                "call": change.call,
                "operation": change.operation,
                "root": change.root,
                "path": change.path,
            })
        });
        answer["unsettled"] = unsettled.collect();
    }
    if signed {
        answer["checkpoints"] = verified.checkpoints.into();
        answer["not_closed"] = verified.not_closed.as_slice().into();
    }
    answer
}

/// What was not looked at, where a log does not begin with its very first entry.
fn beginning(before: u64) -> Option<String> {
    (before > 0).then(|| {
        format!("the log begins at entry {before}: the {before} entries before it are not here")
    })
}

fn describe(change: &Unsettled) -> String {
    format!(
        "line {}: `{}` of {}:{} by {} has no outcome: the process was killed, or is at work",
        change.line,
        escaped(&change.operation),
        escaped(&change.root),
        escaped(&change.path),
        escaped(&change.call),
    )
}

/// The key itself, or the file that holds it.
fn public_key(given: &OsStr) -> anyhow::Result<AuditPublicKey> {
    if let Some(key) = given.to_str().and_then(|text| text.parse().ok()) {
        return Ok(key);
    }
    let text = std::io::read_to_string(open(Path::new(given))?.take(MOST_OF_KEY))
        .with_context(|| format!("`{}`", given.display()))?;
    let key = text.trim().parse();
    key.with_context(|| format!("`{}`", given.display()))
}

fn keygen(file: &Path) -> Result<Exit, Failure> {
    let key = AuditKey::generate();
    key.write_new(file)
        .with_context(|| format!("`{}`", file.display()))?;
    print::result(&key.public_key().to_string());
    Ok(Exit::Success)
}
