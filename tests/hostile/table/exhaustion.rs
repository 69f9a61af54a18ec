//! Taking what there is: handles, memory, time, stack, room in the log.

use crate::hostile::row::Answer::{Counted, Error, Stopped};
use crate::hostile::row::Unguarded::{NotShown, StoppedToo};
use crate::hostile::row::{ORDINARY, Row, briefly, patiently, small};

pub const ROWS: &[Row] = &[
    Row {
        attack: "open_too_many_files",
        answer: Counted(254, &["quota"]),
        audit: &[
            "refusal open limit-exceeded",
            "access open inputs:notes.md",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "open_too_many_streams",
        answer: Counted(253, &["quota"]),
        audit: &[
            "refusal open limit-exceeded",
            "access open inputs:notes.md",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "open_too_many_listings",
        answer: Counted(254, &["quota"]),
        audit: &[
            "refusal open limit-exceeded",
            "access list inputs:.",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "subscribe_too_often",
        answer: Error("limit-exceeded"),
        audit: &[
            "refusal open limit-exceeded",
            "access open inputs:notes.md",
            "call failed limit-exceeded",
        ],
        ..ORDINARY
    },
    Row {
        attack: "keep_too_many_errors",
        answer: Counted(252, &["closed"]),
        audit: &[
            "253 × refusal change limit-exceeded workspace:new.bin",
            "done create workspace:new.bin",
            "call ok",
        ],
        leaves: &["+workspace/new.bin"],
        unguarded: NotShown("nothing fails there that could be kept"),
        ..ORDINARY
    },
    Row {
        attack: "ask_for_the_roots_too_often",
        answer: Counted(254, &[]),
        audit: &["173 × refusal open limit-exceeded", "call ok"],
        ..ORDINARY
    },
    Row {
        attack: "create_at_the_handle_limit",
        answer: Stopped(&["2 × quota"]),
        audit: &[
            "48 × refusal open limit-exceeded",
            "access open inputs:notes.md",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "stage_too_many_files",
        answer: Counted(256, &["quota"]),
        audit: &[
            "refusal create limit-exceeded workspace:256.md",
            "256 × done create workspace:…",
            "call ok",
        ],
        leaves: &["256 × +workspace/…"],
        ..ORDINARY
    },
    Row {
        attack: "stage_and_take_back_too_many_files",
        answer: Counted(255, &["quota"]),
        audit: &[
            "refusal delete limit-exceeded workspace:new.md",
            "done create workspace:new.md",
            "call ok",
        ],
        leaves: &["+workspace/new.md"],
        ..ORDINARY
    },
    Row {
        attack: "make_too_many_directories",
        answer: Counted(255, &["quota"]),
        audit: &[
            "256 × done create-directory workspace:deep…",
            "refusal create-directory limit-exceeded workspace:deep/d/…",
            "call ok",
        ],
        leaves: &["256 × +workspace/deep…"],
        ..ORDINARY
    },
    Row {
        attack: "make_and_remove_directories_for_ever",
        policy: patiently,
        answer: Counted(1000, &["quota"]),
        audit: &[
            "2000 × …",
            "refusal create-directory limit-exceeded workspace:made",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "be_refused_for_ever",
        policy: patiently,
        answer: Error("limit-exceeded"),
        audit: &[
            "refusal rename invalid-path/control inputs:…",
            "call failed limit-exceeded",
        ],
        ..ORDINARY
    },
    Row {
        attack: "look_up_for_ever",
        policy: patiently,
        answer: Error("limit-exceeded"),
        audit: &[
            "refusal limit-exceeded",
            "access stat inputs:././…",
            "call failed limit-exceeded",
        ],
        ..ORDINARY
    },
    Row {
        attack: "spell_ever_longer",
        policy: patiently,
        answer: Counted(3, &["name-too-long"]),
        audit: &[
            "refusal open invalid-path/too-long inputs:sub/././…",
            "access open inputs:sub, …",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "loop_for_ever",
        policy: briefly,
        answer: Error("timeout"),
        audit: &["call timeout timeout"],
        ..ORDINARY
    },
    Row {
        attack: "call_for_ever",
        policy: briefly,
        answer: Error("timeout"),
        audit: &["access open inputs:notes.md", "call timeout timeout"],
        ..ORDINARY
    },
    Row {
        attack: "recurse_for_ever",
        answer: Error("trapped"),
        audit: &["call trapped trapped"],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "grow_memory",
        answer: Error("limit-exceeded"),
        audit: &["refusal limit-exceeded", "call failed limit-exceeded"],
        ..ORDINARY
    },
    Row {
        attack: "trap",
        answer: Error("trapped"),
        audit: &["call trapped trapped"],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "answer_more_than_allowed",
        policy: small,
        arguments: r#"{"bytes":100001}"#,
        answer: Error("limit-exceeded"),
        audit: &["refusal limit-exceeded", "call failed limit-exceeded"],
        ..ORDINARY
    },
    Row {
        attack: "answer_more_than_allowed",
        arguments: r#"{"bytes":100000000}"#,
        answer: Error("limit-exceeded"),
        audit: &["refusal limit-exceeded", "call failed limit-exceeded"],
        ..ORDINARY
    },
    Row {
        attack: "grow_by_labels",
        policy: small,
        arguments: r#"{"bytes":100000}"#,
        answer: Error("limit-exceeded"),
        audit: &["refusal limit-exceeded", "call failed limit-exceeded"],
        ..ORDINARY
    },
    Row {
        attack: "fail_with_more_than_allowed",
        policy: small,
        arguments: r#"{"bytes":100001}"#,
        answer: Error("limit-exceeded"),
        audit: &["refusal limit-exceeded", "call failed limit-exceeded"],
        ..ORDINARY
    },
    Row {
        attack: "answer_a_huge_media_type",
        policy: small,
        arguments: r#"{"bytes":100001}"#,
        answer: Error("limit-exceeded"),
        audit: &["refusal limit-exceeded", "call failed limit-exceeded"],
        ..ORDINARY
    },
    Row {
        attack: "pass_a_huge_path",
        answer: Error("limit-exceeded"),
        audit: &[
            "refusal open invalid-path/too-long inputs:a/a/…",
            "call failed limit-exceeded",
        ],
        ..ORDINARY
    },
    Row {
        attack: "poll_a_million",
        answer: Error("trapped"),
        audit: &["access open inputs:notes.md", "call trapped trapped"],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "poll_nothing",
        answer: Error("trapped"),
        audit: &["call trapped trapped"],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "forge_descriptors",
        arguments: r#"{"handle":9999}"#,
        answer: Error("trapped"),
        audit: &["call trapped trapped"],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "forge_descriptors",
        arguments: r#"{"handle":4294967295}"#,
        answer: Error("trapped"),
        audit: &["call trapped trapped"],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "use_after_drop",
        answer: Error("trapped"),
        audit: &["access open inputs:notes.md", "call trapped trapped"],
        unguarded: StoppedToo,
        ..ORDINARY
    },
];
