//! How much may be read and written, one byte below, at and above each limit.

use crate::hostile::row::Answer::Counted;
use crate::hostile::row::Unguarded::{NotShown, Works};
use crate::hostile::row::{CALL_READ, ORDINARY, READ, Row, WRITE, small};

const READ_IT: &[&str] = &["access read inputs:data.bin", "call ok"];
const REFUSED_THEN: &[&str] = &[
    "refusal read limit-exceeded inputs:data.bin",
    "access read inputs:data.bin",
    "call ok",
];
const REFUSED_AT_ONCE: &[&str] = &[
    "refusal read limit-exceeded inputs:data.bin",
    "access open inputs:data.bin",
    "call ok",
];
const BY_EVERY_SPELLING: &[&str] = &[
    "access read inputs:data.bin, read inputs:./data.bin, read inputs:sub/../data.bin, read inputs:link_to_data",
    "call ok",
];
const COPIED: &[&str] = &[
    "done create workspace:copy.bin",
    "access read inputs:data.bin",
    "call ok",
];
const WROTE_IT: &[&str] = &["done create workspace:new.bin", "call ok"];
const WROTE_SOME: &[&str] = &[
    "refusal change limit-exceeded workspace:new.bin",
    "done create workspace:new.bin",
    "call ok",
];

