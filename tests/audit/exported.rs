//! The log as an OpenTelemetry collector gets it: a receiver of OTLP over HTTP, which decodes
//! what comes by the protocol's own message definitions.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::common::v1::{AnyValue as Any, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use rootbound::{CallOptions, OtlpObserver, Session, SessionBuilder};
use serde_json::{Value, json};

use super::traces::{PARENT, TRACE};
use super::{initialize, lines_of, tool_call, verify};
use crate::support::Fixture;
use crate::support::cli::{Cli, Run};

/// Much longer than an export takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// One request, as it came.
struct Request {
    path: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// A collector on the loopback interface, which takes everything that it can read.
struct Collector {
    endpoint: String,
    requests: Receiver<Request>,
}

/// What a collector got.
#[derive(Default)]
struct Received {
    resource: BTreeMap<String, Value>,
    records: Vec<LogRecord>,
    spans: Vec<Span>,
    headers: BTreeMap<String, String>,
}

impl Collector {
    fn start() -> Self {
        Self::answering("200 OK")
    }

    fn answering(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::channel();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let (connection, sender) = (connection.unwrap(), sender.clone());
                std::thread::spawn(move || serve(connection, status, &sender));
            }
        });
        Self { endpoint, requests }
    }

    /// What has come so far, all of which was awaited by who sent it.
    fn received(&self) -> Received {
        let mut received = Received::default();
        for request in self.requests.try_iter() {
            received.add(request);
        }
        received
    }
}

fn serve(mut connection: TcpStream, status: &str, to: &Sender<Request>) {
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    while let Some(request) = read_request(&mut reader) {
        let _ = to.send(request);
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n"
        );
        if connection.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Request> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let path = lines[0].split(' ').nth(1).unwrap().to_owned();
    let headers: BTreeMap<String, String> = lines[1..]
        .iter()
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        path,
        headers,
        body,
    })
}

impl Received {
    fn add(&mut self, request: Request) {
        assert_eq!(request.headers["content-type"], "application/x-protobuf");
        self.headers.extend(request.headers);
        match &*request.path {
            "/v1/logs" => {
                let export = ExportLogsServiceRequest::decode(&*request.body).unwrap();
                for logs in export.resource_logs {
                    self.resource
                        .extend(map(&logs.resource.unwrap().attributes));
                    for logs in logs.scope_logs {
                        assert_eq!(logs.scope.unwrap().name, "rootbound.audit");
                        self.records.extend(logs.log_records);
                    }
                }
            }
            "/v1/traces" => {
                let export = ExportTraceServiceRequest::decode(&*request.body).unwrap();
                for spans in export.resource_spans {
                    self.resource
                        .extend(map(&spans.resource.unwrap().attributes));
                    for spans in spans.scope_spans {
                        self.spans.extend(spans.spans);
                    }
                }
            }
            other => panic!("{other}"),
        }
    }

    fn bodies(&self) -> Vec<String> {
        let bodies = self
            .records
            .iter()
            .map(|record| plain(record.body.as_ref()));
        bodies
            .map(|body| body.as_str().unwrap().to_owned())
            .collect()
    }
}

fn plain(value: Option<&Any>) -> Value {
    match value.and_then(|value| value.value.as_ref()) {
        Some(AnyValue::StringValue(text)) => json!(text),
        Some(AnyValue::IntValue(number)) => json!(number),
        Some(AnyValue::BoolValue(truth)) => json!(truth),
        other => panic!("{other:?}"),
    }
}

