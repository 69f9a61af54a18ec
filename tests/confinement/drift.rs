//! Nothing joins quietly: a tool, a path argument, an operation or a table that the trials
//! do not know fails here, with a sentence that says what to add and where.

use std::collections::BTreeSet;

use serde_json::Value;

use super::table::{Row, rows};
use super::uses::{AWAITED, USES, definitions};
use super::{PERMISSIONS, TABLES};

/// Rows named `P…` are from a corpus that other implementations are held to as well.
const CORPUS: usize = 337;

fn all_rows() -> Vec<Row> {
    let tables = TABLES.iter().chain([&PERMISSIONS]);
    tables.flat_map(|(_, table)| rows(table)).collect()
}

#[test]
fn every_path_argument_of_every_tool_is_tried() {
    for definition in definitions() {
        for path in &definition.paths {
            let (tool, pointer) = (&definition.name, &path.pointer);
            let known = USES
                .iter()
                .any(|one| one.tool == tool && one.pointer == pointer);
            assert!(
                known,
                "`{tool}` takes a path in `{pointer}`, and no row of the tables reaches it: \
                 say in `USES`, tests/confinement/uses.rs, for which operation it stands"
            );
        }
    }
}

#[test]
fn every_argument_that_is_called_a_path_is_declared_as_one() {
    for definition in definitions() {
        let schema: Value = serde_json::from_str(&definition.input_schema).unwrap();
        for name in schema["properties"].as_object().unwrap().keys() {
            let called = ["path", "paths", "from", "to"].contains(&name.as_str());
            let declared = definition
                .paths
                .iter()
                .any(|path| path.pointer.split(['[', '.']).next() == Some(name));
            assert!(
                declared || !(called || name.ends_with("_path")),
                "`{}` has an argument `{name}` that its `paths` do not list: \
                 add it there, so that the guard's tests and the front-ends know it",
                definition.name
            );
        }
    }
}

#[test]
fn every_use_is_of_an_argument_that_exists() {
    for one in USES {
        one.argument();
    }
}

#[test]
fn every_operation_of_the_tables_is_done_by_a_tool_or_waits_for_one() {
    let operations: BTreeSet<&str> = all_rows().iter().map(|row| row.operation).collect();
    for operation in operations {
        let done = USES.iter().any(|one| one.operation == operation);
        assert!(
            done != AWAITED.contains(&operation),
            "the operation `{operation}` of the tables must have a tool in `USES` or stand in \
             `AWAITED`, tests/confinement/uses.rs, and not both"
        );
    }
}

#[test]
fn every_table_is_run() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/confinement/cases");
    let known: Vec<&str> = TABLES
        .iter()
        .chain([&PERMISSIONS])
        .map(|(name, _)| *name)
        .collect();
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(table) = name.strip_suffix(".tsv") else {
            continue;
        };
        assert!(
            known.contains(&table),
            "no test runs cases/{name}: add a line to `tables!` in tests/confinement/mod.rs"
        );
    }
}

#[test]
fn every_row_has_a_name_of_its_own_and_the_corpus_is_complete() {
    let rows = all_rows();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.id).collect();
    assert_eq!(names.len(), rows.len(), "two rows have one name");
    let corpus = names.iter().filter(|name| name.starts_with('P')).count();
    assert_eq!(corpus, CORPUS, "rows of the corpus are missing");
}
