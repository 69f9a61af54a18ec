//! `rootbound approvals`: the person's side of the queue.

use std::fmt::Write;

use rootbound::{ApprovalQueue, ApprovalState, QueueError, QueuedApproval};
use serde_json::json;

use super::args::{ApprovalsArgs, ApprovalsCommand};
use super::{Exit, Failure, print};

pub(super) fn run(args: &ApprovalsArgs) -> Result<Exit, Failure> {
    let queue = ApprovalQueue::in_state_directory().map_err(anyhow::Error::from)?;
    let answered = match &args.command {
        ApprovalsCommand::List { json } => return list(&queue, *json),
        ApprovalsCommand::Approve { id } => queue.approve(id),
        ApprovalsCommand::Deny { id } => queue.deny(id),
    };
    match answered {
        Ok(question) => {
            print::result(describe(&question).trim_end());
            Ok(Exit::Success)
        }
        Err(error @ QueueError::Unknown(_)) => {
            print::to_stderr(&format!("error: {error}"));
            Ok(Exit::Refused)
        }
        Err(error) => Err(anyhow::Error::from(error).into()),
    }
}

fn list(queue: &ApprovalQueue, as_json: bool) -> Result<Exit, Failure> {
    let questions = queue.list().map_err(anyhow::Error::from)?;
    if as_json {
        print::result(&json!({ "approvals": questions }).to_string());
    } else if questions.is_empty() {
        print::result("nothing waits for an approval");
    } else {
        let text: String = questions.iter().map(describe).collect();
        print::result(text.trim_end());
    }
    Ok(Exit::Success)
}

fn describe(question: &QueuedApproval) -> String {
    let state = match question.state {
        ApprovalState::Pending => "pending",
        ApprovalState::Approved => "approved",
        ApprovalState::Denied => "denied",
    };
    let mut text = format!("{}  {state}  {}\n", question.id, question.tool);
    for effect in &question.effects {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {effect}");
    }
    text
}
