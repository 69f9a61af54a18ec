//! Levels of a tree.

use rootbound::Limits;
use serde_json::json;

use crate::support::Fixture;

#[test]
fn max_depth_is_exact() {
    let fixture = Fixture::new();
    fixture.input("1/2/3/t", "needle");
    for (limit, whole) in [(3, false), (4, true), (5, true)] {
        let limits = Limits {
            max_depth: limit,
            ..Limits::default()
        };
        let recorded = fixture.session_with(|builder| builder.limits(limits));
        for (tool, arguments) in [
            ("list_files", json!({ "recursive": true })),
            ("find_files", json!({ "pattern": "t" })),
            ("search_files", json!({ "query": "needle" })),
        ] {
            let answer = recorded.call(tool, arguments).unwrap().to_json();
            let found = answer.contains("1/2/3/t");
            assert_eq!(found, whole, "{tool} with {limit}: {answer}");
        }
    }
}
