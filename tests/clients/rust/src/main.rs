//! One story by `rmcp`'s own client.
//!
//! Usage: story PROGRAM INPUTS WORKSPACE URL TOKEN MODE
//!
//! MODE is `initialize` or `discover`. An empty URL means the standard streams.

use std::error::Error;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, Implementation, ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};
use tokio::process::Command;

type Outcome<T> = Result<T, Box<dyn Error>>;
type Client = RunningService<RoleClient, Person>;

/// The person behind the client, who says yes.
#[derive(Clone, Default)]
struct Person(Arc<Mutex<Vec<String>>>);

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities =
            serde_json::from_value(json!({ "elicitation": { "form": {} } })).expect("capabilities");
        ClientConfig::new(capabilities, Implementation::new("story", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        self.0.lock().expect("the questions").push(message);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "approve": true })))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [program, inputs, workspace, url, token, mode] = &words[..] else {
        return Err("usage: story PROGRAM INPUTS WORKSPACE URL TOKEN MODE".into());
    };
    let lifecycle = match mode.as_str() {
        "initialize" => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let person = Person::default();
    let questions = Arc::clone(&person.0);
    let client = if url.is_empty() {
        let mut command = Command::new(program);
        command.args(["mcp", "--read", inputs, "--work", workspace]);
        let server = TokioChildProcess::new(command)?;
        person.serve_with_lifecycle(server, lifecycle).await?
    } else {
        let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
        let server = StreamableHttpClientTransport::from_config(config.auth_header(token.as_str()));
        person.serve_with_lifecycle(server, lifecycle).await?
    };
    story(&client, &questions).await?;
    client.cancel().await?;
    Ok(())
}

async fn call(client: &Client, name: &str, arguments: Value) -> Outcome<CallToolResult> {
    let arguments = arguments.as_object().cloned().ok_or("no object")?;
    let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
    Ok(client.call_tool(params).await?)
}

fn text(result: &CallToolResult) -> &str {
    let first = result.content.first();
    first
        .and_then(|block| block.as_text())
        .map_or("", |block| &block.text)
}

fn fields(result: &CallToolResult) -> Value {
    let last = result.content.last().and_then(|block| block.as_text());
    last.and_then(|block| serde_json::from_str(&block.text).ok())
        .unwrap_or_default()
}

async fn story(client: &Client, questions: &Mutex<Vec<String>>) -> Outcome<()> {
    let told = client.peer_info().ok_or("nothing was told")?;
    let words = told.instructions.clone().unwrap_or_default();
    assert!(words.contains("read and list"), "{words}");
    let tools = client.list_all_tools().await?;
    for name in ["read_file", "write_file", "delete_file"] {
        assert!(tools.iter().any(|tool| tool.name == name), "{name}");
    }
    let read = call(client, "read_file", json!({"path": "notes.md"})).await?;
    assert_eq!(text(&read), "hello\n");
    let escape = call(client, "read_file", json!({"path": "../secret"})).await?;
    assert_eq!(escape.is_error, Some(true));
    assert_eq!(fields(&escape)["code"], "invalid-path");
    let report = json!({"path": "report.md", "content": "done"});
    let written = call(client, "write_file", report).await?;
    assert!(fields(&written)["receipt"].is_object(), "{written:?}");
    let deleted = call(client, "delete_file", json!({"path": "old.md"})).await?;
    assert_ne!(deleted.is_error, Some(true), "{deleted:?}");
    {
        let questions = questions.lock().expect("the questions");
        assert!(
            questions.len() == 1 && questions[0].contains("old.md"),
            "{questions:?}"
        );
    }
    let back = call(client, "read_file", json!({"path": "report.md"})).await?;
    assert_eq!(text(&back), "done");
    let gone = call(client, "file_exists", json!({"path": "old.md"})).await?;
    assert_eq!(fields(&gone)["exists"], false);
    Ok(())
}
