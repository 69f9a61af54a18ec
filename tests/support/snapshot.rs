//! Texts that a person reads and accepts: what a user or an investigator will see, whole.

use std::fs;
use std::path::Path;

/// Compares with a file below `tests/`. Run with `ROOTBOUND_ACCEPT=1` to write the file, and
/// read what changed.
pub fn assert_accepted(file: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(file);
    if std::env::var_os("ROOTBOUND_ACCEPT").is_some() {
        fs::write(&path, actual).unwrap();
    }
    let accepted = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        accepted == actual,
        "this is not what tests/{file} says; if it is right, run the test again with \
         ROOTBOUND_ACCEPT=1:\n{actual}"
    );
}
