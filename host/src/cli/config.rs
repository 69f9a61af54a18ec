//! `rootbound.toml`: the options of a session, written down.
//!
//! A key is the long name of an option with `_` for `-`, and takes what the option takes: the
//! command line's definition is the file's as well, so that nothing is said twice. What the
//! command line or the environment says counts more than the file.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};
use rootbound::{Patterns, escaped, read_configuration};
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::foreign;
use super::words::{self, WORDS};

/// The option that names the file, which is no key of it.
pub(crate) const CONFIG: &str = "config";
/// The key that has tables too, one for each component.
pub(crate) const COMPONENT: &str = "component";
/// Keys whose values are host paths: relative ones start at the file's directory.
pub(crate) const PATHS: [&str; 9] = [
    "file",
    "lock",
    "read",
    "write",
    "work",
    "session_dir",
    "component",
    "audit",
    "audit_key",
];
/// Items of a list: as many as there may be patterns, which are the longest.
const LONGEST_LIST: usize = Patterns::MAX_PATTERNS;
/// Letters that a message shows of a key that is none.
const LONGEST_SHOWN: usize = 100;
/// Keys whose paths may have a name before them.
pub(crate) const LABELLED: [&str; 2] = ["read", "component"];

/// Something in the file that cannot be taken.
#[derive(Debug, thiserror::Error)]
#[error("{}:{line}:{column}: {message}", file.display())]
pub(crate) struct ConfigError {
    file: PathBuf,
    line: usize,
    column: usize,
    message: String,
}

/// What a file says about one option, as the command line would have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) line: usize,
    /// The arguments; none for a flag that is off.
    pub(crate) arguments: Vec<OsString>,
}

/// What a file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// The options, by their ids.
    pub(crate) options: BTreeMap<String, Setting>,
    /// The components that have a table of their own.
    pub(crate) components: Vec<Table>,
}

/// A table `[component.NAME]`: options of one component.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) options: BTreeMap<String, Setting>,
}

/// Reads a file as the options of `command`, and its tables as those of `component`.
pub(crate) fn read(
    file: &Path,
    command: &Command,
    component: &Command,
) -> anyhow::Result<Settings> {
    let text = read_configuration(file)
        .map_err(|error| anyhow::anyhow!("`{}` cannot be read: {error}", file.display()))?;
    Ok(settings(file, &text, command, component)?)
}

/// The same for a text that was read already.
pub(crate) fn settings(
    file: &Path,
    text: &str,
    command: &Command,
    component: &Command,
) -> Result<Settings, ConfigError> {
    let reader = Reader {
        file,
        // Editors of other systems put one there, and it takes no column.
        text: text.strip_prefix('\u{feff}').unwrap_or(text),
        command,
        component,
    };
    reader.settings()
}

/// The options that have a key.
pub(crate) fn keys(command: &Command) -> impl Iterator<Item = &Arg> {
    let options = command
        .get_arguments()
        .filter(|arg| arg.get_long().is_some());
    let of_file = |arg: &&Arg| !matches!(arg.get_id().as_str(), CONFIG | "help" | "version");
    options.filter(of_file).filter(|arg| !arg.is_hide_set())
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Flag,
    Number,
    Text,
    List,
}

impl Takes {
    pub(crate) fn of(arg: &Arg) -> Self {
        let number = [TypeId::of::<u64>(), TypeId::of::<u32>()];
        match arg.get_action() {
            ArgAction::SetTrue => Self::Flag,
            ArgAction::Append => Self::List,
            _ if number
                .iter()
                .any(|id| arg.get_value_parser().type_id() == *id) =>
            {
                Self::Number
            }
            _ => Self::Text,
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Flag => "`true` or `false`",
            Self::Number => "a number, or text such as `\"10MiB\"` or `\"5s\"` where it has a unit",
            Self::Text => "text in quotes",
            Self::List => "a list of texts: `[\"…\", \"…\"]`",
        }
    }
}

/// In the order of the file, so that its first mistake is the one that is told.
fn in_order<'a, 'b>(
    table: &'a DeTable<'b>,
) -> Vec<(&'a Spanned<Cow<'b, str>>, &'a Spanned<DeValue<'b>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// A file's text, and the options that it is about.
struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
    command: &'a Command,
    component: &'a Command,
}

