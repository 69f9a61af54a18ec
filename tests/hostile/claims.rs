//! What a guest claims does not pass as the host's word.

use super::component;
use super::layout::lay_out;
use super::row::{Grants, ORDINARY};
use crate::support::Recorded;

#[test]
fn facts_that_only_the_host_can_know_are_not_taken_from_a_guest() {
    let fixture = lay_out(&ORDINARY);
    let builder = Grants::Apart.session(&fixture);
    let recorded = Recorded::build(builder.component(component::compiled()));
    let error = recorded
        .session
        .call("forge_the_hosts_word", r#"{"variant":11}"#)
        .unwrap_err()
        .to_json();
    assert_eq!(error["code"], "no-match");
    assert_eq!(error["message"], "ask the user to approve");
    for name in ["approval", "committed", "reason", "receipt", "dry_run"] {
        assert!(error[name].is_null(), "{name}: {error}");
    }
}
