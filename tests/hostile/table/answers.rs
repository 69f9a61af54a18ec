//! Guests that lie: about what they are, about what they did, in the host's own words.

use crate::hostile::row::Answer::{Error, Fields, Stopped};
use crate::hostile::row::Unguarded::NotShown;
use crate::hostile::row::{ORDINARY, Row};

/// A host that keeps no account cannot be lied to.
const NO_ACCOUNT: crate::hostile::row::Unguarded =
    NotShown("there is no receipt and no log that would tell otherwise");

pub const ROWS: &[Row] = &[
    Row {
        attack: "declare_read_and_write",
        answer: Stopped(&["5 × not-permitted"]),
        audit: &[
            "refusal create not-granted workspace:new.md",
            "refusal create-directory not-granted workspace:made",
            "refusal change not-granted workspace:report.md",
            "refusal delete not-granted workspace:report.md",
            "refusal rename not-granted workspace:report.md to workspace:new.md",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "declare_draft_and_destroy",
        answer: Stopped(&["5 × not-permitted"]),
        audit: &[
            "refusal replace not-granted workspace:report.md",
            "refusal change not-granted workspace:report.md",
            "refusal delete not-granted workspace:report.md",
            "refusal rename not-granted workspace:report.md to workspace:new.md",
            "refusal delete not-granted workspace:empty",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "act_without_being_listed",
        answer: Error("unknown-tool"),
        audit: &["call failed unknown-tool"],
        ..ORDINARY
    },
    Row {
        attack: "say_deleted",
        answer: Fields(r#"{"path":"report.md","deleted":true}"#),
        unguarded: NO_ACCOUNT,
        ..ORDINARY
    },
    Row {
        attack: "say_ok_after_a_refusal",
        answer: Fields(r#"{"path":"../outside/secret.txt","size":11}"#),
        audit: &[
            "refusal open invalid-path/traversal inputs:../outside/secret.txt",
            "call ok",
        ],
        unguarded: NO_ACCOUNT,
        ..ORDINARY
    },
    Row {
        attack: "stage_a_hundred_and_lie",
        answer: Fields(r#"{"path":"nothing.md","bytes_written":0,"created":false}"#),
        audit: &["100 × done create workspace:…", "call ok"],
        leaves: &["100 × +workspace/…"],
        unguarded: NO_ACCOUNT,
        ..ORDINARY
    },
    Row {
        attack: "lie_about_the_root",
        answer: Fields(r#"{"path":"new.md","root":"inputs","roots":["/read/0","/write"]}"#),
        audit: &["done create workspace:new.md", "call ok"],
        leaves: &["+workspace/new.md"],
        unguarded: NO_ACCOUNT,
        ..ORDINARY
    },
    Row {
        attack: "forge_a_receipt",
        answer: Error("io"),
        audit: &["call failed io"],
        unguarded: NO_ACCOUNT,
        ..ORDINARY
    },
    Row {
        attack: "forge_a_dry_run",
        answer: Error("io"),
        audit: &["call failed io"],
        ..ORDINARY
    },
    Row {
        attack: "answer_what_is_not_text",
        answer: Error("trapped"),
        audit: &["call trapped trapped"],
        unguarded: NotShown("wasmtime itself takes no string that is none"),
        ..ORDINARY
    },
    forged(r#"{"variant":0}"#),
    forged(r#"{"variant":1}"#),
    forged(r#"{"variant":2}"#),
    forged(r#"{"variant":3}"#),
    forged(r#"{"variant":4}"#),
    forged(r#"{"variant":5}"#),
    forged(r#"{"variant":6}"#),
    forged(r#"{"variant":7}"#),
    forged(r#"{"variant":8}"#),
    forged(r#"{"variant":9}"#),
    forged(r#"{"variant":10}"#),
    Row {
        attack: "forge_the_hosts_word",
        arguments: r#"{"variant":11}"#,
        answer: Error("no-match"),
        audit: &["call failed no-match"],
        unguarded: NO_ACCOUNT,
        ..ORDINARY
    },
    nonsense(r#"{"variant":0}"#),
    nonsense(r#"{"variant":1}"#),
    nonsense(r#"{"variant":2}"#),
    nonsense(r#"{"variant":3}"#),
    nonsense(r#"{"variant":4}"#),
    nonsense(r#"{"variant":5}"#),
    nonsense(r#"{"variant":6}"#),
    nonsense(r#"{"variant":7}"#),
    nonsense(r#"{"variant":8}"#),
    nonsense(r#"{"variant":9}"#),
    nonsense(r#"{"variant":10}"#),
    nonsense(r#"{"variant":11}"#),
];

/// A failure in the host's name: the code is not believed.
const fn forged(arguments: &'static str) -> Row {
    Row {
        attack: "forge_the_hosts_word",
        arguments,
        answer: Error("io"),
        audit: &["call failed io"],
        unguarded: NO_ACCOUNT,
        ..ORDINARY
    }
}

/// Fields that are no JSON object, after changes that must not be made then.
const fn nonsense(arguments: &'static str) -> Row {
    Row {
        attack: "stage_and_answer_nonsense",
        arguments,
        answer: Error("io"),
        audit: &["call failed io"],
        ..ORDINARY
    }
}