fn map(attributes: &[KeyValue]) -> BTreeMap<String, Value> {
    let pair = |one: &KeyValue| (one.key.clone(), plain(one.value.as_ref()));
    attributes.iter().map(pair).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn exported(fixture: &Fixture, collector: &Collector) -> (SessionBuilder, PathBuf) {
    let log = fixture.outside().join("audit.jsonl");
    let observer = OtlpObserver::to(Some(&collector.endpoint)).unwrap();
    let builder = Session::builder()
        .work_root(fixture.workspace())
        .audit_file(&log)
        .audit_observer(observer);
    (builder, log)
}

/// The members of an entry that are attributes, by the names that they have there.
fn expected_attributes(entry: &Value) -> BTreeMap<String, Value> {
    let mut expected = BTreeMap::new();
    for (name, value) in entry.as_object().unwrap() {
        if name == "object" {
            for (part, value) in value.as_object().unwrap() {
                expected.insert(format!("rootbound.object.{part}"), value.clone());
            }
        } else if !value.is_object() && !value.is_array() {
            expected.insert(format!("rootbound.{name}"), value.clone());
        }
    }
    expected
}

#[test]
fn every_entry_is_a_log_record_and_every_call_a_span() {
    let (fixture, collector) = (Fixture::new(), Collector::start());
    let (builder, log) = exported(&fixture, &collector);
    let session = builder.build().unwrap();
    let options = CallOptions {
        trace: Some(PARENT.parse().unwrap()),
        ..CallOptions::default()
    };
    let write = json!({ "path": "d/t", "content": "x" });
    session.call_with("write_file", write, options).unwrap();
    session.call("read_file", json!({ "path": "d/t" })).unwrap();
    session
        .call("read_file", json!({ "path": "../t" }))
        .unwrap_err();
    session.call("no such tool", "{}").unwrap_err();
    session.close().unwrap();
    let received = collector.received();
    let lines = lines_of(&log);
    assert_eq!(received.bodies(), lines);
    let entries = verify(&lines);
    for (record, entry) in received.records.iter().zip(&entries) {
        assert_eq!(map(&record.attributes), expected_attributes(entry));
        let kind = entry["kind"].as_str().unwrap();
        assert_eq!(record.event_name, format!("rootbound.{kind}"));
        let severity = if kind == "refusal" { "WARN" } else { "INFO" };
        assert_eq!(record.severity_text, severity, "{entry}");
        assert!(record.time_unix_nano > 0 && record.observed_time_unix_nano > 0);
        assert_eq!(
            record.span_id.is_empty(),
            entry["call"].is_null(),
            "{entry}"
        );
    }
    assert_eq!(received.resource["service.name"], "rootbound");
    assert_eq!(
        received.resource["service.version"],
        env!("CARGO_PKG_VERSION")
    );
    let names: Vec<&str> = received.spans.iter().map(|span| &*span.name).collect();
    let expected = [
        "call write_file",
        "call read_file",
        "call read_file",
        "call",
    ];
    assert_eq!(names, expected);
    // The first belongs to the caller's trace, as do the records of its call.
    let first = &received.spans[0];
    assert_eq!(hex(&first.trace_id), TRACE);
    assert_eq!(hex(&first.parent_span_id), "00f067aa0ba902b7");
    let of_first = |record: &&LogRecord| record.span_id == first.span_id;
    let of_first: Vec<_> = received.records.iter().filter(of_first).collect();
    assert_eq!(of_first.len(), 5);
    assert!(
        of_first
            .iter()
            .all(|record| record.trace_id == first.trace_id)
    );
    // The others begin traces of their own, whose ids anybody can tell from the log.
    let ended = entries.iter().filter(|entry| entry["kind"] == "call");
    for (span, entry) in received.spans.iter().zip(ended) {
        let digest = crate::support::sha256(entry["call"].as_str().unwrap());
        assert_eq!(hex(&span.span_id), digest[..16]);
        let duration = span.end_time_unix_nano - span.start_time_unix_nano;
        assert_eq!(duration / 1000, entry["duration_us"].as_u64().unwrap());
        if entry["traceparent"].is_null() {
            assert_eq!(hex(&span.trace_id), digest[16..48]);
            assert!(span.parent_span_id.is_empty());
        }
        let status = span.status.as_ref().unwrap();
        assert_eq!(status.message, entry["code"].as_str().unwrap_or_default());
    }
}

#[test]
fn a_caller_that_is_not_sampled_has_records_and_no_span() {
    let (fixture, collector) = (Fixture::new(), Collector::start());
    let (builder, log) = exported(&fixture, &collector);
    let session = builder.build().unwrap();
    let unsampled = PARENT.replace("-01", "-00");
    let options = CallOptions {
        trace: Some(unsampled.parse().unwrap()),
        ..CallOptions::default()
    };
    session.call_with("list_files", "{}", options).unwrap();
    session.close().unwrap();
    let received = collector.received();
    assert_eq!(received.bodies(), lines_of(&log));
    assert!(received.spans.is_empty());
}

/// Whatever strangers put into names, it arrives as it stands in the log and nowhere else.
#[test]
fn hostile_names_are_values_and_nothing_else() {
    let (fixture, collector) = (Fixture::new(), Collector::start());
    let (builder, log) = exported(&fixture, &collector);
    let session = builder.record_arguments(true).build().unwrap();
    let long = "\u{1}".repeat(1 << 20);
    for text in [
        "a\nb",
        "\u{1b}[2J",
        "gpj.\u{202e}exe",
        "\"},{\"kind\":\"call\"",
        "\u{0}",
        &long,
    ] {
        let _ = session.call(text, json!({ text: text }));
        let _ = session.call("read_file", json!({ "path": text }));
        let _ = session.call("write_file", json!({ "path": text, "content": text }));
    }
    session.close().unwrap();
    let received = collector.received();
    let lines = lines_of(&log);
    assert_eq!(received.bodies(), lines);
    for (record, entry) in received.records.iter().zip(verify(&lines)) {
        assert_eq!(map(&record.attributes), expected_attributes(&entry));
    }
    let names: Vec<&str> = received.spans.iter().map(|span| &*span.name).collect();
    assert!(
        names
            .iter()
            .all(|name| ["call", "call read_file", "call write_file"].contains(name))
    );
}

fn call(cli: &Cli, fixture: &Fixture, log: &Path) -> Command {
    let mut command = cli.command(["call", "list_files", "{}"]);
    command
        .arg("--read")
        .arg(fixture.inputs())
        .arg("--audit")
        .arg(log);
    for variable in [
        "ENDPOINT",
        "LOGS_ENDPOINT",
        "TRACES_ENDPOINT",
        "PROTOCOL",
        "HEADERS",
    ] {
        command.env_remove(format!("OTEL_EXPORTER_OTLP_{variable}"));
    }
    command
}

/// Below the kernel's confinement, which leaves the collector's port open and no other.
#[test]
fn a_command_exports_to_the_address_that_it_is_given() {
    let (fixture, cli, collector) = (Fixture::new(), Cli::new(), Collector::start());
    let log = fixture.outside().join("audit.jsonl");
    let mut command = call(&cli, &fixture, &log);
    command
        .args(["--otlp", &collector.endpoint])
        .env("TRACEPARENT", PARENT);
    let run = Run::of(&mut command);
    run.success();
    assert!(!run.stderr.contains("export"), "{run:?}");
    let received = collector.received();
    assert_eq!(received.bodies(), lines_of(&log));
    assert_eq!(hex(&received.spans[0].trace_id), TRACE);
}

#[test]
fn a_command_exports_as_the_environment_says_where_it_is_asked_to() {
    let (fixture, cli, collector) = (Fixture::new(), Cli::new(), Collector::start());
    let log = fixture.outside().join("audit.jsonl");
    let port = collector.endpoint.rsplit(':').next().unwrap();
    let mut command = call(&cli, &fixture, &log);
    command
        .env(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            format!("http://localhost:{port}/"),
        )
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=42")
        .env("OTEL_SERVICE_NAME", "files")
        .env(
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=test",
        );
    // The control: the variables alone send nothing anywhere.
    Run::of(&mut command).success();
    assert!(collector.received().records.is_empty());
    Run::of(command.args(["--otlp", "env"])).success();
    let received = collector.received();
    assert_eq!(received.records.len(), 3);
    assert_eq!(received.resource["service.name"], "files");
    assert_eq!(received.resource["deployment.environment.name"], "test");
    assert_eq!(received.headers["x-tenant"], "42");
    assert_eq!(received.headers["host"], format!("localhost:{port}"));
}

/// A collector that is gone, that fails, and that never answers.
#[test]
fn whatever_becomes_of_the_collector_the_log_is_whole_and_the_call_answered() {
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let failing = Collector::answering("503 Service Unavailable");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_at = format!("http://{}", silent.local_addr().unwrap());
    for endpoint in [&gone, &failing.endpoint, &silent_at] {
        let (fixture, cli) = (Fixture::new(), Cli::new());
        let log = fixture.outside().join("audit.jsonl");
        let mut command = call(&cli, &fixture, &log);
        command.env("OTEL_EXPORTER_OTLP_TIMEOUT", "200");
        let run = Run::of(command.args(["--otlp", endpoint]));
        run.success();
        assert_eq!(
            run.stderr.matches("the audit log is not exported").count(),
            1,
            "{run:?}"
        );
        assert_eq!(verify(&lines_of(&log)).len(), 3);
    }
}

/// What is exported is a copy: there is a log, or nothing.
#[test]
fn an_export_is_no_log() {
    let (fixture, cli, collector) = (Fixture::new(), Cli::new(), Collector::start());
    let mut command = call(&cli, &fixture, Path::new("none"));
    let run = Run::of(command.args(["--otlp", &collector.endpoint]));
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("no audit log"), "{run:?}");
    // A log that refuses an entry has none to export.
    let log = fixture.outside().join("audit.jsonl");
    let (builder, _) = exported(&fixture, &collector);
    let session = builder.build().unwrap();
    std::fs::remove_file(&log).unwrap();
    let write = json!({ "path": "t", "content": "x" });
    assert_eq!(
        session.call("write_file", write).unwrap_err().code(),
        "audit-unavailable"
    );
    drop(session);
    let received = collector.received();
    assert_eq!(received.records.len(), 1);
    assert_eq!(received.records[0].event_name, "rootbound.genesis");
}

