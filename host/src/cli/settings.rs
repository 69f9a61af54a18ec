//! The options of a session from all their sources: what counts, and where it comes from.
//!
//! The command line counts more than the environment, that more than the file, and the file more
//! than the defaults. What narrows is not undone that way: each list that denies is judged by itself,
//! of lists that allow each has to name a thing, and a component's table only narrows what is said
//! of the session.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, Command, CommandFactory, FromArgMatches};
use rootbound::Denied;
use serde_json::{Value, json};

use super::args::Cli;
use super::components::{BUILT_IN, TableArgs};
use super::config::{self, COMPONENT, CONFIG, Setting, Settings, Table, Takes};
use super::narrowing::{
    DENY, PROTECT_SECRETS, WIDENING, denied, denied_by, is_narrower, joined, takes_back,
};
use super::partners::PARTNERS;
use super::session_args::SessionArgs;

/// Options of which one at most counts: each names the directory that is written to.
const WRITES: [&str; 3] = ["write", "work", "session_dir"];

/// Patterns of which each source's list has to name a thing.
const ALLOW: &str = "allow";
/// Keys of which the command line's hold for each component.
const TRUSTED_KEY: &str = "trusted_key";

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
    File {
        line: usize,
    },
    Environment,
    CommandLine,
    /// What the component itself declares.
    Manifest,
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
    pub(crate) tables: Vec<Table>,
    /// What is said of all components, as arguments, by the options' ids.
    common: BTreeMap<String, Vec<OsString>>,
    /// What of it stands on the command line.
    by_hand: BTreeMap<String, Vec<OsString>>,
    /// Lists of patterns that allow, besides the one that counts most.
    pub(crate) allow_also: Vec<Vec<String>>,
    /// What each source denies.
    pub(crate) denied: Vec<Denied>,
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
            let file = file.with_context(|| format!("`[component.{name}]` names no `file`; `file = \"built-in\"` is the one in the program"))?;
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
            let own = match self.of_both(id, &setting.arguments) {
                Some(counts) => counts,
                None => continue,
            };
            ensure!(
                id != TRUSTED_KEY || !own.is_empty() || setting.arguments.is_empty(),
                "`[component.{}]`: the command line trusts none of its keys",
                table.name
            );
            options.insert(id.clone(), own);
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
        options.policy.denied = joined([&self.denied[..], &[denied_by(&table.options)]].concat());
        Ok(options)
    }

    /// What counts of what a table says of an option; `None` where that is what was said of the
    /// session, which is narrower.
    fn of_both(&self, id: &str, own: &[OsString]) -> Option<Vec<OsString>> {
        let said = self.common.get(id);
        match (id, said, self.by_hand.get(id)) {
            // An empty list is none.
            (ALLOW | TRUSTED_KEY, Some(_), _) if own.is_empty() => None,
            (TRUSTED_KEY, _, Some(by_hand)) => {
                let both = own.iter().filter(|key| by_hand.contains(key));
                Some(both.cloned().collect())
            }
            (_, Some(said), _) if is_narrower(id, said, own) => None,
            _ => Some(own.to_owned()),
        }
    }

    /// The lists that hold besides the one in `allow`, which is the table's where it has one.
    fn allow_beside(&self, table: &Table) -> Vec<Vec<String>> {
        let own = table.options.get(ALLOW).map(|it| &it.arguments);
        let of_session = own
            .filter(|own| !own.is_empty())
            .and_then(|_| self.common.get(ALLOW));
        let of_session = of_session.map(|list| values_of(list));
        of_session
            .into_iter()
            .chain(self.allow_also.iter().cloned())
            .collect()
    }

    /// The options of a component's table, by their whole keys, each with what counts of it.
    fn settled_in(&self, table: &Table) -> Vec<Settled> {
        let settle = |(id, setting): (&String, &Setting)| {
            let of_session = || self.settled.iter().find(|one| one.key == *id);
            let counts = self.of_both(id, &setting.arguments);
            let (value, origin) = match (&counts, of_session()) {
                (None, Some(said)) => (said.value.clone(), said.origin),
                _ => (
                    value_of(counts.as_ref().unwrap_or(&setting.arguments)),
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
    let by_hand = by_hand(&command, given);
    let mut denied = vec![(denied_by(&settings), line_of(&settings))];
    denied.push((
        self::denied(|id| by_hand.get(id).map(Vec::as_slice)),
        Origin::CommandLine,
    ));
    denied.retain(|(list, _)| *list != Denied::default());
    settings.retain(|id, _| id == DENY || !is_overruled(given, id));
    if is_overruled(given, COMPONENT) {
        tables.clear();
    }
    let mut matches = with_added(arguments, &settings)?;
    if drop_what_is_alone(given, &matches, &mut settings, file.as_deref())? {
        matches = with_added(arguments, &settings)?;
    }
    let (mut settled, mut common) = match matches.subcommand() {
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
    show_apart(&mut settled, &denied);
    for id in WIDENING.into_iter().filter(|id| settings.contains_key(*id)) {
        // That it is off was said, and no table says otherwise.
        common.entry(id.to_owned()).or_default();
    }
    let mut sources = Sources {
        file,
        settled,
        tables,
        common,
        by_hand,
        allow_also: (allow_besides.iter())
            .map(|setting| values_of(&setting.arguments))
            .collect(),
        denied: joined(denied.into_iter().map(|(list, _)| list).collect()),
        secrets: Vec::new(),
    };
    let of_tables = sources.tables.iter();
    let of_tables: Vec<_> = of_tables
        .flat_map(|table| sources.settled_in(table))
        .collect();
    sources.settled.extend(of_tables);
    Ok(Completed {
        matches,
        sources,
        work_counts,
    })
}

/// Where a file says first what it denies.
fn line_of(settings: &BTreeMap<String, Setting>) -> Origin {
    let said = [DENY, PROTECT_SECRETS];
    let said = said.iter().find_map(|id| settings.get(*id));
    said.map_or(Origin::Default, |it| Origin::File { line: it.line })
}

/// Shows lists that deny one by one, where one list of them all would take back what is denied.
fn show_apart(settled: &mut [Settled], denied: &[(Denied, Origin)]) {
    let lists: Vec<Denied> = denied.iter().map(|(list, _)| list.clone()).collect();
    let deny = settled.iter_mut().find(|one| one.key == DENY);
    let (Some(deny), true) = (deny, lists.len() > 1 && takes_back(&lists)) else {
        return;
    };
    let mut parts: Vec<Part> = (denied.iter().rev())
        .map(|(list, origin)| Part {
            value: list.patterns.clone(),
            origin: *origin,
        })
        .collect();
    parts.sort_by_key(|part| part.value.is_empty());
    deny.parts.clear();
    deny.also = parts.split_off(1);
    deny.value = json!(parts[0].value);
    deny.origin = parts[0].origin;
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
            _ => {
                let why = why.replace("`session_dir`", "`--session-dir`");
                anyhow::bail!("`--{}`: {why}", id.replace('_', "-"))
            }
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
pub(super) fn values_of(arguments: &[OsString]) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::super::narrowing::{NARROWING, WORDS};
    use super::*;

    /// Keys of which each source's word is taken as a whole, or holds besides the others'.
    const WITHOUT_ORDER: [&str; 8] = [
        ALLOW,
        DENY,
        TRUSTED_KEY,
        "default_encoding",
        "file",
        "import",
        "sha256",
        "toolset",
    ];

    /// A narrow and a wide value of a key, in arguments.
    fn values(arg: &clap::Arg) -> [Vec<OsString>; 2] {
        let id = arg.get_id().as_str();
        let option = format!("--{}", arg.get_long().unwrap());
        let with = |value: &str| vec![OsString::from(format!("{option}={value}"))];
        let (on, off) = (vec![option.clone().into()], Vec::new());
        match WORDS.iter().find(|(word, _)| *word == id) {
            Some((_, words)) => [with(words[0]), with(words[words.len() - 1])],
            None if NARROWING.contains(&id) => [on, off],
            None if WIDENING.contains(&id) => [off, on],
            None => [with("70000"), with("80000")],
        }
    }

    /// A key that is added has an order, or is said to have none.
    #[test]
    fn of_every_key_of_a_table_the_narrower_value_counts() {
        let command = table_command();
        for arg in config::keys(&command) {
            let id = arg.get_id().as_str();
            if GRANTS.contains(&id) || WITHOUT_ORDER.contains(&id) {
                continue;
            }
            let [narrow, wide] = values(arg);
            let counts = |said: &[OsString], own: &[OsString]| {
                let common = BTreeMap::from([(id.to_owned(), said.to_owned())]);
                let sources = Sources {
                    common,
                    ..Sources::default()
                };
                sources.of_both(id, own).unwrap_or_else(|| said.to_owned())
            };
            assert_eq!(counts(&narrow, &wide), narrow, "{id}");
            assert_eq!(counts(&wide, &narrow), narrow, "{id}");
            assert_eq!(Sources::default().of_both(id, &wide), Some(wide), "{id}");
        }
    }

    #[test]
    fn of_a_tables_keys_those_count_that_the_command_line_trusts() {
        let keys = |names: &[&str]| -> Vec<OsString> {
            let key = |name: &&str| OsString::from(format!("--trusted-key={name}"));
            names.iter().map(key).collect()
        };
        let said = BTreeMap::from([(TRUSTED_KEY.to_owned(), keys(&["b", "c"]))]);
        let by_hand = Sources {
            common: said.clone(),
            by_hand: said.clone(),
            ..Sources::default()
        };
        let in_file = Sources {
            common: said,
            ..Sources::default()
        };
        let of = |sources: &Sources, own: &[&str]| sources.of_both(TRUSTED_KEY, &keys(own));
        assert_eq!(of(&by_hand, &["a", "b"]), Some(keys(&["b"])));
        assert_eq!(of(&by_hand, &["a"]), Some(Vec::new()));
        assert_eq!(of(&by_hand, &[]), None);
        assert_eq!(of(&in_file, &["a"]), Some(keys(&["a"])));
        assert_eq!(of(&in_file, &[]), None);
    }
}
