//! Hostile guests: components that call WASI raw, and components that are none.
//!
//! `tests/hostile_guest` has one attack in each file. `table/` says what must come of each;
//! here each is tried, first under a host that guards nothing.

mod calls;
mod claims;
mod command;
pub mod component;
mod crowds;
mod imports;
mod layout;
mod ledger;
mod lists;
mod mounts;
mod row;
mod table;
mod trial;
mod unguarded;

use std::collections::BTreeSet;
use std::path::Path;

use table::rows;
use trial::{Trial, complain};

#[test]
fn every_attack_works_unguarded_and_is_stopped() {
    let only = std::env::var("ATTACK").unwrap_or_default();
    let mut complaints = Vec::new();
    for row in rows().filter(|row| row.attack.contains(&only)) {
        complaints.extend(Trial::of(row).complaints());
    }
    complain(&complaints);
}

#[test]
fn every_attack_stands_in_the_table() {
    let expected: BTreeSet<&str> = rows().map(|row| row.attack).collect();
    for name in attack_files() {
        assert!(
            expected.contains(name.as_str()),
            "nothing says what must come of the attack `{name}`: add a row to a file in tests/hostile/table/"
        );
    }
}

#[test]
fn every_row_is_about_an_attack() {
    let files = attack_files();
    for row in rows() {
        let file = format!("tests/hostile_guest/src/attacks/{}.rs", row.attack);
        assert!(
            files.contains(row.attack),
            "there is no {file}: remove the row or add the file"
        );
    }
}

#[test]
fn the_component_lists_every_attack_but_the_one_that_hides() {
    let component = component::compiled();
    let mut files = attack_files();
    assert!(files.remove("act_without_being_listed"));
    let listed = component.definitions().unwrap().iter();
    assert_eq!(
        listed
            .map(|tool| tool.name.clone())
            .collect::<BTreeSet<_>>(),
        files
    );
}

/// The attacks by their files.
fn attack_files() -> BTreeSet<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile_guest/src/attacks");
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let attack = name.strip_suffix(".rs").filter(|name| *name != "mod");
        names.extend(attack.map(str::to_owned));
    }
    names
}