#[test]
fn what_cannot_be_spoken_is_refused_at_start() {
    let (fixture, cli) = (Fixture::new(), Cli::new());
    let log = fixture.outside().join("audit.jsonl");
    for (endpoint, protocol, why) in [
        ("https://localhost:4318", "", "TLS"),
        ("localhost:4318", "", "no address"),
        ("http://", "", "no address"),
        ("http://no.such.host.invalid", "", "cannot be looked up"),
        ("env", "grpc", "http/protobuf"),
    ] {
        let mut command = call(&cli, &fixture, &log);
        command.env("OTEL_EXPORTER_OTLP_PROTOCOL", protocol);
        let run = Run::of(command.args(["--otlp", endpoint]));
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains(why), "{why}: {run:?}");
        assert!(!log.exists());
    }
}

/// A server exports while it runs, and not only at its end.
#[test]
fn a_server_exports_what_its_calls_do() {
    let (fixture, cli, collector) = (Fixture::new(), Cli::new(), Collector::start());
    let mut command = cli.command(["mcp", "--otlp", &collector.endpoint]);
    command.arg("--read").arg(fixture.inputs());
    command.env("OTEL_BLRP_SCHEDULE_DELAY", "10");
    command.env("OTEL_BSP_SCHEDULE_DELAY", "10");
    command.stdin(std::process::Stdio::piped());
    let mut server = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut stdin = server.stdin.take().unwrap();
    for message in [
        initialize(),
        tool_call(2, "list_files", json!({}), json!({ "traceparent": PARENT })),
    ] {
        writeln!(stdin, "{message}").unwrap();
    }
    let mut received = Received::default();
    while received.spans.is_empty() || received.records.len() < 3 {
        received.add(collector.requests.recv_timeout(PATIENCE).unwrap());
    }
    assert_eq!(hex(&received.spans[0].trace_id), TRACE);
    drop(stdin);
    assert!(server.wait().unwrap().success());
}
