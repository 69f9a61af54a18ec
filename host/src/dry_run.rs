//! `dry_run`: what the front-ends take from a caller who wants to see a change before it is made,
//! and what they say where that was meant and not heard.

/// The argument by which a call over MCP asks what it would change. The host takes it out; no
/// tool sees it.
pub(crate) const ARGUMENT: &str = "dry_run";

/// Whether an argument was meant as this one.
pub(crate) fn is_meant_by(name: &str) -> bool {
    /// What it is called elsewhere, in letters alone.
    const NAMES: [&str; 8] = [
        "dryrun",
        "dry",
        "preview",
        "simulate",
        "whatif",
        "noop",
        "checkonly",
        "testrun",
    ];
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    let letters = letters.collect::<String>().to_lowercase();
    NAMES.contains(&&*letters) || strsim::osa_distance(&letters, NAMES[0]) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_are_meant_and_other_words_are_not() {
        for name in [
            "dry_run",
            "dryrun",
            "dry-run",
            "dryRun",
            "DRY_RUN",
            "dry run",
            "dry_rn",
            "--dry-run",
            "preview",
            "what_if",
            "simulate",
        ] {
            assert!(is_meant_by(name), "{name}");
        }
        for name in [
            "",
            "run",
            "path",
            "content",
            "overwrite",
            "recursive",
            "force",
            "dir",
        ] {
            assert!(!is_meant_by(name), "{name}");
        }
    }
}
