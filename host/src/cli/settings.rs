//! The options of a session from all their sources: what counts, and where it comes from.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, Command, CommandFactory};
use serde_json::{Value, json};

use super::args::{Cli, SessionArgs};
use super::config::{self, CONFIG, Setting, Takes};

/// Options of which one at most counts: each names the directory that is written to.
const WRITES: [&str; 3] = ["write", "work", "session_dir"];

/// Where the value of an option comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File { line: usize },
    Environment,
    CommandLine,
}

/// An option of a session, its value, and its origin.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    pub(crate) key: String,
    /// What was given; `null` for nothing.
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// What there is to say about a session's options, besides the options themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// The configuration file, if there is one.
    pub(crate) file: Option<PathBuf>,
    pub(crate) settled: Vec<Settled>,
}

/// The command line with what the configuration file adds to it.
pub(crate) struct Completed {
    pub(crate) matches: ArgMatches,
    pub(crate) sources: Sources,
    /// Whether the environment's work directory, if there is one, counts.
    pub(crate) work_counts: bool,
}

/// The options of a session as a command of their own.
pub(crate) fn command() -> Command {
    SessionArgs::augment_args(Command::new("rootbound"))
}

/// Adds the file's options to a command line that was read once already.
pub(crate) fn complete(
    arguments: &[OsString],
    matches: ArgMatches,
    opens_a_session: bool,
) -> Result<Completed, super::Refused> {
    let given = match matches.subcommand() {
        Some((_, given)) if opens_a_session => given,
        _ => return Ok(Completed::without_session(matches)),
    };
    let file = given
        .get_one::<PathBuf>(CONFIG)
        .filter(|file| *file != Path::new(""))
        .cloned();
    let command = command();
    let mut settings = match &file {
        Some(file) => config::read(file, &command)?,
        None => BTreeMap::new(),
    };
    let work_counts = work_from_environment_counts(given);
    settings.retain(|id, _| !is_overruled(given, id));
    let added = settings.values().flat_map(|setting| &setting.arguments);
    // Behind the name of the command: nothing but names can stand in front of it.
    let (before, behind) = arguments.split_at(arguments.len().min(2));
    let all = before.iter().chain(added).chain(behind);
    let matches = Cli::command().try_get_matches_from(all)?;
    let settled = match matches.subcommand() {
        Some((_, matches)) => settle(&command, matches, &settings, work_counts),
        None => Vec::new(),
    };
    Ok(Completed {
        matches,
        sources: Sources { file, settled },
        work_counts,
    })
}

impl Completed {
    fn without_session(matches: ArgMatches) -> Self {
        Self {
            matches,
            sources: Sources::default(),
            work_counts: false,
        }
    }
}

/// Whether the environment's work directory counts: it must not widen what someone wrote on
/// the command line.
fn work_from_environment_counts(matches: &ArgMatches) -> bool {
    let by_hand = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
    let work = matches.get_one::<PathBuf>("work");
    matches.value_source("work") == Some(ValueSource::EnvVariable)
        && work.is_some_and(|work| work != Path::new(""))
        && !["read", "write", "session_dir"].into_iter().any(by_hand)
}

/// Whether the command line or the environment says otherwise than the file.
fn is_overruled(given: &ArgMatches, id: &str) -> bool {
    let says = |id: &str| match given.value_source(id) {
        Some(ValueSource::CommandLine) => true,
        Some(ValueSource::EnvVariable) if id == "work" => work_from_environment_counts(given),
        // An empty variable is as good as none.
        Some(ValueSource::EnvVariable) => !is_empty(given, id),
        _ => false,
    };
    says(id) || (WRITES.contains(&id) && WRITES.into_iter().any(says))
}

fn is_empty(matches: &ArgMatches, id: &str) -> bool {
    matches
        .get_raw(id)
        .is_none_or(|mut values| values.all(|value| value.is_empty()))
}

fn settle(
    command: &Command,
    matches: &ArgMatches,
    settings: &BTreeMap<String, Setting>,
    work_counts: bool,
) -> Vec<Settled> {
    let settle = |arg: &clap::Arg| {
        let id = arg.get_id().as_str();
        let origin = match (settings.get(id), matches.value_source(id)) {
            (Some(setting), _) => Origin::File { line: setting.line },
            (None, Some(ValueSource::CommandLine)) => Origin::CommandLine,
            (None, Some(ValueSource::EnvVariable)) => Origin::Environment,
            (None, _) => Origin::Default,
        };
        let counts = match id {
            "work" => work_counts,
            _ => !is_empty(matches, id),
        };
        let ignored = origin == Origin::Environment && !counts;
        Settled {
            key: config::key_of(arg),
            value: if ignored {
                Value::Null
            } else {
                value(arg, matches)
            },
            origin: if ignored { Origin::Default } else { origin },
        }
    };
    config::keys(command).map(settle).collect()
}

fn value(arg: &clap::Arg, matches: &ArgMatches) -> Value {
    let id = arg.get_id().as_str();
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return json!(matches.get_flag(id));
    }
    let shown = |value: &OsStr| match config::shown(value) {
        Value::String(text) if Takes::of(arg) == Takes::Number => {
            text.parse::<u64>().map_or(Value::String(text), Value::from)
        }
        value => value,
    };
    let values: Vec<Value> = (matches.get_raw(id).into_iter().flatten())
        .map(shown)
        .collect();
    match (arg.get_action(), values.len()) {
        (ArgAction::Append, _) => json!(values),
        (_, 0) => Value::Null,
        _ => values[0].clone(),
    }
}
