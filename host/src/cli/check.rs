//! `rootbound check`: what is granted, under which policy, and what that means.

use std::fmt::Write;

use rootbound::{Consent, Rights};
use serde_json::{Value, json};

use super::args::{CheckArgs, Opened};
use super::{Exit, Failure, print};

pub(super) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let opened = args.session.open()?;
    if args.json {
        print::result(&as_json(&opened).to_string());
    } else {
        print::result(as_text(&opened).trim_end());
    }
    opened.session.close()?;
    Ok(Exit::Success)
}

fn as_json(opened: &Opened) -> Value {
    let session = &opened.session;
    let grants: Vec<Value> = session
        .grants()
        .iter()
        .map(|grant| json!({ "label": grant.label, "rights": rights(grant.rights) }))
        .collect();
    json!({
        "grants": grants,
        "policy": session.policy_json(),
        "refused": refused(opened),
        "audit": session.audit().describe(),
        "landlock": opened.landlock,
        "component": session.component().sha256(),
        "warnings": session.warnings(),
    })
}

fn as_text(opened: &Opened) -> String {
    let session = &opened.session;
    let mut text = String::from("grants:\n");
    // Writing to a string cannot fail.
    for grant in session.grants() {
        let _ = writeln!(text, "  {:<12} {}", grant.label, rights(grant.rights));
    }
    if session.grants().is_empty() {
        text.push_str("  none: every file operation is refused\n");
    }
    text.push_str("refused:\n");
    for line in refused(opened) {
        let _ = writeln!(text, "  {line}");
    }
    text.push_str("policy:\n");
    if let Value::Object(policy) = session.policy_json() {
        for (name, value) in policy {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(text, "  {name:<20} {value}");
        }
    }
    let _ = writeln!(text, "audit:\n  {}", session.audit().describe());
    let _ = writeln!(text, "landlock:\n  {}", opened.landlock);
    let _ = writeln!(text, "component:\n  {}", session.component().sha256());
    text
}

fn rights(rights: Rights) -> &'static str {
    match rights {
        Rights::Read => "read",
        Rights::Write => "write",
    }
}

fn refused(opened: &Opened) -> Vec<String> {
    let session = &opened.session;
    let granted = |rights| session.grants().iter().any(|grant| grant.rights == rights);
    let mut lines = vec!["everything outside the granted directories".to_owned()];
    if !granted(Rights::Read) {
        lines.push("reading and listing: nothing is granted for reading".to_owned());
    }
    if !granted(Rights::Write) {
        lines.push("writing and deleting: nothing is granted for writing".to_owned());
        return lines;
    }
    let policy = session.policy();
    for (consent, what) in [
        (policy.overwrite, "changing a file that exists"),
        (policy.delete, "deleting or renaming what exists"),
    ] {
        match consent {
            Consent::Deny => lines.push(what.to_owned()),
            Consent::Ask => lines.push(format!("{what}, unless approved: {}", opened.approver)),
            Consent::Allow => {}
        }
    }
    lines
}
