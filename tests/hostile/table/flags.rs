//! Opening, and what may be done through a descriptor.

use crate::hostile::row::Answer::Stopped;
use crate::hostile::row::Unguarded::StoppedToo;
use crate::hostile::row::{ORDINARY, Row, no_overwriting};

pub const ROWS: &[Row] = &[
    Row {
        attack: "open_every_way_on_inputs",
        answer: Stopped(&["672 × not-permitted"]),
        audit: &["refusal c…", "call ok"],
        ..ORDINARY
    },
    Row {
        attack: "open_every_way_on_workspace",
        policy: no_overwriting,
        answer: Stopped(&[
            "56 × exist",
            "112 × is-directory",
            "16 × not-directory",
            "72 × not-permitted",
        ]),
        audit: &["refusal …", "call ok"],
        ..ORDINARY
    },
    Row {
        attack: "truncate_with_read_flag",
        policy: no_overwriting,
        answer: Stopped(&["2 × not-permitted"]),
        audit: &[
            "refusal change not-granted inputs:notes.md",
            "refusal replace overwrite-denied workspace:report.md",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "create_on_inputs",
        answer: Stopped(&["3 × not-permitted"]),
        audit: &[
            "2 × refusal create not-granted inputs:new.md",
            "refusal create-directory not-granted inputs:made",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "mutate_directory_on_inputs",
        answer: Stopped(&["2 × not-permitted"]),
        audit: &[
            "refusal create not-granted inputs:sub/new.md",
            "refusal delete not-granted inputs:sub/deep.md",
            "access open inputs:sub",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "write_through_read_descriptor",
        answer: Stopped(&["4 × not-permitted"]),
        audit: &[
            "4 × refusal change not-granted inputs:notes.md",
            "access open inputs:notes.md",
            "call ok",
        ],
        // The operating system knows that it was opened for reading.
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "change_in_place",
        policy: no_overwriting,
        answer: Stopped(&["3 × not-permitted"]),
        audit: &[
            "3 × refusal change overwrite-denied workspace:report.md",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "set_times",
        answer: Stopped(&["7 × not-permitted"]),
        audit: &[
            "refusal other not-granted inputs:notes.md",
            "refusal other not-granted inputs:.",
            "refusal other not-granted workspace:report.md",
            "refusal other not-granted workspace:.",
            "refusal other not-granted workspace:dir_out/secret.txt",
            "refusal other not-granted inputs:notes.md",
            "refusal other not-granted workspace:new.md",
            "done create workspace:new.md",
            "access open inputs:notes.md",
            "call ok",
        ],
        leaves: &["+workspace/new.md"],
        ..ORDINARY
    },
    Row {
        attack: "read_the_workspace",
        answer: Stopped(&["9 × not-permitted"]),
        audit: &[
            "refusal open not-granted workspace:report.md",
            "2 × refusal stat not-granted workspace:report.md",
            "refusal list not-granted workspace:.",
            "2 × refusal stat not-granted workspace:.",
            "refusal stat not-granted workspace:link_in",
            "refusal list not-granted workspace:done/.",
            "refusal open not-granted workspace:done/old.md",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "read_back_through_a_staged_copy",
        answer: Stopped(&["3 × bad-descriptor", "2 × not-permitted"]),
        audit: &[
            "2 × refusal stat not-granted workspace:report.md",
            "done change workspace:report.md",
            "done create workspace:copy.md",
            "access read workspace:report.md",
            "call ok",
        ],
        leaves: &["~workspace/report.md", "+workspace/copy.md"],
        ..ORDINARY
    },
];
