//! The options of a session from all their sources: what counts, and where it comes from.
//!
//! The command line counts more than the environment, that more than the file, and the file more
//! than the defaults. What narrows is not undone that way: patterns that deny add up, of lists that
//! allow each has to name a thing, and what the command line narrows stays so for each component.

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
use super::partners::PARTNERS;
use super::{milliseconds, sizes};

/// Options of which one at most counts: each names the directory that is written to.
const WRITES: [&str; 3] = ["write", "work", "session_dir"];

/// Flags by which less may be done.
const NARROWING: [&str; 3] = ["protect_secrets", "strict_paths", "require_signature"];
/// Patterns that add up over all sources.
const DENY: &str = "deny";
/// Patterns of which each source's list has to name a thing.
const ALLOW: &str = "allow";

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
    /// Where it comes from; of a value with several parts, the source that counts most.
    pub(crate) origin: Origin,
    /// The parts of a value that comes from several sources.
    pub(crate) parts: Vec<Part>,
    /// Values from elsewhere that hold besides this one.
    pub(crate) also: Vec<Part>,
}

/// A value of one source among several.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) value: Vec<String>,
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
    /// What of it stands on the command line.
    by_hand: BTreeMap<String, Vec<OsString>>,
    /// Lists of patterns that allow, besides the one that counts most.
    pub(crate) allow_also: Vec<Vec<String>>,
    /// Files by which others are let in.
    pub(crate) secrets: Vec<PathBuf>,
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
            let said = options.remove(id).unwrap_or_default();
            let own = setting.arguments.clone();
            let both = match (id.as_str(), self.by_hand.get(id)) {
                (DENY, _) => [said, own].concat(),
                (_, Some(by_hand)) if is_narrower(id, by_hand, &own) => by_hand.clone(),
                _ => own,
            };
            options.insert(id.clone(), both);
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
        if let Some(alone) = PARTNERS
            .iter()
            .find(|it| table.options.contains_key(it.id) && it.is_alone(&matches))
        {
            let (id, why) = (alone.id, alone.why);
            anyhow::bail!("`[component.{}]`: `{id}`: {why}", table.name);
        }
        let mut options = TableArgs::from_arg_matches(&matches).map_err(said)?;
        options.policy.allow_also = self.allow_beside(table);
        Ok(options)
    }

    /// The lists that hold besides the table's own: that of the command line in any case, that of
    /// the file's top where the table has none.
    fn allow_beside(&self, table: &Table) -> Vec<Vec<String>> {
        match (table.options.contains_key(ALLOW), self.by_hand.get(ALLOW)) {
            (true, Some(by_hand)) => vec![values_of(by_hand)],
            (true, None) => Vec::new(),
            (false, _) => self.allow_also.clone(),
        }
    }
}

