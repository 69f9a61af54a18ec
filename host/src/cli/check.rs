//! `rootbound check`: what is granted, under which policy, and what that means.

use std::fmt::Write;
use std::path::Path;

use rootbound::{Consent, Denied, Manifest, Patterns, Rights, Rotation, SECRETS, Session};
use serde_json::{Value, json};

use super::args::CheckArgs;
use super::opening::{Opened, Purpose};
use super::{Exit, Failure, options, print, roots};

pub(super) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let opened = args.session.open(Purpose::Preview)?;
    if args.print_config {
        let sources = &args.session.sources;
        match args.wants_json() {
            true => print::json(&options::as_json(sources, &opened)),
            false => print::text(&options::as_text(sources, &opened)),
        }
    } else if args.wants_json() {
        print::json(&as_json(&opened, args.look_inside).to_string());
    } else {
        print::text(&as_text(&opened, args.look_inside));
    }
    opened.tenant.host().close()?;
    Ok(Exit::Success)
}

/// What is said of the first component stands at the top: mostly it is the only one.
fn as_json(opened: &Opened, look_inside: bool) -> Value {
    let components = opened.tenant.components();
    let mut described = components
        .iter()
        .map(|(name, session)| of_component(opened, name, session, look_inside));
    let Some(mut first) = described.next() else {
        return Value::Null;
    };
    let others: Vec<Value> = described.collect();
    let session = opened.tenant.session();
    first["audit"] = json!(session.audit().describe());
    first["audit_log"] = audit_as_json(opened);
    first["landlock"] = json!(opened.landlock);
    if !others.is_empty() {
        first["further"] = json!(others);
    }
    first
}

fn of_component(opened: &Opened, name: &str, session: &Session, look_inside: bool) -> Value {
    let roots = session.explain_roots(look_inside);
    let grants: Vec<Value> = roots
        .iter()
        .map(|root| json!({ "label": root.label, "rights": roots::rights(root.rights) }))
        .collect();
    let explained: Vec<Value> = roots.iter().map(roots::as_json).collect();
    let component = session.component();
    let imports: Vec<&str> = component.imports().iter().map(|it| it.as_str()).collect();
    json!({
        "name": name,
        "grants": grants,
        "roots": explained,
        "policy": session.policy_json(),
        "refused": refused(opened, session),
        "component": component.sha256(),
        "imports": imports,
        "manifest": component.manifest().map(Manifest::to_json),
        "warnings": session.warnings(),
    })
}

fn as_text(opened: &Opened, look_inside: bool) -> String {
    let components = opened.tenant.components();
    let mut text = String::new();
    for (name, session) in &components {
        // Writing to a string cannot fail.
        if components.len() > 1 {
            let _ = writeln!(text, "component `{name}`:");
        }
        text.push_str(&about_component(opened, session, look_inside));
    }
    text.push_str("audit:\n");
    for line in audit_as_text(opened) {
        let _ = writeln!(text, "  {line}");
    }
    let _ = writeln!(text, "landlock:\n  {}", opened.landlock);
    text
}

