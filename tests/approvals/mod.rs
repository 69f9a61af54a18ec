//! Who is asked before something is destroyed, what the question says, and what an answer is
//! good for.

mod answers;
mod arguments;
mod audit;
mod binding;
mod broker;
mod classes;
mod forgery;
mod question;
mod queue;
mod scopes;
mod terminal;

use std::sync::{Arc, Mutex};

use rootbound::{
    ApprovalRequest, Approver, Consent, Decision, Durability, Session, SessionBuilder,
};
use serde_json::{Value, json};

use crate::support::{Fixture, Recorded};

/// An approver that keeps what it was asked and always answers the same. Clones share what
/// was asked.
#[derive(Clone)]
struct Witness {
    answer: Decision,
    questions: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl Witness {
    fn answering(answer: Decision) -> Self {
        Self {
            answer,
            questions: Arc::default(),
        }
    }

    fn approving() -> Self {
        Self::answering(Decision::approve_once("witness"))
    }

    fn refusing() -> Self {
        Self::answering(Decision::refuse("witness"))
    }

    fn questions(&self) -> Vec<ApprovalRequest> {
        self.questions.lock().unwrap().clone()
    }

    /// How often it was asked.
    fn asked(&self) -> usize {
        self.questions().len()
    }

    /// The only question that there was.
    fn question(&self) -> ApprovalRequest {
        let mut questions = self.questions();
        assert_eq!(questions.len(), 1, "one question a call");
        questions.remove(0)
    }
}

impl Approver for Witness {
    fn decide(&self, request: &ApprovalRequest) -> Decision {
        self.questions.lock().unwrap().push(request.clone());
        self.answer.clone()
    }
}

/// The workspace both ways, where everything that destroys is asked about.
fn asking(fixture: &Fixture) -> SessionBuilder {
    Session::builder()
        .work_root(fixture.workspace())
        .overwrite(Consent::Ask)
        .delete(Consent::Ask)
        .durability(Durability::Fast)
}

fn session_asking(fixture: &Fixture, approver: impl Approver + 'static) -> Recorded {
    Recorded::build(asking(fixture).approver(approver))
}

/// A call that destroys, on the files of [`destructible`].
struct Destruction {
    tool: &'static str,
    arguments: fn() -> Value,
}

const DESTRUCTIONS: [Destruction; 4] = [
    Destruction {
        tool: "write_file",
        arguments: || json!({"path": "a.txt", "content": "new"}),
    },
    Destruction {
        tool: "create_file",
        arguments: || json!({"file_path": "a.txt", "content": "new", "overwrite": true}),
    },
    Destruction {
        tool: "delete_file",
        arguments: || json!({"path": "a.txt"}),
    },
    Destruction {
        tool: "delete_file",
        arguments: || json!({"path": "full", "recursive": true}),
    },
];

/// A file and a full directory that no session made.
fn destructible() -> Fixture {
    let fixture = Fixture::new();
    fixture.work("a.txt", "old");
    fixture.work("full/b.txt", "old");
    fixture
}

fn is_untouched(fixture: &Fixture) -> bool {
    let old = |path: &str| {
        std::fs::read_to_string(fixture.workspace().join(path)).is_ok_and(|text| text == "old")
    };
    old("a.txt") && old("full/b.txt")
}
