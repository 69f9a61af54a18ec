//! Entries as events of `tracing`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Mutex;

use rootbound::{AuditLog, Session, TracingSink};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::verify;
use crate::support::Fixture;

/// The fields of an event, and its level.
type Heard = (Level, BTreeMap<String, String>);

static HEARD: Mutex<Vec<Heard>> = Mutex::new(Vec::new());

/// Keeps the events of the log, and of nothing else.
struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "rootbound::audit"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = *event.metadata().level();
        HEARD.lock().unwrap().push((level, fields.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

#[test]
fn each_entry_is_an_event_with_the_fields_of_the_log() {
    tracing::subscriber::set_global_default(Listener).unwrap();
    let fixture = Fixture::new();
    let builder = Session::builder().read_root(fixture.inputs());
    let session = builder.audit(AuditLog::sink(TracingSink)).build().unwrap();
    session
        .call("read_file", r#"{"path": "../x"}"#)
        .unwrap_err();
    let heard = std::mem::take(&mut *HEARD.lock().unwrap());
    let lines: Vec<String> = heard
        .iter()
        .map(|(_, fields)| fields["entry"].clone())
        .collect();
    let entries = verify(&lines);
    assert_eq!(entries.len(), 3);
    let levels: Vec<Level> = heard.iter().map(|(level, _)| *level).collect();
    assert_eq!(levels, [Level::INFO, Level::WARN, Level::INFO]);
    for ((_, fields), entry) in heard.iter().zip(entries) {
        for (name, value) in fields.iter().filter(|(name, _)| *name != "entry") {
            let expected = entry[name]
                .as_str()
                .map_or_else(|| entry[name].to_string(), str::to_owned);
            assert_eq!(*value, expected, "{name}");
        }
    }
    assert_eq!(heard[1].1["code"], "invalid-path");
    assert!(!heard[0].1.contains_key("call"));
}
