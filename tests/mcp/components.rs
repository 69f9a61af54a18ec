//! Several components behind one server, and what strangers' tools look like to a client.

use serde_json::{Value, json};

use super::client::{Client, GENERATIONS, Generation};
use crate::hostile::component;
use crate::support::Fixture;

/// The built-in component as one of two, and another as the other.
fn with_two(fixture: &Fixture, other: &[u8], further: &[&str]) -> Client {
    let file = fixture.base().join("other.wasm");
    std::fs::write(&file, other).unwrap();
    let other = format!("b={}", file.display());
    let mut words = vec!["--component", "a=built-in", "--component", &other];
    words.extend(further);
    Client::over(fixture, Generation::Stateless, &words)
}

fn limit_of(fields: &Value) -> (&Value, &Value) {
    (&fields["limit"], &fields["value"])
}

#[test]
fn quotas_are_for_the_calls_of_all_components_together() {
    let its = std::fs::read(crate::components::declaring::built_in()).unwrap();
    for (limits, limit, value) in [
        (["--max-session-files", "1"], "max_session_files", 1),
        (
            ["--max-session-write-bytes", "4"],
            "max_session_write_bytes",
            4,
        ),
    ] {
        let fixture = Fixture::new();
        let mut client = with_two(&fixture, &its, &limits);
        let mut write =
            |tool: &str, path: &str| client.call(tool, json!({"path": path, "content": "four"}));
        write("a__write_file", "one").success();
        let refused = write("b__write_file", "two");
        assert_eq!(refused.code(), "limit-exceeded");
        let (found, of) = (refused.fields(), json!(value));
        assert_eq!(limit_of(&found), (&json!(limit), &of));
        assert!(!fixture.workspace().join("two").exists());
    }
}

/// As many calls as would need three seconds for each component by itself; the test says nothing
/// of a machine on which so few take longer than one.
#[test]
fn calls_per_second_are_those_of_all_components() {
    let its = std::fs::read(crate::components::declaring::built_in()).unwrap();
    for _ in 0..20 {
        let fixture = Fixture::new();
        let mut client = with_two(&fixture, &its, &["--max-calls-per-second", "1"]);
        let start = std::time::Instant::now();
        client
            .call("a__file_exists", json!({"path": "x"}))
            .success();
        let second = client.call("b__file_exists", json!({"path": "x"}));
        if start.elapsed().as_millis() < 1000 {
            assert_eq!(second.code(), "limit-exceeded");
            assert_eq!(second.fields()["limit"], "max_calls_per_second");
            return;
        }
    }
    panic!("two calls take longer than a second");
}

#[test]
fn tools_without_arguments_are_listed_as_clients_read_them() {
    for generation in GENERATIONS {
        let fixture = Fixture::new();
        let file = fixture.base().join("other.wasm");
        std::fs::write(&file, component::bytes()).unwrap();
        let words = ["--component", file.to_str().unwrap()];
        let mut client = Client::over(&fixture, generation, &words);
        let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let list = list.as_array().unwrap();
        assert!(!list.is_empty());
        for tool in list {
            let schema = &tool["inputSchema"];
            assert_eq!(schema["type"], "object", "{tool}");
            assert!(schema["properties"].is_object(), "{tool}");
        }
    }
}

#[test]
fn the_toolset_is_that_of_the_built_in_component() {
    let strangers = component::with_listing(b'q');
    for (toolset, its, absent) in [
        ("files", "read_file", "a__sandbox_filesystem"),
        ("single", "a__sandbox_filesystem", "read_file"),
    ] {
        let fixture = Fixture::new();
        let mut client = with_two(&fixture, &strangers, &["--toolset", toolset]);
        let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
        let names: Vec<&str> = (list.as_array().unwrap().iter())
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert!(names.contains(&its), "{names:?}");
        assert!(!names.contains(&absent), "{names:?}");
        assert!(names.contains(&"other_tool"), "{names:?}");
        let is_strangers = |name: &&&str| name.ends_with("sandbox_filesystem");
        let strangers = names.iter().filter(is_strangers).count();
        assert_eq!(strangers, 1 + usize::from(toolset == "single"), "{names:?}");
        // It is called, and has the errors that its tools have without the option.
        assert_eq!(client.call("other_tool", json!({})).code(), "trapped");
    }
}
