//! What `docs/other-hosts.md` shows is what the tests in those hosts run.

use super::{blocks, document};

#[test]
fn the_programs_are_those_of_the_tests() {
    let text = document("docs/other-hosts.md");
    for (language, file) in [
        ("python", "tests/hosts/python/files.py"),
        ("js", "tests/hosts/node/files.mjs"),
    ] {
        assert_eq!(
            blocks(&text, language)[0],
            document(file),
            "docs/other-hosts.md does not show {file} as it is"
        );
    }
}