/// Whether the first of two values of an option lets less happen than the second.
fn is_narrower(id: &str, one: &[OsString], other: &[OsString]) -> bool {
    let (one_value, other_value) = match (values_of(one).pop(), values_of(other).pop()) {
        (Some(one), Some(other)) => (one, other),
        // Flags: the narrowing ones are on where they are narrower.
        _ => return NARROWING.contains(&id) && other.is_empty(),
    };
    let number = |text: &str| match id {
        "timeout_ms" => milliseconds::parse(text).ok(),
        id if id.starts_with("max_") => sizes::parse(text).ok(),
        "overwrite" | "delete" => ["deny", "ask", "allow"]
            .iter()
            .position(|word| *word == text)
            .map(|rank| rank as u64),
        _ => None,
    };
    match (number(&one_value), number(&other_value)) {
        (Some(one), Some(other)) => one < other,
        _ => false,
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
    let allow_besides = match is_overruled(given, ALLOW) {
        true => settings.remove(ALLOW),
        false => None,
    };
    // An empty list is none.
    let allow_besides = allow_besides.filter(|setting| !setting.arguments.is_empty());
    settings.retain(|id, _| id == DENY || !is_overruled(given, id));
    if is_overruled(given, COMPONENT) {
        tables.clear();
    }
    let mut matches = with_added(arguments, &settings)?;
    if drop_what_is_alone(given, &matches, &mut settings, file.as_deref())? {
        matches = with_added(arguments, &settings)?;
    }
    let (mut settled, common) = match matches.subcommand() {
        Some((_, matches)) => (
            settle(&command, matches, given, &settings, work_counts),
            common(&command, matches, work_counts),
        ),
        None => Default::default(),
    };
    if let (Some(setting), Some(allow)) = (
        &allow_besides,
        settled.iter_mut().find(|one| one.key == ALLOW),
    ) {
        allow.also.push(setting.part());
    }
    let by_hand = by_hand(&command, given);
    settled.extend(tables.iter().flat_map(|table| settled_in(table, &by_hand)));
    let sources = Sources {
        file,
        settled,
        tables,
        common,
        by_hand,
        allow_also: (allow_besides.iter())
            .map(|setting| values_of(&setting.arguments))
            .collect(),
        secrets: Vec::new(),
    };
    Ok(Completed {
        matches,
        sources,
        work_counts,
    })
}

/// Reads the command line with the file's options in it.
fn with_added(
    arguments: &[OsString],
    settings: &BTreeMap<String, Setting>,
) -> Result<ArgMatches, clap::Error> {
    let added = settings.values().flat_map(|setting| &setting.arguments);
    // Behind the name of the command: nothing but names can stand in front of it.
    let (before, behind) = arguments.split_at(arguments.len().min(2));
    let all = before.iter().chain(added).chain(behind);
    Cli::command().try_get_matches_from(all)
}

/// Refuses an option that says something about another one which is not there. Where that other
/// one is of the file and overruled, what the file says about it goes too. Whether anything went.
fn drop_what_is_alone(
    given: &ArgMatches,
    matches: &ArgMatches,
    settings: &mut BTreeMap<String, Setting>,
    file: Option<&Path>,
) -> anyhow::Result<bool> {
    let Some((_, matches)) = matches.subcommand() else {
        return Ok(false);
    };
    let mut dropped = false;
    for alone in PARTNERS.iter().filter(|it| it.is_alone(matches)) {
        let (id, why) = (alone.id, alone.why);
        match (settings.remove(id), file) {
            (Some(_), _) if is_overruled(given, alone.on) => dropped = true,
            (Some(setting), Some(file)) => {
                anyhow::bail!("{}:{}: `{id}`: {why}", file.display(), setting.line)
            }
            _ => anyhow::bail!("`--{}`: {}", id.replace('_', "-"), why.replace('_', "-")),
        }
    }
    Ok(dropped)
}

/// What stands on the command line, in arguments, by the options' ids.
fn by_hand(command: &Command, given: &ArgMatches) -> BTreeMap<String, Vec<OsString>> {
    let is_given = |arg: &&clap::Arg| {
        given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    config::keys(command)
        .filter(is_given)
        .map(|arg| (arg.get_id().to_string(), arguments(arg, given)))
        .collect()
}

impl Setting {
    fn part(&self) -> Part {
        Part {
            value: values_of(&self.arguments),
            origin: Origin::File { line: self.line },
        }
    }
}

/// The values behind the options of arguments.
fn values_of(arguments: &[OsString]) -> Vec<String> {
    let value = |argument: &OsString| {
        let argument = argument.to_string_lossy();
        argument.split_once('=').map(|(_, value)| value.to_owned())
    };
    arguments.iter().filter_map(value).collect()
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

/// Whether the environment's work directory counts: not where the command line says which
/// directory is written to.
fn work_from_environment_counts(matches: &ArgMatches) -> bool {
    let by_hand = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
    let work = matches.get_one::<PathBuf>("work");
    matches.value_source("work") == Some(ValueSource::EnvVariable)
        && work.is_some_and(|work| work != Path::new(""))
        && !["write", "session_dir"].into_iter().any(by_hand)
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

/// The options of a component's table, by their whole keys, as far as the command line lets them
/// be.
fn settled_in(table: &Table, by_hand: &BTreeMap<String, Vec<OsString>>) -> Vec<Settled> {
    let settle = |(id, setting): (&String, &Setting)| {
        let narrower = by_hand
            .get(id)
            .filter(|it| is_narrower(id, it, &setting.arguments));
        let (value, origin) = match narrower {
            Some(by_hand) => (value_of(by_hand), Origin::CommandLine),
            None => (
                value_of(&setting.arguments),
                Origin::File { line: setting.line },
            ),
        };
        Settled {
            key: format!("{COMPONENT}.{}.{id}", table.name),
            value,
            origin,
            parts: Vec::new(),
            also: Vec::new(),
        }
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
    given: &ArgMatches,
    settings: &BTreeMap<String, Setting>,
    work_counts: bool,
) -> Vec<Settled> {
    let settle = |arg: &clap::Arg| {
        let id = arg.get_id().as_str();
        let setting = settings.get(id);
        // What adds up can stand on the command line besides the file.
        let parts = match setting.filter(|_| is_overruled(given, id)) {
            Some(setting) => vec![
                setting.part(),
                Part {
                    value: values_of(&arguments(arg, given)),
                    origin: Origin::CommandLine,
                },
            ],
            None => Vec::new(),
        };
        let origin = match (setting, matches.value_source(id)) {
            (Some(_), _) if !parts.is_empty() => Origin::CommandLine,
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
            parts,
            also: Vec::new(),
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