pub const ROWS: &[Row] = &[
    reads("read_at_once", READ - 1, READ_IT),
    reads("read_at_once", READ, READ_IT),
    stops("read_at_once", READ + 1, 0, REFUSED_AT_ONCE),
    reads("read_in_small_pieces", READ - 1, READ_IT),
    reads("read_in_small_pieces", READ, READ_IT),
    stops("read_in_small_pieces", READ + 1, READ, REFUSED_THEN),
    reads("read_through_many_handles", READ - 1, BY_EVERY_SPELLING),
    reads(
        "read_through_many_handles",
        READ,
        &["access read inputs:data.bin, …", "call ok"],
    ),
    stops("read_through_many_handles", READ + 1, READ, &["…"]),
    reads("read_through_streams", READ - 1, READ_IT),
    reads("read_through_streams", READ, READ_IT),
    // Streams hand out what is left before they refuse.
    stops("read_through_streams", READ + 1, READ, REFUSED_THEN),
    reads("read_by_splice", READ - 1, COPIED),
    reads("read_by_splice", READ, COPIED),
    Row {
        leaves: &["+workspace/copy.bin"],
        ..stops("read_by_splice", READ + 1, READ, &["…"])
    },
    reads("skip_and_read", READ, READ_IT),
    // What is left is handed out, and the byte that is too much is among those skipped.
    Row {
        data: Some(READ + 1),
        ..reads("skip_and_read", READ, READ_IT)
    },
    Row {
        many: CALL_READ / 1000,
        arguments: r#"{"files":50}"#,
        answer: Counted(CALL_READ, &[]),
        audit: &["access read inputs:many/0.bin, …", "call ok"],
        unguarded: WITHIN,
        ..limited("read_many_files")
    },
    Row {
        many: CALL_READ / 1000 + 1,
        arguments: r#"{"files":51}"#,
        answer: Counted(CALL_READ, &["quota"]),
        audit: &[
            "refusal read limit-exceeded inputs:many/50.bin",
            "access read inputs:many/0.bin, …",
            "call ok",
        ],
        ..limited("read_many_files")
    },
    Row {
        many: CALL_READ / 1000 + 1,
        arguments: r#"{"files":51}"#,
        answer: Counted(50, &["quota"]),
        audit: &[
            "refusal change limit-exceeded workspace:many/50.bin",
            "50 × done change workspace:many/…",
            "access read workspace:many/0.bin, …",
            "call ok",
        ],
        leaves: &["50 × ~workspace/many/…"],
        unguarded: NotShown("nothing is copied there, so nothing has to be stopped"),
        ..limited("copy_many_files")
    },
    Row {
        answer: crate::hostile::row::Answer::Stopped(&["quota"]),
        audit: &[
            "refusal change limit-exceeded workspace:sparse.bin",
            "call ok",
        ],
        unguarded: NotShown("nothing is copied there, so nothing has to be stopped"),
        ..limited("copy_a_sparse_file")
    },
    writes("write_at_once", r#"{"bytes":29999}"#, WRITE - 1),
    writes("write_at_once", r#"{"bytes":30000}"#, WRITE),
    wrote("write_at_once", 0),
    writes("write_in_small_pieces", r#"{"bytes":29999}"#, WRITE - 1),
    writes("write_in_small_pieces", r#"{"bytes":30000}"#, WRITE),
    wrote("write_in_small_pieces", WRITE),
    writes("write_through_streams", r#"{"bytes":29999}"#, WRITE - 1),
    writes("write_through_streams", r#"{"bytes":30000}"#, WRITE),
    wrote("write_through_streams", WRITE / 999 * 999),
    writes("write_zeroes", r#"{"bytes":29999}"#, WRITE - 1),
    writes("write_zeroes", r#"{"bytes":30000}"#, WRITE),
    wrote("write_zeroes", 0),
    writes(
        "write_zeroes_in_small_pieces",
        r#"{"bytes":30000,"piece":4096}"#,
        WRITE,
    ),
    Row {
        arguments: r#"{"bytes":30001,"piece":1}"#,
        ..wrote("write_zeroes_in_small_pieces", WRITE)
    },
    Row {
        arguments: r#"{"bytes":30001,"piece":4096}"#,
        ..wrote("write_zeroes_in_small_pieces", WRITE / 4096 * 4096)
    },
    writes("grow_by_resizing", r#"{"bytes":29999}"#, WRITE - 1),
    writes("grow_by_resizing", r#"{"bytes":30000}"#, WRITE),
    wrote("grow_by_resizing", 0),
    Row {
        arguments: r#"{"bytes":10000}"#,
        answer: Counted(WRITE, &["quota"]),
        audit: WROTE_SOME,
        leaves: &["+workspace/new.bin"],
        ..limited("grow_and_shrink")
    },
    Row {
        arguments: r#"{"bytes":30000}"#,
        answer: Counted(WRITE, &[]),
        unguarded: WITHIN,
        ..limited("write_many_files")
    },
    Row {
        arguments: r#"{"bytes":30001}"#,
        answer: Counted(WRITE, &["quota"]),
        audit: WROTE_SOME,
        leaves: &["+workspace/new.bin"],
        ..limited("write_many_files")
    },
    Row {
        answer: Counted(0, &["12 × quota"]),
        audit: &[
            "12 × refusal change limit-exceeded workspace:new.bin",
            "done create workspace:new.bin",
            "call ok",
        ],
        leaves: &["+workspace/new.bin"],
        ..limited("write_at_one_tebibyte")
    },
];

const WITHIN: crate::hostile::row::Unguarded = NotShown("it is within the limit");

const fn limited(attack: &'static str) -> Row {
    Row {
        attack,
        policy: small,
        unguarded: Works,
        ..ORDINARY
    }
}

/// All of a file is read.
const fn reads(attack: &'static str, data: u64, audit: &'static [&'static str]) -> Row {
    Row {
        data: Some(data),
        answer: Counted(data, &[]),
        audit,
        leaves: copy_of(audit),
        unguarded: WITHIN,
        ..limited(attack)
    }
}

/// A file is read as far as the limit.
const fn stops(
    attack: &'static str,
    data: u64,
    amount: u64,
    audit: &'static [&'static str],
) -> Row {
    Row {
        data: Some(data),
        answer: Counted(amount, &["quota"]),
        audit,
        ..limited(attack)
    }
}

const fn copy_of(audit: &'static [&'static str]) -> &'static [&'static str] {
    if audit.len() == COPIED.len() {
        &["+workspace/copy.bin"]
    } else {
        &[]
    }
}

/// All is written.
const fn writes(attack: &'static str, arguments: &'static str, bytes: u64) -> Row {
    Row {
        arguments,
        answer: Counted(bytes, &[]),
        audit: WROTE_IT,
        leaves: &["+workspace/new.bin"],
        unguarded: WITHIN,
        ..limited(attack)
    }
}

/// One byte more than may be written is asked for, and so much of it is written.
const fn wrote(attack: &'static str, amount: u64) -> Row {
    Row {
        arguments: r#"{"bytes":30001}"#,
        answer: Counted(amount, &["quota"]),
        audit: WROTE_SOME,
        leaves: &["+workspace/new.bin"],
        ..limited(attack)
    }
}
