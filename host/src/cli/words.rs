//! Words that stand for something where otherwise a file is named, and what is nearly one.
//!
//! Whoever writes `--audit None` wants no log, and not one in a file of that name.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, PathBufValueParser, TypedValueParser};

/// Words that are no paths, and the options that have them.
pub(crate) const WORDS: [(&str, &str); 4] = [
    ("audit", "stderr"),
    ("audit", "none"),
    ("component", "built-in"),
    ("file", "built-in"),
];
/// What people write where they mean such a word, or another that there is not.
const NEARLY: [(&str, &str, &str); 10] = [
    ("audit", "stdout", "stderr"),
    ("audit", "-", "stderr"),
    ("audit", "off", "none"),
    ("audit", "no", "none"),
    ("audit", "false", "none"),
    ("audit", "disabled", "none"),
    ("component", "builtin", "built-in"),
    ("component", "built_in", "built-in"),
    ("file", "builtin", "built-in"),
    ("file", "built_in", "built-in"),
];

/// Why a value of an option cannot be taken: it is nearly one of its words, and the file of that
/// name was hardly meant.
pub(crate) fn slip(id: &str, value: &str) -> Option<String> {
    // The name before a component is no part of it.
    let (name, bare) = match value.split_once('=') {
        Some((name, bare)) if id == "component" && !name.contains('/') => (name, bare),
        _ => ("", value),
    };
    if WORDS.contains(&(id, bare)) {
        return None;
    }
    let like = bare.trim().to_lowercase();
    let of_option = WORDS.into_iter().filter(|(option, _)| *option == id);
    let nearly = NEARLY.into_iter().filter(|(option, ..)| *option == id);
    let mut meant = of_option
        .map(|(_, word)| (word, word))
        .chain(nearly.map(|(_, written, word)| (written, word)));
    let (_, word) = meant.find(|(written, _)| *written == like)?;
    let before = match name {
        "" => String::new(),
        name => format!("{name}="),
    };
    Some(format!(
        "`{value}` is not `{before}{word}`; write that, or `{before}./{bare}` for a file of that name"
    ))
}

/// Takes a path that is no slip.
pub(crate) fn parser(id: &'static str) -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(move |path| {
        match path.to_str().and_then(|text| slip(id, text)) {
            Some(slip) => Err(slip),
            None => Ok(path),
        }
    })
}

/// The same for what may have a name before it.
pub(crate) fn text_parser(id: &'static str) -> impl TypedValueParser<Value = OsString> {
    OsStringValueParser::new().try_map(move |text| {
        match text.to_str().and_then(|text| slip(id, text)) {
            Some(slip) => Err(slip),
            None => Ok(text),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_a_word_is_told_with_the_word_and_the_file_of_that_name() {
        #[rustfmt::skip]
        let rows = [
            ("audit",     "None",          "`none`",           "`./None`"),
            ("audit",     "NONE",          "`none`",           "`./NONE`"),
            ("audit",     "none ",         "`none`",           "`./none `"),
            ("audit",     "STDERR",        "`stderr`",         "`./STDERR`"),
            ("audit",     "Stderr",        "`stderr`",         "`./Stderr`"),
            ("audit",     "stdout",        "`stderr`",         "`./stdout`"),
            ("audit",     "-",             "`stderr`",         "`./-`"),
            ("audit",     "off",           "`none`",           "`./off`"),
            ("audit",     "False",         "`none`",           "`./False`"),
            ("component", "Built-In",      "`built-in`",       "`./Built-In`"),
            ("component", "builtin",       "`built-in`",       "`./builtin`"),
            ("component", "files=BUILTIN", "`files=built-in`", "`files=./BUILTIN`"),
            ("file",      "builtin",       "`built-in`",       "`./builtin`"),
        ];
        for (id, value, word, file) in rows {
            let told = slip(id, value).unwrap_or_else(|| panic!("{id} {value}"));
            assert!(told.contains(word) && told.contains(file), "{told}");
        }
    }

    #[test]
    fn words_and_other_files_are_no_slips() {
        for (id, value) in [
            ("audit", "none"),
            ("audit", "stderr"),
            ("audit", "./None"),
            ("audit", "/var/log/none"),
            ("audit", "none.jsonl"),
            ("audit", "nothing"),
            ("component", "built-in"),
            ("component", "x=built-in"),
            ("component", "./x=Built-In"),
            ("component", "none"),
            ("file", "tools/built-in.wasm"),
        ] {
            assert_eq!(slip(id, value), None, "{id} {value}");
        }
    }

    /// An option that takes a file or a word says so in its value's name, and is listed here.
    #[test]
    fn every_option_with_words_is_known() {
        let command = crate::cli::settings::command();
        for arg in command.get_arguments() {
            let names = arg.get_value_names().unwrap_or_default();
            let words = names.iter().flat_map(|name| name.split('|').skip(1));
            for word in words.filter(|word| *word != "env") {
                let id = arg.get_id().as_str();
                assert!(WORDS.contains(&(id, word)), "{id} {word}");
            }
        }
    }
}
