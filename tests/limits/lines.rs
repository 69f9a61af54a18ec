//! A host that grants so many bytes of a result gets no longer a line over MCP.

use serde_json::json;

use crate::mcp::client::{Client, GENERATIONS};
use crate::support::Fixture;

/// What a line holds besides the result, as `SECURITY.md` says.
const FRAME: usize = 1 << 10;
const LIMIT: usize = 20_000;

#[test]
fn a_line_is_as_long_as_the_limit_on_results_and_its_frame() {
    for generation in GENERATIONS {
        let fixture = Fixture::new();
        for (name, text) in [
            ("plain", "x"),
            ("controls", "\u{1}"),
            ("quotes", "\""),
            ("lines", "\n"),
        ] {
            for length in [1000, 3000, 3300, 9000, 9900, 19_000, 19_900, 20_100] {
                fixture.input(&format!("{name}-{length}"), text.repeat(length));
            }
        }
        fixture.input("picture.png", picture());
        let mut client = Client::over(&fixture, generation, &["--max-output-bytes", "20000"]);
        let (mut answered, mut refused) = (0, 0);
        for path in crate::support::tree::names(&fixture.inputs()) {
            let answer = client.call("read_file", json!({ "path": path }));
            let line = answer.result.to_string().len();
            assert!(line <= LIMIT + FRAME, "{path}: {line}");
            let sent = answer.result["content"].to_string().len();
            match answer.result["isError"] == json!(true) {
                true => refused += 1,
                false => {
                    answered += 1;
                    assert!(sent <= LIMIT + 300, "{path}: {sent}");
                }
            }
        }
        assert!(answered > 10 && refused > 5, "{answered} {refused}");
    }
}

/// A picture whose base64 is just over the limit.
fn picture() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.resize(LIMIT * 3 / 4 + 1, 0);
    bytes
}