impl Reader<'_> {
    fn settings(&self) -> Result<Settings, ConfigError> {
        let table = DeTable::parse(self.text).map_err(|error| {
            self.wrong(error.span().unwrap_or_default(), error.message().to_owned())
        })?;
        let mut settings = Settings::default();
        for (key, value) in in_order(table.get_ref()) {
            match value.get_ref() {
                DeValue::Table(tables) if key.get_ref() == COMPONENT => {
                    settings.components = self.tables(tables)?;
                }
                _ => {
                    let (id, setting) = self.option(key, value)?;
                    settings.options.insert(id, setting);
                }
            }
        }
        Ok(settings)
    }

    fn option(
        &self,
        key: &Spanned<Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(String, Setting), ConfigError> {
        let is_table = matches!(value.get_ref(), DeValue::Table(_));
        let arg = self.arg(key.get_ref(), is_table, key.span())?;
        let arguments = self.arguments(arg, key.get_ref(), value.get_ref(), value.span())?;
        let (line, _) = self.position(key.span().start);
        Ok((arg.get_id().to_string(), Setting { line, arguments }))
    }

    /// The tables of components, in the order in which they are to be listed.
    fn tables(&self, tables: &DeTable<'_>) -> Result<Vec<Table>, ConfigError> {
        let reader = Reader {
            command: self.component,
            ..*self
        };
        let mut components = Vec::new();
        for (name, value) in in_order(tables) {
            let DeValue::Table(options) = value.get_ref() else {
                let name: String = escaped(name.get_ref())
                    .chars()
                    .take(LONGEST_SHOWN)
                    .collect();
                let message = format!("`component.{name}` is a table");
                return Err(self.wrong(value.span(), message));
            };
            let options = in_order(options).into_iter();
            let options: Result<_, _> = options
                .map(|(key, value)| reader.option(key, value))
                .collect();
            components.push(Table {
                name: name.get_ref().to_string(),
                options: options?,
            });
        }
        Ok(components)
    }

    fn arg(&self, key: &str, is_table: bool, span: Range<usize>) -> Result<&Arg, ConfigError> {
        if let Some(arg) = keys(self.command).find(|arg| key_of(arg) == key) {
            return Ok(arg);
        }
        let known: Vec<String> = keys(self.command).map(key_of).collect();
        let advice = match foreign::advice(key, known.iter().map(String::as_str)) {
            Some(advice) => advice,
            None if is_table => "the only sections are `[component.NAME]`".to_owned(),
            None => format!("the keys are `{}`", known.join("`, `")),
        };
        let key: String = escaped(key).chars().take(LONGEST_SHOWN).collect();
        Err(self.wrong(span, format!("there is no key `{key}`; {advice}")))
    }

    /// What the command line says to some arguments, if it does not take them.
    fn try_out(&self, arguments: &[OsString]) -> Option<clap::Error> {
        let command = self.command.clone().no_binary_name(true);
        command.try_get_matches_from(arguments).err()
    }

    fn arguments(
        &self,
        arg: &Arg,
        key: &str,
        value: &DeValue<'_>,
        span: Range<usize>,
    ) -> Result<Vec<OsString>, ConfigError> {
        let takes = Takes::of(arg);
        let option = format!("--{}", key.replace('_', "-"));
        match (takes, value) {
            (Takes::Flag, DeValue::Boolean(true)) => Ok(vec![option.into()]),
            (Takes::Flag, DeValue::Boolean(false)) => Ok(Vec::new()),
            (Takes::Number, DeValue::Integer(number)) => {
                let digits = number.as_str().replace('_', "");
                let number = i64::from_str_radix(&digits, number.radix())
                    .map_err(|_| self.wrong(span.clone(), format!("`{digits}` is too large")))?;
                Ok(vec![self.argument(
                    arg,
                    &option,
                    &number.to_string(),
                    span,
                )?])
            }
            (Takes::Number | Takes::Text, DeValue::String(text)) => {
                Ok(vec![self.argument(arg, &option, text, span)?])
            }
            // One may stand for a list of one.
            (Takes::List, DeValue::String(text)) => {
                Ok(vec![self.argument(arg, &option, text, span)?])
            }
            (Takes::List, DeValue::Array(items)) if items.len() > LONGEST_LIST => {
                let (most, many) = (LONGEST_LIST, items.len());
                let message = format!("`{key}` takes {most} at most, and these are {many}");
                Err(self.wrong(span, message))
            }
            (Takes::List, DeValue::Array(items)) => {
                let mut arguments = Vec::new();
                for item in items.iter() {
                    let DeValue::String(text) = item.get_ref() else {
                        return Err(self.wrong_type(key, takes, item.span()));
                    };
                    let argument = self.untried(arg, &option, text, item.span())?;
                    arguments.push((argument, text, item.span()));
                }
                self.try_all(arguments)
            }
            _ => Err(self.wrong_type(key, takes, span)),
        }
    }

    fn wrong_type(&self, key: &str, takes: Takes, span: Range<usize>) -> ConfigError {
        self.wrong(span, format!("`{key}` takes {}", takes.in_words()))
    }

    fn argument(
        &self,
        arg: &Arg,
        option: &str,
        text: &str,
        span: Range<usize>,
    ) -> Result<OsString, ConfigError> {
        let argument = self.untried(arg, option, text, span.clone())?;
        match self.try_out(std::slice::from_ref(&argument)) {
            None => Ok(argument),
            Some(error) => Err(self.wrong(span, in_words(text, &error))),
        }
    }

    /// Tries arguments at once, since each trial takes longer than an argument; and only where
    /// that fails one by one, for the place of the mistake.
    fn try_all(
        &self,
        arguments: Vec<(OsString, &Cow<'_, str>, Range<usize>)>,
    ) -> Result<Vec<OsString>, ConfigError> {
        let all: Vec<OsString> = arguments.iter().map(|(it, ..)| it.clone()).collect();
        if self.try_out(&all).is_none() {
            return Ok(all);
        }
        for (argument, text, span) in arguments {
            if let Some(error) = self.try_out(&[argument]) {
                return Err(self.wrong(span, in_words(text, &error)));
            }
        }
        Ok(all)
    }

    /// What the command line would say, not tried yet.
    fn untried(
        &self,
        arg: &Arg,
        option: &str,
        text: &str,
        span: Range<usize>,
    ) -> Result<OsString, ConfigError> {
        let id = arg.get_id().as_str();
        if let Some(slip) = words::slip(id, text) {
            return Err(self.wrong(span, slip));
        }
        let value = match PATHS.contains(&id) && !WORDS.contains(&(id, text)) {
            true => self
                .path(id, text)
                .map_err(|why| self.wrong(span.clone(), why))?,
            false => text.into(),
        };
        let mut argument = OsString::from(format!("{option}="));
        argument.push(value);
        Ok(argument)
    }

    /// A path as seen from the working directory; behind its label, where it has one.
    fn path(&self, id: &str, text: &str) -> Result<OsString, String> {
        let label = match text.find(['=', '/']) {
            Some(at) if LABELLED.contains(&id) && text[at..].starts_with('=') => at + 1,
            _ => 0,
        };
        let (label, path) = text.split_at(label);
        if WORDS.contains(&(id, path)) {
            return Ok(text.into());
        }
        if path.is_empty() {
            return Err("the path is empty; write `.` for the directory of this file".to_owned());
        }
        if path.starts_with('~') {
            return Err(
                "`~` is not replaced here; write the whole path, or `./~…` for a name".to_owned(),
            );
        }
        let directory = self.file.parent().unwrap_or(Path::new(""));
        let mut value = OsString::from(label);
        // A name with a `=` is no label, as long as a `/` stands before it.
        match (label.is_empty(), directory == Path::new("")) {
            (true, true) => value.push(Path::new(".").join(path)),
            _ => value.push(directory.join(path)),
        }
        Ok(value)
    }

    fn wrong(&self, span: Range<usize>, message: String) -> ConfigError {
        let (line, column) = self.position(span.start);
        ConfigError {
            file: self.file.to_owned(),
            line,
            column,
            message,
        }
    }

    /// Line and column, in characters, from one.
    fn position(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..self.text.floor_char_boundary(at)];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        (line, column)
    }
}

