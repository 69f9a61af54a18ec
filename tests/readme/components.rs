//! What `docs/components.md` shows is done in its order, with our own component in the place of
//! the strangers' that it names.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use super::console::{fits, run, steps};
use super::{blocks, document, repository, search_path};
use crate::components::declaring::built_in;
use crate::support::sha256;

const PAGE: &str = "docs/components.md";

/// A directory with all that the page names.
fn desk() -> TempDir {
    let desk = tempfile::tempdir().unwrap();
    for directory in ["inputs", "archive", "reports", "workspace", "tools"] {
        fs::create_dir(desk.path().join(directory)).unwrap();
    }
    fs::write(desk.path().join("inputs/a.txt"), "one two").unwrap();
    for file in ["word-count", "csv", "tools/csv", "tools/reports", "IN"] {
        fs::copy(built_in(), desk.path().join(format!("{file}.wasm"))).unwrap();
    }
    desk
}

fn bash(command: &str, directory: &Path) -> Output {
    let mut bash = Command::new("bash");
    bash.args(["-euc", command]).current_dir(directory);
    bash.env("PATH", search_path())
        .env("XDG_STATE_HOME", directory.join("state"))
        .env("XDG_CACHE_HOME", directory.join("cache"))
        .env_remove("ROOTBOUND_WORK_DIR")
        .env_remove("ROOTBOUND_CONFIG");
    bash.stdin(std::process::Stdio::null()).output().unwrap()
}

fn succeeds(command: &str, directory: &Path) -> String {
    let output = bash(command, directory);
    assert!(output.status.success(), "{command}\n{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands in a text, between back quotes, that begin so.
fn quoted(text: &str, beginning: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = text.split('`').filter(|part| part.starts_with(beginning));
    parts.map(str::to_owned).collect()
}

#[test]
fn the_first_look_is_as_the_page_shows_it() {
    let desk = desk();
    let shown = &blocks(&document(PAGE), "sh")[0];
    assert_eq!(shown.lines().count(), 4, "{shown}");
    for line in shown.lines() {
        // Ours counts no words, and lists what is there.
        let command = line.replace("word_count", "list_files");
        let printed = succeeds(&command, desk.path());
        if line.contains(" call ") {
            assert!(printed.contains("a.txt"), "{printed}");
        }
    }
}

#[test]
fn the_manifest_that_the_page_shows_can_be_added_and_is_shown() {
    let desk = desk();
    let page = document(PAGE);
    fs::write(desk.path().join("MANIFEST.json"), &blocks(&page, "json")[0]).unwrap();
    let add = &quoted(&page, "rootbound manifest add")[0];
    succeeds(add, desk.path());
    let show = quoted(&page, "rootbound manifest show")[0].replace("FILE", "OUT");
    let shown = succeeds(&show, desk.path());
    assert!(shown.contains(r#""max_read_bytes":1048576"#), "{shown}");
}

/// The tables are locked, and then the lock beside them is in force.
#[test]
fn the_configuration_that_the_page_shows_is_one_and_can_be_locked() {
    let desk = desk();
    let page = document(PAGE);
    let digest = sha256(fs::read(built_in()).unwrap());
    let tables = blocks(&page, "toml")[0].replace("\"…\"", &format!("\"{digest}\""));
    fs::write(desk.path().join("rootbound.toml"), tables).unwrap();
    let check = "rootbound check --json --config rootbound.toml";
    let checked = succeeds(check, desk.path());
    for words in [
        r#""name":"csv""#,
        r#""name":"reports""#,
        r#""label":"archive""#,
    ] {
        assert!(checked.contains(words), "{words}: {checked}");
    }
    succeeds("rootbound lock --config rootbound.toml", desk.path());
    succeeds(check, desk.path());
    succeeds("printf x >>tools/reports.wasm", desk.path());
    let changed = bash(check, desk.path());
    let said = String::from_utf8(changed.stderr).unwrap();
    assert!(
        said.contains("tools/reports.wasm`") && said.contains("digest-mismatch"),
        "{said}"
    );
}

#[test]
fn the_keys_that_the_page_shows_are_taken() {
    let desk = desk();
    let keys = &blocks(&document(PAGE), "toml")[1];
    fs::write(desk.path().join("rootbound.toml"), keys).unwrap();
    succeeds("rootbound check --config rootbound.toml", desk.path());
    let unsigned = "rootbound check --config rootbound.toml --component word-count.wasm";
    let refused = bash(unsigned, desk.path());
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("signature-missing"), "{said}");
}

/// `./test` builds for minutes: `make test-examples` runs it.
#[test]
fn a_new_tool_is_made_as_the_authors_page_shows() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = blocks(&document("docs/authoring.md"), "console");
    let steps = steps(&sessions[0]);
    let new = steps.first().unwrap();
    let printed = run(&new.command, directory.path());
    assert!(fits(&new.shown, &printed), "{printed}");
    let made = directory.path().join("tally-marks");
    let source = fs::read_to_string(made.join("src/lib.rs")).unwrap();
    assert!(source.contains("struct TallyMarksTool"), "{source}");
    let script = fs::read_to_string(repository().join("scripts/build-guest")).unwrap();
    let copied = fs::read_to_string(made.join("scripts/build-guest")).unwrap();
    assert_eq!(copied, script);
}
