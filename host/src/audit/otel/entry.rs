//! An audit entry as a log record, and as a span where it is the end of a call.

use std::time::{Duration, SystemTime};

use opentelemetry::logs::{AnyValue, LogRecord, Severity};
use opentelemetry::trace::{SpanContext, SpanKind, Status, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue, SpanId, TraceFlags, TraceId};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::code;
use crate::trace::TraceParent;

/// What the names of attributes begin with.
const PREFIX: &str = "rootbound.";

/// An entry that is to be exported.
pub(super) struct Exported<'a> {
    line: &'a str,
    entry: Value,
    time: SystemTime,
    context: Option<Context>,
}

/// Where an entry of a call stands among the traces.
#[derive(Clone, Copy)]
struct Context {
    trace: TraceId,
    span: SpanId,
    parent: Option<SpanId>,
    flags: TraceFlags,
}

/// Whether a line is one of those with which a session begins, before it is confined.
pub(super) fn starts_a_session(lines: &str) -> bool {
    lines.contains("\"kind\":\"genesis\"")
}

/// What all entries have in common, besides what the environment says of the process.
pub(super) fn resource() -> Vec<KeyValue> {
    let mut attributes = vec![KeyValue::new("service.version", env!("CARGO_PKG_VERSION"))];
    let named = ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"]
        .into_iter()
        .filter_map(crate::ambient::telemetry_variable)
        .any(|value| !value.contains('=') || value.contains("service.name="));
    if !named {
        attributes.push(KeyValue::new("service.name", "rootbound"));
    }
    attributes
}

impl<'a> Exported<'a> {
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let entry: Value = serde_json::from_str(line).ok()?;
        let time = humantime::parse_rfc3339(entry["time"].as_str()?).ok()?;
        let context = entry["call"].as_str().map(|call| {
            let parent = entry["traceparent"].as_str();
            Context::of(call, parent.and_then(|text| text.parse().ok()))
        });
        Some(Self {
            line,
            entry,
            time,
            context,
        })
    }

    pub(super) fn fill(&self, record: &mut impl LogRecord) {
        record.set_event_name(event_name(&self.entry["kind"]));
        record.set_timestamp(self.time);
        record.set_observed_timestamp(SystemTime::now());
        let (severity, text) = match self.entry["decision"].as_str() {
            Some("deny" | "not-approved") => (Severity::Warn, "WARN"),
            _ => (Severity::Info, "INFO"),
        };
        record.set_severity_number(severity);
        record.set_severity_text(text);
        record.set_body(AnyValue::from(self.line.to_owned()));
        for (name, value) in self.attributes() {
            record.add_attribute(name, value);
        }
        if let Some(context) = self.context {
            record.set_trace_context(context.trace, context.span, Some(context.flags));
        }
    }

    /// Members that are one text, number or truth, those of `object` included. Lists, and what
    /// has names that strangers chose, are in the body only.
    fn attributes(&self) -> Vec<(String, AnyValue)> {
        let mut attributes = Vec::new();
        for (name, value) in self.entry.as_object().into_iter().flatten() {
            let parts = value.as_object().filter(|_| name == "object");
            for (part, value) in parts.into_iter().flatten() {
                push(&mut attributes, &format!("{name}.{part}"), value);
            }
            push(&mut attributes, name, value);
        }
        attributes
    }

    /// The span of a call, as its last entry tells it; none where the caller does not want it
    /// sampled.
    pub(super) fn span(&self, scope: &'static str) -> Option<SpanData> {
        if self.entry["kind"] != "call" {
            return None;
        }
        let context = self.context.filter(|context| context.flags.is_sampled())?;
        let duration = Duration::from_micros(self.entry["duration_us"].as_u64().unwrap_or(0));
        let trace_state = TraceState::default();
        Some(SpanData {
            span_context: SpanContext::new(
                context.trace,
                context.span,
                context.flags,
                false,
                trace_state,
            ),
            parent_span_id: context.parent.unwrap_or(SpanId::INVALID),
            parent_span_is_remote: context.parent.is_some(),
            span_kind: SpanKind::Internal,
            name: self.span_name().into(),
            start_time: self.time.checked_sub(duration).unwrap_or(self.time),
            end_time: self.time,
            attributes: self.span_attributes(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: self.status(),
            instrumentation_scope: InstrumentationScope::builder(scope).build(),
        })
    }

    /// Names of spans are few: one for each tool that there is.
    fn span_name(&self) -> String {
        match (self.entry["tool"].as_str(), self.entry["code"].as_str()) {
            (Some(tool), code) if code != Some(code::UNKNOWN_TOOL) => format!("call {tool}"),
            _ => "call".to_owned(),
        }
    }

    fn span_attributes(&self) -> Vec<KeyValue> {
        let attributes = self.attributes().into_iter();
        let mut attributes: Vec<KeyValue> = attributes
            .filter_map(|(name, value)| match value {
                AnyValue::String(text) => Some(KeyValue::new(name, text)),
                AnyValue::Int(number) => Some(KeyValue::new(name, number)),
                AnyValue::Boolean(truth) => Some(KeyValue::new(name, truth)),
                _ => None,
            })
            .collect();
        if let Some(code) = self.entry["code"].as_str() {
            attributes.push(KeyValue::new("error.type", code.to_owned()));
        }
        attributes
    }

    fn status(&self) -> Status {
        match self.entry["code"].as_str() {
            Some(code) => Status::error(code.to_owned()),
            None => Status::Ok,
        }
    }
}

fn push(attributes: &mut Vec<(String, AnyValue)>, name: &str, value: &Value) {
    let value = match value {
        Value::String(text) => AnyValue::from(text.clone()),
        Value::Bool(truth) => AnyValue::Boolean(*truth),
        // No entry has a number that does not fit (RFC 8785).
        Value::Number(number) => AnyValue::Int(number.as_i64().unwrap_or(i64::MAX)),
        _ => return,
    };
    attributes.push((format!("{PREFIX}{name}"), value));
}

fn event_name(kind: &Value) -> &'static str {
    match kind.as_str() {
        Some("access") => "rootbound.access",
        Some("approval") => "rootbound.approval",
        Some("call") => "rootbound.call",
        Some("checkpoint") => "rootbound.checkpoint",
        Some("genesis") => "rootbound.genesis",
        Some("intent") => "rootbound.intent",
        Some("outcome") => "rootbound.outcome",
        Some("refusal") => "rootbound.refusal",
        _ => "rootbound.entry",
    }
}

impl Context {
    /// The span of a call is known before the call ends, and to whoever has its log: it is made
    /// from the call's id, and so is the trace where the caller has none.
    fn of(call: &str, parent: Option<TraceParent>) -> Self {
        let digest: [u8; 32] = Sha256::digest(call).into();
        let mut span = [0; 8];
        let mut trace = [0; 16];
        span.copy_from_slice(&digest[..8]);
        trace.copy_from_slice(&digest[8..24]);
        let context = Self {
            trace: TraceId::from_bytes(trace),
            span: SpanId::from_bytes(span),
            parent: None,
            flags: TraceFlags::SAMPLED,
        };
        match parent {
            None => context,
            Some(parent) => Self {
                trace: TraceId::from_bytes(parent.trace),
                parent: Some(SpanId::from_bytes(parent.span)),
                flags: TraceFlags::new(parent.flags),
                ..context
            },
        }
    }
}
