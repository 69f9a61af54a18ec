//! `word_count`: how many words the text files below a directory have.

use rootbound_tool::files::{self, Kind};
use rootbound_tool::{Error, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Levels below the directory that are looked at.
const DEPTH: usize = 8;

/// The tool.
pub struct WordCountTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Directory to count in; `.` is the granted directory itself
    path: String,
    /// End of the names to count, such as `.md`
    #[serde(default)]
    suffix: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Counts {
    path: String,
    words: usize,
    files: Vec<Count>,
    /// Files that are not text
    skipped: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Count {
    path: String,
    words: usize,
}

impl Tool for WordCountTool {
    type Arguments = Arguments;
    type Fields = Counts;

    const NAME: &'static str = "word_count";
    const TITLE: &'static str = "Count words";
    const DESCRIPTION: &'static str = "Counts the words of all text files below a directory, 8 \
        levels deep, in all and file by file. Names that start with a dot are passed over, links \
        are not followed, and files that are not text are listed in `skipped`.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
    const EXAMPLE: &'static str = r#"{"path": "chapters", "suffix": ".md"}"#;

    fn run(arguments: Arguments) -> Result<Output<Counts>, Error> {
        let Arguments { path, suffix } = arguments;
        let mut counts = Counts {
            path: path.clone(),
            words: 0,
            files: Vec::new(),
            skipped: Vec::new(),
        };
        counts.add_directory(&path, &suffix, DEPTH)?;
        Ok(Output::new(counts))
    }
}

impl Counts {
    fn add_directory(&mut self, path: &str, suffix: &str, depth: usize) -> Result<(), Error> {
        for entry in files::list(path)? {
            let below = join(path, &entry.name);
            match entry.kind {
                _ if entry.name.starts_with('.') || !entry.usable => {}
                Kind::Directory if depth > 1 => self.add_directory(&below, suffix, depth - 1)?,
                Kind::File if below.ends_with(suffix) => self.add_file(below)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// What is not text is no reason to give up; what the host refuses is.
    fn add_file(&mut self, path: String) -> Result<(), Error> {
        match String::from_utf8(files::read(&path)?) {
            Ok(text) => {
                let words = words(&text);
                self.words += words;
                self.files.push(Count { path, words });
            }
            Err(_) => self.skipped.push(path),
        }
        Ok(())
    }
}

fn join(directory: &str, name: &str) -> String {
    match directory {
        "." => name.to_owned(),
        _ => format!("{}/{name}", directory.trim_end_matches('/')),
    }
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

rootbound_tool::export!(WordCountTool);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_white_space_separates() {
        for (text, count) in [("", 0), (" one\n", 1), ("one two\tthree\n\nfour", 4)] {
            assert_eq!(words(text), count, "{text:?}");
        }
    }

    #[test]
    fn paths_are_relative_to_the_granted_directory() {
        assert_eq!(join(".", "a.md"), "a.md");
        assert_eq!(join("drafts/", "a.md"), "drafts/a.md");
    }
}
