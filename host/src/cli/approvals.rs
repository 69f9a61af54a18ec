//! `rootbound approvals`: the person's side of the queue.

use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rootbound::{ApprovalQueue, ApprovalState, QueueError, QueuedApproval, escaped};
use serde_json::json;

use super::args::{ApprovalsArgs, ApprovalsCommand};
use super::{Exit, Failure, print};

pub(super) fn run(args: &ApprovalsArgs) -> Result<Exit, Failure> {
    let queue = ApprovalQueue::in_state_directory().map_err(anyhow::Error::from)?;
    let answered = match &args.command {
        ApprovalsCommand::List { json } => return list(&queue, *json),
        ApprovalsCommand::Show { id, json } => return show(queue.find(id), *json),
        ApprovalsCommand::Approve { id } => queue.approve(id),
        ApprovalsCommand::Deny { id } => queue.deny(id),
    };
    match answered {
        Ok(question) => {
            print::text(&describe(&question));
            Ok(Exit::Success)
        }
        Err(error) => refused(error),
    }
}

fn show(question: Result<QueuedApproval, QueueError>, as_json: bool) -> Result<Exit, Failure> {
    match question {
        Ok(question) if as_json => print::json(&json!(question).to_string()),
        Ok(question) => print::text(&in_full(&question)),
        Err(error) => return refused(error),
    }
    Ok(Exit::Success)
}

fn refused(error: QueueError) -> Result<Exit, Failure> {
    match error {
        QueueError::Unknown(_) | QueueError::Denied(_) => {
            print::to_stderr(&format!("error: {error}"));
            Ok(Exit::Refused)
        }
        QueueError::Io(_) => Err(anyhow::Error::from(error).into()),
    }
}

fn list(queue: &ApprovalQueue, as_json: bool) -> Result<Exit, Failure> {
    let questions = queue.list().map_err(anyhow::Error::from)?;
    if as_json {
        print::json(&json!({ "approvals": questions }).to_string());
    } else if questions.is_empty() {
        print::text("nothing waits for an approval");
    } else {
        let text: String = questions.iter().map(describe).collect();
        print::text(&text);
    }
    Ok(Exit::Success)
}

/// One question of many: whose it is, and its effects.
fn describe(question: &QueuedApproval) -> String {
    let mut text = head(question);
    for effect in &question.effects {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {effect}");
    }
    text
}

fn in_full(question: &QueuedApproval) -> String {
    let left = Duration::from_secs(question.expires.saturating_sub(now()));
    let mut text = head(question);
    let _ = writeln!(text, "  expires in {}", humantime::format_duration(left));
    let _ = writeln!(text, "  digest {}", question.digest);
    text.push_str(&question.question);
    text
}

fn head(question: &QueuedApproval) -> String {
    let state = match question.state {
        ApprovalState::Pending => "pending",
        ApprovalState::Approved => "approved",
        ApprovalState::Denied => "denied",
    };
    let mut text = format!("{}  {state}  {}\n", question.id, question.tool);
    let _ = write!(text, "  for {}", escaped(&question.principal));
    if !question.session.is_empty() {
        let _ = write!(text, ", session {}", escaped(&question.session));
    }
    text.push('\n');
    text
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(u64::MAX, |since| since.as_secs())
}
