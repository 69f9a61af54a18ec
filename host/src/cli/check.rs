//! `rootbound check`: what is granted, under which policy, and what that means.

use std::fmt::Write;

use rootbound::{Consent, Patterns, Rights, SECRETS};
use serde_json::{Value, json};

use super::args::{CheckArgs, Opened};
use super::{Exit, Failure, options, print, roots};

pub(super) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let opened = args.session.open()?;
    if args.print_config {
        let sources = &args.session.sources;
        print::result(&options::shown(
            sources,
            &opened.session.policy_json(),
            args.wants_json(),
        ));
    } else if args.wants_json() {
        print::result(&as_json(&opened, args.look_inside).to_string());
    } else {
        print::result(as_text(&opened, args.look_inside).trim_end());
    }
    opened.session.close()?;
    Ok(Exit::Success)
}

fn as_json(opened: &Opened, look_inside: bool) -> Value {
    let session = &opened.session;
    let roots = session.explain_roots(look_inside);
    let grants: Vec<Value> = roots
        .iter()
        .map(|root| json!({ "label": root.label, "rights": roots::rights(root.rights) }))
        .collect();
    let explained: Vec<Value> = roots.iter().map(roots::as_json).collect();
    json!({
        "grants": grants,
        "roots": explained,
        "policy": session.policy_json(),
        "refused": refused(opened),
        "audit": session.audit().describe(),
        "landlock": opened.landlock,
        "component": session.component().sha256(),
        "warnings": session.warnings(),
    })
}

fn as_text(opened: &Opened, look_inside: bool) -> String {
    let session = &opened.session;
    let mut text = String::from("grants:\n");
    // Writing to a string cannot fail.
    for root in session.explain_roots(look_inside) {
        text.push_str(&roots::as_text(&root));
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

fn refused(opened: &Opened) -> Vec<String> {
    let session = &opened.session;
    let granted = |rights| session.grants().iter().any(|grant| grant.rights == rights);
    let mut lines = vec!["everything outside the granted directories".to_owned()];
    lines.extend(excluded(&session.policy().patterns));
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

fn excluded(patterns: &Patterns) -> Vec<String> {
    let mut lines = Vec::new();
    if !patterns.allow.is_empty() {
        lines.push(format!("whatever is not `{}`", patterns.allow.join("`, `")));
    }
    if !patterns.deny.is_empty() {
        lines.push(format!("what is `{}`", patterns.deny.join("`, `")));
    }
    if patterns.protect_secrets {
        lines.push(format!(
            "what usually holds credentials: `{}`",
            SECRETS.join("`, `")
        ));
    }
    lines
}
