//! What an attack took, and what stopped it.

use crate::bindings::exports::rootbound::tools::provider::{Content, Failure, Output, ToolError};
use crate::bindings::wasi::filesystem::types::{ErrorCode, filesystem_error_code};
use crate::bindings::wasi::io::streams::StreamError;

/// What a tool answers.
pub type Answer = Result<Output, ToolError>;

/// Kept while an attack runs.
#[derive(Default)]
pub struct Spoils {
    gained: Vec<String>,
    stopped: Vec<String>,
    amount: u64,
    answer: Option<Answer>,
}

impl Spoils {
    /// Notes how a call ended that must not succeed: what was gained, or what stopped it.
    pub fn take<T>(&mut self, what: &str, tried: Result<T, impl Into<Stop>>) -> Option<T> {
        let taken = self.step(tried)?;
        self.gain(what);
        Some(taken)
    }

    /// Notes how a call ended that gains nothing by itself.
    pub fn step<T>(&mut self, tried: Result<T, impl Into<Stop>>) -> Option<T> {
        match tried {
            Ok(given) => Some(given),
            Err(stop) => {
                let Stop(code) = stop.into();
                self.stopped.push(code);
                None
            }
        }
    }

    /// Notes something that must not be possible.
    pub fn gain(&mut self, what: impl Into<String>) {
        self.gained.push(what.into());
    }

    /// Counts what a limit is about.
    pub fn count(&mut self, amount: u64) {
        self.amount += amount;
    }

    /// Answers something else than the spoils.
    pub fn answer_with(&mut self, answer: Answer) {
        self.answer = Some(answer);
    }

    /// Answers text as the fields, whatever it is.
    pub fn answer_fields(&mut self, fields: impl Into<String>) {
        self.answer_with(Ok(Output {
            fields: fields.into(),
            content: Content::None,
        }));
    }

    /// Answers a failure.
    pub fn answer_failure(&mut self, code: &str, message: String, details: &str) {
        self.answer_with(Err(ToolError::Tool(Failure {
            code: code.to_owned(),
            message,
            hint: String::new(),
            details: details.to_owned(),
        })));
    }

    /// What the tool answers.
    pub fn answer(self) -> Answer {
        let list = |items: &[String]| {
            let quoted: Vec<String> = items.iter().map(|item| quoted(item)).collect();
            quoted.join(",")
        };
        let fields = format!(
            r#"{{"gained":[{}],"stopped":[{}],"amount":{}}}"#,
            list(&self.gained),
            list(&self.stopped),
            self.amount
        );
        self.answer.unwrap_or(Ok(Output {
            fields,
            content: Content::None,
        }))
    }
}

/// What stopped a call: the name of WASI's error code, or `closed`.
pub struct Stop(String);

impl From<ErrorCode> for Stop {
    fn from(code: ErrorCode) -> Self {
        Self(code.name().to_owned())
    }
}

impl From<StreamError> for Stop {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Closed => Self("closed".to_owned()),
            StreamError::LastOperationFailed(failure) => match filesystem_error_code(&failure) {
                Some(code) => code.into(),
                None => Self(failure.to_debug_string()),
            },
        }
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", c as u32)),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}
