//! Keys that people look for because other tools have them, and keys that are nearly right.

/// What other tools call something, and how it is said here.
const FOREIGN: [(&[&str], &str); 14] = [
    (
        &[
            "allowed_paths",
            "allowed_directories",
            "allowed_dirs",
            "allowed_roots",
            "directories",
            "dirs",
            "paths",
            "roots",
            "read_paths",
            "read_roots",
            "read_root",
            "allow_read",
        ],
        "directories are granted with `read`, `write` and `work`",
    ),
    (
        &[
            "write_paths",
            "write_roots",
            "write_root",
            "allow_write",
            "output_dir",
            "output",
        ],
        "one directory is granted for writing, with `write` or `work`",
    ),
    (
        &[
            "base_dir",
            "base_path",
            "root_dir",
            "root",
            "workspace",
            "work_dir",
            "working_directory",
            "sandbox",
            "sandbox_dir",
        ],
        "one directory is granted both ways with `work`",
    ),
    (
        &[
            "max_file_size",
            "max_size",
            "max_bytes",
            "file_size_limit",
            "size_limit",
            "max_read_size",
        ],
        "`max_read_bytes` is for reading a file, `max_write_bytes` for what a call writes",
    ),
    (&["max_write_size"], "did you mean `max_write_bytes`?"),
    (
        &["encoding", "charset", "text_encoding"],
        "did you mean `default_encoding`?",
    ),
    (
        &[
            "timeout",
            "timeout_seconds",
            "timeout_secs",
            "max_time",
            "time_limit",
        ],
        "did you mean `timeout_ms`? It takes milliseconds, or text such as `\"5s\"`",
    ),
    (
        &["max_results", "max_files", "max_items", "limit"],
        "`max_entries` is for a page of a directory, `max_session_files` for what a session makes",
    ),
    (
        &["max_output_size", "max_result_size", "max_response_size"],
        "did you mean `max_output_bytes`?",
    ),
    (
        &[
            "blocked_paths",
            "denied_paths",
            "deny_list",
            "denylist",
            "blacklist",
            "exclude",
            "excludes",
            "exclude_patterns",
            "ignore",
            "deny_patterns",
        ],
        "did you mean `deny`? It takes patterns, from each directory that is granted",
    ),
    (
        &[
            "include",
            "includes",
            "whitelist",
            "allowlist",
            "allow_list",
            "allowed_extensions",
            "allow_patterns",
            "allowed_patterns",
        ],
        "did you mean `allow`? It takes patterns, from each directory that is granted",
    ),
    (
        &["read_only", "readonly"],
        "what is granted with `read` alone is read-only",
    ),
    (
        &["allow_overwrite", "allow_delete", "allow_deletion"],
        "`overwrite` and `delete` take \"deny\", \"ask\" or \"allow\"",
    ),
    (
        &["log", "log_file", "audit_log", "audit_file"],
        "did you mean `audit`?",
    ),
];

/// How far a key may be from a known one to be taken for it: in letters that are wrong, missing,
/// too many, or exchanged with their neighbours.
const MOST_MISTAKES: usize = 3;

/// A longer key is none that anybody meant.
const LONGEST_KEY: usize = 64;

/// What to say to a key that is none, if there is anything better than all the keys.
pub(crate) fn advice<'a>(key: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    if key.len() > LONGEST_KEY {
        return None;
    }
    let key = key.to_lowercase().replace('-', "_");
    let foreign = FOREIGN.iter().find(|(names, _)| names.contains(&&*key));
    match (foreign, nearest(&key, known)) {
        (Some((_, advice)), _) => Some((*advice).to_owned()),
        (None, Some(near)) => Some(format!("did you mean `{near}`?")),
        (None, None) => None,
    }
}

fn nearest<'a>(key: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mistakes = |name: &'a str| (strsim::damerau_levenshtein(key, name), name);
    let (mistakes, name) = known.map(mistakes).min_by_key(|(mistakes, _)| *mistakes)?;
    (mistakes <= MOST_MISTAKES.min(name.len() / 2)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["read", "deny", "max_read_bytes", "max_depth"];

    fn advice_on(key: &str) -> Option<String> {
        advice(key, KNOWN.into_iter())
    }

    #[test]
    fn the_nearest_key_is_meant_if_it_is_near() {
        for (key, meant) in [
            ("raed", "read"),
            ("Read", "read"),
            ("max-depth", "max_depth"),
            ("max_raed_byts", "max_read_bytes"),
        ] {
            let advice = format!("did you mean `{meant}`?");
            assert_eq!(advice_on(key), Some(advice), "{key}");
        }
        for key in ["", "x", "limits", "colour"] {
            assert_eq!(advice_on(key), None, "{key}");
        }
    }

    #[test]
    fn what_other_tools_have_is_told_by_the_name_it_has_here() {
        for (key, meant) in [
            ("allowed_paths", "`read`"),
            ("allowed-paths", "`read`"),
            ("max_file_size", "`max_read_bytes`"),
            ("encoding", "`default_encoding`"),
        ] {
            assert!(advice_on(key).unwrap().contains(meant), "{key}");
        }
    }

    #[test]
    fn advice_names_keys_that_there_are_and_no_foreign_one_is_a_key() {
        let command = crate::cli::settings::command();
        let keys: Vec<String> = crate::cli::config::keys(&command)
            .map(crate::cli::config::key_of)
            .collect();
        for (names, advice) in FOREIGN {
            assert!(names.iter().all(|name| !keys.iter().any(|key| key == name)));
            let told: Vec<&str> = advice.split('`').skip(1).step_by(2).collect();
            let named: Vec<&&str> = told.iter().filter(|word| !word.starts_with('"')).collect();
            assert!(!named.is_empty());
            for word in named {
                assert!(keys.iter().any(|key| key == *word), "{word}");
            }
        }
    }
}
