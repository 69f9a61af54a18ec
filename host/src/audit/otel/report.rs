//! Says when a collector cannot be reached, once and not for each batch.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogBatch, LogExporter};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// Who hears of failures, and whether the last export was one.
#[derive(Clone, Default)]
pub(super) struct Report(Arc<Mutex<Reported>>);

#[derive(Default)]
struct Reported {
    tell: Option<Tell>,
    fails: bool,
}

impl Report {
    pub(super) fn tell(&self, tell: Tell) {
        self.locked().tell = Some(tell);
    }

    fn note(&self, result: &OTelSdkResult) {
        let mut reported = self.locked();
        let fails = result.is_err();
        if let (Err(error), false, Some(tell)) = (result, reported.fails, &reported.tell) {
            tell(&format!(
                "the audit log is not exported, and goes on where it is: {error}"
            ));
        }
        reported.fails = fails;
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Reported> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An exporter whose failures are reported.
pub(super) struct Reporting<E> {
    exporter: E,
    pub(super) report: Report,
}

impl<E> Reporting<E> {
    pub(super) fn new(exporter: E, report: Report) -> Self {
        Self { exporter, report }
    }
}

impl<E: fmt::Debug> fmt::Debug for Reporting<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.exporter.fmt(f)
    }
}

impl<E: LogExporter> LogExporter for Reporting<E> {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        let result = self.exporter.export(batch).await;
        self.report.note(&result);
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl<E: SpanExporter> SpanExporter for Reporting<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let result = self.exporter.export(batch).await;
        self.report.note(&result);
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
