//! Audit entries as OpenTelemetry logs, and calls as spans, over OTLP (HTTP, protobuf).

mod client;
mod endpoint;
mod entry;
mod report;

use std::fmt;
use std::sync::{Mutex, PoisonError};

use opentelemetry::logs::{Logger, LoggerProvider};
use opentelemetry_otlp::{LogExporter, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::logs::{BatchLogProcessor, SdkLogger, SdkLoggerProvider};
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanProcessor};

use super::AuditObserver;
use client::Client;
use endpoint::{Endpoint, Signal};
use entry::Exported;
use report::{Report, Reporting};

/// The name of what is exported, as collectors show it.
const SCOPE: &str = "rootbound.audit";

/// Why nothing can be exported.
#[derive(Debug, thiserror::Error)]
#[error("telemetry cannot be exported: {0}")]
pub struct OtlpError(String);

/// Exports what an audit log has taken to an OpenTelemetry collector: each entry as a log record,
/// each call as a span. `docs/audit.md` has the names of the attributes.
///
/// What is exported is a copy. It is sent in batches by threads of its own, that start with the
/// first call; a collector that cannot be reached, or is too slow, keeps no call waiting and
/// fails none, and what it does not get is missing there: `rootbound.seq` shows the gap. An
/// exporter is no [`AuditSink`](super::AuditSink), so it cannot be all that is on record.
///
/// The endpoint is given, or comes from `OTEL_EXPORTER_OTLP_ENDPOINT`, `…_LOGS_ENDPOINT` and
/// `…_TRACES_ENDPOINT`; the default is `http://localhost:4318`. Without TLS, which is a local
/// collector's job. Headers, timeout, resource attributes, service name and the sizes of batches
/// are those of the environment, as the OpenTelemetry specification has them.
///
/// # Examples
///
/// ```no_run
/// use rootbound::{OtlpObserver, Session};
///
/// let observer = OtlpObserver::to(Some("http://localhost:4318"))?;
/// let session = Session::builder().audit_observer(observer).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OtlpObserver {
    state: Mutex<State>,
    ports: Vec<u16>,
}

enum State {
    /// No thread runs yet: the kernel may still have to confine this one.
    Waiting {
        exporters: Option<Box<Exporters>>,
        lines: String,
    },
    Running(Box<Running>),
}

struct Exporters {
    logs: Reporting<LogExporter>,
    spans: Reporting<SpanExporter>,
}

struct Running {
    provider: SdkLoggerProvider,
    logger: SdkLogger,
    spans: BatchSpanProcessor,
}

impl OtlpObserver {
    /// An exporter to that collector, or to the one that the environment names.
    ///
    /// # Errors
    ///
    /// When the endpoint is no `http` address, its host is not known, or the environment asks for
    /// something else than `http/protobuf` without compression.
    pub fn to(endpoint: Option<&str>) -> Result<Self, OtlpError> {
        let logs = Endpoint::of(Signal::Logs, endpoint)?;
        let traces = Endpoint::of(Signal::Traces, endpoint)?;
        let ports = vec![logs.port(), traces.port()];
        let report = Report::default();
        let exporters = Exporters {
            logs: Reporting::new(logs_to(logs)?, report.clone()),
            spans: Reporting::new(spans_to(traces)?, report),
        };
        let state = State::Waiting {
            exporters: Some(Box::new(exporters)),
            lines: String::new(),
        };
        Ok(Self {
            state: Mutex::new(state),
            ports,
        })
    }

    /// Has failures told to somebody, in a sentence: the first one, and the first one after each
    /// success.
    #[must_use]
    pub fn on_failure(self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        if let State::Waiting {
            exporters: Some(exporters),
            ..
        } = &*self.locked()
        {
            exporters.logs.report.tell(Box::new(tell));
        }
        self
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn logs_to(endpoint: Endpoint) -> Result<LogExporter, OtlpError> {
    directed(LogExporter::builder().with_http(), endpoint)
        .build()
        .map_err(|error| OtlpError(error.to_string()))
}

fn spans_to(endpoint: Endpoint) -> Result<SpanExporter, OtlpError> {
    directed(SpanExporter::builder().with_http(), endpoint)
        .build()
        .map_err(|error| OtlpError(error.to_string()))
}

/// Says where an exporter sends, how long it waits, and with which client.
fn directed<B: WithExportConfig + WithHttpConfig>(builder: B, endpoint: Endpoint) -> B {
    builder
        .with_endpoint(endpoint.uri())
        .with_timeout(endpoint.timeout)
        .with_http_client(Client::to(endpoint))
}

impl State {
    /// The threads that export, started when they are wanted.
    fn running(&mut self) -> Option<&Running> {
        if let Self::Waiting { exporters, lines } = self {
            let running = exporters.take()?.start();
            running.export(lines);
            *self = Self::Running(Box::new(running));
        }
        match self {
            Self::Running(running) => Some(running),
            Self::Waiting { .. } => None,
        }
    }
}

impl Exporters {
    fn start(self) -> Running {
        let resource = Resource::builder()
            .with_attributes(entry::resource())
            .build();
        let provider = SdkLoggerProvider::builder()
            .with_resource(resource.clone())
            .with_log_processor(BatchLogProcessor::builder(self.logs).build())
            .build();
        let mut spans = BatchSpanProcessor::builder(self.spans).build();
        spans.set_resource(&resource);
        Running {
            logger: provider.logger(SCOPE),
            provider,
            spans,
        }
    }
}

impl Running {
    fn export(&self, lines: &str) {
        for line in lines.lines() {
            let Some(exported) = Exported::read(line) else {
                continue;
            };
            let mut record = self.logger.create_log_record();
            exported.fill(&mut record);
            self.logger.emit(record);
            if let Some(span) = exported.span(SCOPE) {
                self.spans.on_end(span);
            }
        }
    }

    fn flush(&self) {
        // A failure was reported by the exporter.
        let _ = self.provider.force_flush();
        let _ = self.spans.force_flush();
    }
}

impl AuditObserver for OtlpObserver {
    fn recorded(&self, lines: &str) {
        let mut state = self.locked();
        match &mut *state {
            State::Waiting { lines: waiting, .. } if entry::starts_a_session(lines) => {
                waiting.push_str(lines);
            }
            _ => {
                if let Some(running) = state.running() {
                    running.export(lines);
                }
            }
        }
    }

    fn closed(&self) {
        if let Some(running) = self.locked().running() {
            running.flush();
        }
    }

    fn ports(&self) -> Vec<u16> {
        self.ports.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.provider.shutdown();
        let _ = self.spans.shutdown();
    }
}

impl fmt::Debug for OtlpObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtlpObserver")
            .field("ports", &self.ports)
            .finish_non_exhaustive()
    }
}
