//! The options of a session from all their sources: what counts, and where it comes from.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, Command, CommandFactory, FromArgMatches};
use serde_json::{Value, json};

use super::args::{Cli, SessionArgs};
use super::components::{BUILT_IN, TableArgs};
use super::config::{self, COMPONENT, CONFIG, Setting, Settings, Table, Takes};

/// Options of which one at most counts: each names the directory that is written to.
const WRITES: [&str; 3] = ["write", "work", "session_dir"];

/// Options that grant something: a component that has any of them has only those.
const GRANTS: [&str; 5] = ["read", "write", "work", "session_dir", "remove_session_dir"];
/// Options of the process and not of one component.
const OF_THE_PROCESS: [&str; 11] = [
    "toolset",
    "approve",
    "no_landlock",
    "audit",
    "audit_key",
    "audit_max_bytes",
    "audit_max_age",
    "audit_arguments",
    "audit_durability",
    "otlp",
    CONFIG,
];

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
    /// The tables of components.
    tables: Vec<Table>,
    /// What is said of all components, as arguments, by the options' ids.
    common: BTreeMap<String, Vec<OsString>>,
}

impl Sources {
    /// The components of the configuration file, each with its options: its own, and for what
    /// it does not say those of the session.
    pub(crate) fn component_tables(&self) -> anyhow::Result<Vec<(String, PathBuf, TableArgs)>> {
        let component = |table: &Table| {
            let options = self.options_of(table)?;
            let name = table.name.clone();
            let file = options.file.clone();
            let file = file.with_context(|| format!("`[component.{name}]` names no `file`"))?;
            let asks = |id| (table.options.get(id)).is_some_and(|it| !it.arguments.is_empty());
            ensure!(
                file != Path::new(BUILT_IN) || !asks("require_signature"),
                "`[component.{name}]`: `{BUILT_IN}` has no signature of its own, since it comes \
                 with the program; `sha256` pins it"
            );
            Ok((name, file, options))
        };
        self.tables.iter().map(component).collect()
    }

    fn options_of(&self, table: &Table) -> anyhow::Result<TableArgs> {
        let grants = GRANTS.iter().any(|id| table.options.contains_key(*id));
        let mut options = self.common.clone();
        options.retain(|id, _| !(grants && GRANTS.contains(&id.as_str())));
        for (id, setting) in &table.options {
            options.insert(id.clone(), setting.arguments.clone());
        }
        let command = table_command().no_binary_name(true);
        let matches = command.try_get_matches_from(options.into_values().flatten());
        let said = |error: clap::Error| {
            let said = error.to_string();
            let first = said.lines().next().unwrap_or_default();
            let first = first.trim_start_matches("error: ");
            anyhow::anyhow!("`[component.{}]`: {first}", table.name)
        };
        let matches = matches.map_err(said)?;
        TableArgs::from_arg_matches(&matches).map_err(said)
    }
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

/// The options of one component as a command of their own.
pub(crate) fn table_command() -> Command {
    let command = TableArgs::augment_args(Command::new("rootbound"));
    let of_process = |arg: &clap::Arg| OF_THE_PROCESS.contains(&arg.get_id().as_str());
    // The environment is for the session.
    command.mut_args(|arg| {
        let hidden = of_process(&arg);
        arg.env(Resettable::Reset).hide(hidden)
    })
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
    let Settings {
        options: mut settings,
        components: mut tables,
    } = match &file {
        Some(file) => config::read(file, &command, &table_command())?,
        None => Settings::default(),
    };
    let work_counts = work_from_environment_counts(given);
    settings.retain(|id, _| !is_overruled(given, id));
    if is_overruled(given, COMPONENT) {
        tables.clear();
    }
    let added = settings.values().flat_map(|setting| &setting.arguments);
    // Behind the name of the command: nothing but names can stand in front of it.
    let (before, behind) = arguments.split_at(arguments.len().min(2));
    let all = before.iter().chain(added).chain(behind);
    let matches = Cli::command().try_get_matches_from(all)?;
    let (mut settled, common) = match matches.subcommand() {
        Some((_, matches)) => (
            settle(&command, matches, &settings, work_counts),
            common(&command, matches, work_counts),
        ),
        None => Default::default(),
    };
    settled.extend(tables.iter().flat_map(settled_in));
    let sources = Sources {
        file,
        settled,
        tables,
        common,
    };
    Ok(Completed {
        matches,
        sources,
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

/// What was said of the session that holds for each component too, in arguments.
fn common(
    command: &Command,
    matches: &ArgMatches,
    work_counts: bool,
) -> BTreeMap<String, Vec<OsString>> {
    let of_table = table_command();
    let is_common = |arg: &&clap::Arg| {
        let id = arg.get_id().as_str();
        // Those of the process too: one log and one approver are for all components.
        let known = of_table
            .get_arguments()
            .any(|other| other.get_id() == arg.get_id());
        let counts = match matches.value_source(id) {
            None | Some(ValueSource::DefaultValue) => false,
            Some(ValueSource::EnvVariable) if id == "work" => work_counts,
            Some(ValueSource::EnvVariable) => !is_empty(matches, id),
            _ => true,
        };
        known && counts
    };
    config::keys(command)
        .filter(is_common)
        .map(|arg| (arg.get_id().to_string(), arguments(arg, matches)))
        .collect()
}

fn arguments(arg: &clap::Arg, matches: &ArgMatches) -> Vec<OsString> {
    let id = arg.get_id().as_str();
    let option = format!("--{}", arg.get_long().unwrap_or_default());
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        let on = matches.get_flag(id);
        return on.then(|| option.into()).into_iter().collect();
    }
    let values = matches.get_raw(id).into_iter().flatten();
    let argument = |value: &OsStr| {
        let mut argument = OsString::from(format!("{option}="));
        argument.push(value);
        argument
    };
    values.map(argument).collect()
}

/// The options of a component's table, by their whole keys.
fn settled_in(table: &Table) -> Vec<Settled> {
    let settle = |(id, setting): (&String, &Setting)| Settled {
        key: format!("{COMPONENT}.{}.{id}", table.name),
        value: value_of(&setting.arguments),
        origin: Origin::File { line: setting.line },
    };
    table.options.iter().map(settle).collect()
}

/// What arguments were made of.
fn value_of(arguments: &[OsString]) -> Value {
    let text = |argument: &OsString| {
        let argument = argument.to_string_lossy();
        let value = argument.split_once('=').map(|(_, value)| value.to_owned());
        value.map_or(json!(true), Value::from)
    };
    match arguments {
        [] => json!(false),
        [one] => text(one),
        many => many.iter().map(text).collect(),
    }
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
