//! What the model is told about this session, in plain words.

use std::fmt::Write;

use rootbound::{Consent, Rights, Session, Tenant};

/// Who can be asked about a change, as far as that is known before a client has said what
/// it can do.
pub(super) const ASKS_AT_THE_CLIENT: &str = "the user is asked, where the client can do that";

pub(super) fn for_tenant(tenant: &Tenant, approver: &str) -> String {
    let components = tenant.components();
    if let [(_, only)] = components.as_slice() {
        return for_session(only, approver);
    }
    let mut text = String::new();
    for (name, session) in &components {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "Tools of `{name}`: {}",
            for_session(session, approver)
        );
    }
    text
}

fn for_session(session: &Session, approver: &str) -> String {
    let labels = |rights| {
        let grants = session.grants();
        let of_kind = grants.iter().filter(|grant| grant.rights == rights);
        let labels: Vec<String> = of_kind.map(|grant| format!("`{}`", grant.label)).collect();
        labels.join(", ")
    };
    let (read, write) = (labels(Rights::Read), labels(Rights::Write));
    let mut text = String::from(
        "These tools see only the directories that the user granted. Paths are relative to a granted directory and use `/`.",
    );
    // Writing to a string cannot fail.
    let _ = match read.as_str() {
        "" => write!(text, " Nothing is granted for reading."),
        _ => write!(
            text,
            " You may read and list: {read}, looked up in this order."
        ),
    };
    let _ = match write.as_str() {
        "" => write!(text, " Nothing is granted for writing."),
        _ => write!(text, " You may create files and directories in: {write}."),
    };
    if !write.is_empty() {
        let policy = session.policy();
        for (consent, what) in [
            (policy.overwrite, "Changing a file that existed before"),
            (policy.delete, "Deleting or renaming what existed before"),
        ] {
            let _ = match consent {
                Consent::Deny => write!(text, " {what} is refused."),
                Consent::Ask => write!(text, " {what} needs an approval: {approver}."),
                Consent::Allow => write!(text, " {what} is allowed."),
            };
        }
        text.push_str(
            " A tool that changes something takes `dry_run: true` to show what it would do.",
        );
    }
    if session.audit().describe() == "none" {
        text.push_str(
            " Nothing of what you do here is recorded: the user has switched the audit log off.",
        );
    }
    let limits = &session.policy().limits;
    let _ = write!(
        text,
        " A result may have {} KiB. A refusal carries a `code` and a `hint`; follow the hint, and do not repeat a refused call unchanged.",
        limits.max_output_bytes >> 10
    );
    text
}
