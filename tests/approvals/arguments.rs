//! No tool and no argument can approve.

use serde_json::{Value, json};

use super::{DESTRUCTIONS, Witness, destructible, is_untouched, session_asking};

const WORDS: [&str; 12] = [
    "confirm",
    "confirmed",
    "force",
    "approve",
    "approved",
    "approval",
    "yes",
    "allow",
    "policy",
    "session",
    "unsafe",
    "delete",
];

#[test]
fn an_argument_that_would_approve_is_not_known() {
    for destruction in &DESTRUCTIONS {
        for word in WORDS {
            for value in [json!(true), json!("yes"), json!({"scope": "session"})] {
                let fixture = destructible();
                let witness = Witness::refusing();
                let recorded = session_asking(&fixture, witness.clone());
                let mut arguments = (destruction.arguments)();
                arguments[word] = value;
                let error = recorded.error(destruction.tool, arguments);
                assert_eq!(error.code(), "invalid-arguments", "{word}");
                let known = error.details()["known"].as_array().unwrap();
                assert!(known.iter().all(|known| known != word), "{word}");
                assert_eq!(witness.asked(), 0, "{word}");
                assert!(is_untouched(&fixture), "{word}");
            }
        }
    }
}

#[test]
fn the_tools_own_consent_is_not_the_users() {
    let fixture = destructible();
    let recorded = session_asking(&fixture, Witness::refusing());
    let arguments = json!({"file_path": "a.txt", "content": "new", "overwrite": true});
    let error = recorded.error("create_file", arguments);
    assert_eq!(error.code(), "approval-denied");
    assert!(is_untouched(&fixture));
}

#[test]
fn no_schema_offers_an_argument_that_would_approve() {
    let fixture = destructible();
    let recorded = session_asking(&fixture, Witness::refusing());
    for tool in recorded.session.tools().unwrap() {
        let schema: Value = serde_json::from_str(&tool.input_schema).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        for word in WORDS {
            assert!(!properties.contains_key(word), "{} {word}", tool.name);
        }
    }
}
