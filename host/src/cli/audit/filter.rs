//! Which entries `rootbound audit show` shows.

use serde_json::Value;

use crate::cli::args::ShowArgs;

/// What the operator wants to see.
pub(super) struct Filter<'a> {
    args: &'a ShowArgs,
    since: Option<String>,
}

impl<'a> Filter<'a> {
    pub(super) fn new(args: &'a ShowArgs) -> Self {
        let since = args
            .since
            .map(|time| humantime::format_rfc3339_micros(time).to_string());
        Self { args, since }
    }

    pub(super) fn admits(&self, entry: &Value) -> bool {
        let is = |name: &str, wanted: &Option<String>| {
            wanted
                .as_ref()
                .is_none_or(|wanted| entry[name] == wanted.as_str())
        };
        let is_recent = |since: &String| {
            entry["time"]
                .as_str()
                .is_some_and(|time| time >= since.as_str())
        };
        is("tool", &self.args.tool)
            && is("call", &self.args.call)
            && (!self.args.denied || was_refused(entry))
            && self.since.as_ref().is_none_or(is_recent)
            && self.is_about_path(entry)
    }

    fn is_about_path(&self, entry: &Value) -> bool {
        let of_many = ["objects", "effects"].into_iter();
        let mut of_many = of_many.filter_map(|name| entry[name].as_array()).flatten();
        self.admits_part(entry) || of_many.any(|part| self.admits_part(part))
    }

    /// Whether one of several objects of an entry is wanted.
    pub(super) fn admits_part(&self, part: &Value) -> bool {
        let Some(wanted) = &self.args.path else {
            return true;
        };
        let paths = [&part["path"], &part["to_path"], &part["object"]["resolved"]];
        let mut paths = paths.into_iter().filter_map(Value::as_str);
        paths.any(|path| is_at_or_below(path, wanted.trim_end_matches('/')))
    }
}

/// A refusal is one, and an approval that was not given.
pub(super) fn was_refused(entry: &Value) -> bool {
    matches!(entry["decision"].as_str(), Some("deny" | "not-approved"))
}

fn is_at_or_below(path: &str, wanted: &str) -> bool {
    let rest = path.strip_prefix(wanted);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