pub(crate) fn key_of(arg: &Arg) -> String {
    arg.get_long().unwrap_or_default().replace('-', "_")
}

/// Why the command line does not take a value, without its talk of options.
fn in_words(value: &str, error: &clap::Error) -> String {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    };
    if error.kind() != ErrorKind::InvalidValue {
        return match error.source() {
            Some(source) => source.to_string(),
            None => format!("`{value}` cannot be taken"),
        };
    }
    let valid = context(ContextKind::ValidValue).join("`, `");
    match context(ContextKind::SuggestedValue).first() {
        Some(like) => format!("`{value}` is not one of `{valid}`; did you mean `{like}`?"),
        None => format!("`{value}` is not one of `{valid}`"),
    }
}

/// The text of a value that the command line was given.
pub(crate) fn shown(value: &OsStr) -> Value {
    json!(value.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::settings::{command, table_command};

    fn told(text: &str, command: &Command) -> String {
        let settings = super::settings(Path::new("f.toml"), text, command, &table_command());
        settings.unwrap_err().to_string()
    }

    /// Each letter missing, doubled, another, and exchanged with the next.
    fn mistakes(key: &str) -> Vec<String> {
        let letters: Vec<char> = key.chars().collect();
        let mut mistakes = Vec::new();
        for at in 0..letters.len() {
            let mut with = |change: fn(&mut Vec<char>, usize)| {
                let mut changed = letters.clone();
                change(&mut changed, at);
                mistakes.push(changed.into_iter().collect::<String>());
            };
            with(|letters, at| {
                letters.remove(at);
            });
            with(|letters, at| {
                let letter = letters[at];
                letters.insert(at, letter);
            });
            with(|letters, at| {
                let other = if letters[at] == 'x' { 'q' } else { 'x' };
                letters[at] = other;
            });
            with(|letters, at| {
                let next = (at + 1).min(letters.len() - 1);
                letters.swap(at, next);
            });
        }
        mistakes
    }

    #[test]
    fn a_key_with_one_mistake_is_told_with_its_place_and_the_key_that_is_meant() {
        let command = command();
        let known: Vec<String> = keys(&command).map(key_of).collect();
        for key in &known {
            for wrong in mistakes(key) {
                if known.contains(&wrong) {
                    continue;
                }
                let text = format!("# first\n  {wrong} = 1\n");
                let told = told(&text, &command);
                let place = format!("f.toml:2:3: there is no key `{wrong}`; ");
                assert!(told.starts_with(&place), "{told}");
                assert!(told.contains(&format!("`{key}`")), "{told}");
            }
        }
    }

    #[test]
    fn the_first_mistake_of_the_file_is_told() {
        let command = command();
        let told = told("max_depth = 1\nwrong = 1\naaaa = 1\n", &command);
        assert!(told.starts_with("f.toml:2:1: "), "{told}");
    }
}
