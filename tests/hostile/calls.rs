//! Attacks in several calls: one part prepares what another follows.

use std::os::unix::fs::symlink;

use rootbound::Durability;
use serde_json::{Value, json};

use super::component;
use super::layout::{Tree, lay_out};
use super::row::{Grants, ORDINARY, everything};
use crate::support::Recorded;

/// The answers of a script's steps.
fn follow(recorded: &Recorded, script: &str) -> Vec<Value> {
    let output = recorded.call("follow_a_script", json!({"script": script}));
    let fields = output.unwrap().fields();
    fields["steps"].as_array().unwrap().clone()
}

/// A link moves with its directory, and then leads out.
#[test]
fn a_link_that_leads_out_after_a_rename_is_not_followed() {
    let fixture = lay_out(&ORDINARY);
    let workspace = fixture.workspace();
    symlink("../..", workspace.join("done/inner/up")).unwrap();
    let builder = everything(Grants::OneDirectory.session(&fixture));
    let builder = builder.durability(Durability::Fast);
    let recorded = Recorded::build(builder.component(component::compiled()));
    let inside = follow(&recorded, "read done/inner/up/report.md");
    assert_eq!(inside, ["the report\n"]);
    assert_eq!(follow(&recorded, "rename done/inner inner"), [""]);
    let stolen = std::fs::read_to_string(workspace.join("inner/up/outside/secret.txt"));
    assert_eq!(stolen.unwrap(), "the secret\n", "the control must reach it");
    let before = Tree::of(&fixture.outside());
    let steps = [
        "read inner/up/outside/secret.txt",
        "stat inner/up",
        "list inner/up/outside",
        "create inner/up/outside/planted.md x",
        "write inner/up/outside/secret.txt x",
        "mkdir inner/up/outside/made",
        "rename report.md inner/up/outside/moved.md",
        "rename inner/up/outside/secret.txt taken.md",
        "unlink inner/up/outside/secret.txt",
        "rmdir inner/up/outside/bare",
    ];
    let answers = follow(&recorded, &steps.join("|"));
    assert_eq!(answers, ["!not-permitted"; 10]);
    let refusals = recorded.entries_of("refusal");
    assert_eq!(refusals.len(), steps.len());
    assert!(refusals.iter().all(|refusal| refusal["code"] == "escape"));
    assert_eq!(
        before.changes(&Tree::of(&fixture.outside())),
        Vec::<String>::new()
    );
}