fn about_component(opened: &Opened, session: &Session, look_inside: bool) -> String {
    let mut text = String::from("grants:\n");
    for root in session.explain_roots(look_inside) {
        text.push_str(&roots::as_text(&root));
    }
    if session.grants().is_empty() {
        text.push_str("  none: every file operation is refused\n");
    }
    text.push_str("refused:\n");
    for line in refused(opened, session) {
        // Writing to a string cannot fail.
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
    let component = session.component();
    let _ = writeln!(text, "component:\n  {}", component.sha256());
    for import in component.imports() {
        let _ = writeln!(text, "  has `{import}`: {}", import.in_words());
    }
    if let Some(manifest) = component.manifest() {
        let _ = writeln!(text, "  declares {}", manifest.to_json());
    }
    text
}

/// How the log is kept: nothing where there is none.
fn audit_as_json(opened: &Opened) -> Value {
    let log = opened.tenant.session().audit();
    let Some(mut kept) = opened.tenant.session().audit_json() else {
        return Value::Null;
    };
    let Rotation { max_bytes, max_age } = log.rotation();
    let told = |path: Option<&Path>| json!(path.map(|path| path.display().to_string()));
    kept["file"] = told(log.location());
    if log.directory().is_some() {
        kept["directory"] = told(log.directory());
    }
    kept["max_bytes"] = json!(max_bytes);
    kept["max_age_seconds"] = json!(max_age.map(|age| age.as_secs()));
    kept["otlp"] = json!(opened.otlp);
    kept
}

fn audit_as_text(opened: &Opened) -> Vec<String> {
    let log = opened.tenant.session().audit();
    let Some(kept) = opened.tenant.session().audit_json() else {
        return vec!["NONE, by --audit none: nothing that the tools do is recorded".to_owned()];
    };
    let place = match (log.location(), log.directory()) {
        (Some(file), _) => format!("{} {}", log.describe(), file.display()),
        (None, Some(directory)) => format!("a new file in {}", directory.display()),
        (None, None) => log.describe().to_owned(),
    };
    let durability = match kept["durability"].as_str() {
        Some("full") => "each entry is on the disk before what it announces is done",
        _ => {
            "each entry is written before what it announces is done, and on the disk within a second"
        }
    };
    let arguments = match kept["arguments"].as_str() {
        Some("full") => "in full, but for contents and what looks like a secret",
        _ => "as a hash",
    };
    let signed = match log.public_key() {
        Some(key) => format!("signed, public key {key}"),
        None => "not signed".to_owned(),
    };
    let mut lines = vec![
        place,
        durability.to_owned(),
        format!("arguments: {arguments}"),
        signed,
        rotation(log.rotation()),
    ];
    let to = |endpoint: &String| format!("exported over OTLP, to {endpoint}");
    lines.extend(opened.otlp.as_ref().map(to));
    lines
}

fn rotation(rotation: Rotation) -> String {
    let bytes = rotation.max_bytes.map(|bytes| format!("at {bytes} bytes"));
    let age = rotation
        .max_age
        .map(|age| format!("after {}", humantime::format_duration(age)));
    let when: Vec<String> = bytes.into_iter().chain(age).collect();
    match when.is_empty() {
        true => "one file, however large and old".to_owned(),
        false => format!("put aside {}", when.join(" or ")),
    }
}

fn refused(opened: &Opened, session: &Session) -> Vec<String> {
    let granted = |rights| session.grants().iter().any(|grant| grant.rights == rights);
    let declares = |what: fn(&Manifest) -> bool| session.component().manifest().is_none_or(what);
    let mut lines = vec!["everything outside the granted directories".to_owned()];
    lines.extend(excluded(&session.policy().patterns));
    if !declares(|it| it.read) {
        lines.push("reading and listing: the component declares that it does not".to_owned());
    } else if !granted(Rights::Read) {
        lines.push("reading and listing: nothing is granted for reading".to_owned());
    }
    if !declares(|it| it.write) {
        lines.push("writing and deleting: the component declares that it does not".to_owned());
        return lines;
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
    let allowing = std::iter::once(&patterns.allow).chain(&patterns.allow_also);
    for allow in allowing.filter(|list| !list.is_empty()) {
        lines.push(format!("whatever is not `{}`", allow.join("`, `")));
    }
    let own = Denied {
        patterns: patterns.deny.clone(),
        protect_secrets: patterns.protect_secrets,
    };
    let denying = || std::iter::once(&own).chain(&patterns.deny_also);
    for list in denying().filter(|list| !list.patterns.is_empty()) {
        lines.push(format!("what is `{}`", list.patterns.join("`, `")));
    }
    if denying().any(|list| list.protect_secrets) {
        lines.push(format!(
            "what usually holds credentials: `{}`",
            SECRETS.join("`, `")
        ));
    }
    lines
}
