//! Changes that are staged and not yet made.

use crate::hostile::row::Answer::{Error, Fields, Stopped};
use crate::hostile::row::Unguarded::{NotShown, StoppedToo};
use crate::hostile::row::{
    Grants, ORDINARY, Row, asking_nobody, briefly, no_deleting, no_overwriting,
};

/// The caller has seen `done/old.md`, whose content has this hash.
const SEEN: &str = r#"{"path":"done/old.md","expected_sha256":"01d09d19c2139a46aebfb577780d123d7396e97201bc7ead210a2ebff8239dee"}"#;

pub const ROWS: &[Row] = &[
    Row {
        attack: "stage_and_trap",
        answer: Error("trapped"),
        audit: &["call trapped trapped"],
        ..ORDINARY
    },
    Row {
        attack: "stage_and_time_out",
        policy: briefly,
        answer: Error("timeout"),
        audit: &["call timeout timeout"],
        ..ORDINARY
    },
    Row {
        attack: "stage_and_fail",
        answer: Error("no-match"),
        audit: &["call failed no-match"],
        ..ORDINARY
    },
    Row {
        attack: "make_directories_and_trap",
        answer: Error("trapped"),
        audit: &[
            "done create-directory workspace:made",
            "done create-directory workspace:made/inside",
            "rolled-back create-directory workspace:made/inside",
            "rolled-back create-directory workspace:made",
            "call trapped trapped",
        ],
        ..ORDINARY
    },
    Row {
        attack: "destroy_without_an_approver",
        policy: asking_nobody,
        answer: Error("approval-required"),
        audit: &[
            "approval not-approved approval-required",
            "refusal replace approval-required workspace:report.md",
            "call failed approval-required",
        ],
        ..ORDINARY
    },
    Row {
        attack: "delete_then_recreate",
        policy: no_overwriting,
        answer: Stopped(&["2 × busy", "2 × not-permitted"]),
        audit: &[
            "2 × refusal replace overwrite-denied workspace:report.md",
            "refusal create-directory conflict/pending workspace:report.md",
            "refusal rename conflict/pending workspace:new.md to workspace:report.md",
            "done delete workspace:report.md",
            "done create workspace:new.md",
            "call ok",
        ],
        leaves: &["-workspace/report.md", "+workspace/new.md"],
        ..ORDINARY
    },
    Row {
        attack: "rename_over",
        policy: no_overwriting,
        answer: Stopped(&["2 × not-permitted"]),
        audit: &[
            "refusal rename overwrite-denied workspace:done/old.md to workspace:report.md",
            "refusal rename overwrite-denied workspace:new.md to workspace:report.md",
            "done create workspace:new.md",
            "call ok",
        ],
        leaves: &["+workspace/new.md"],
        ..ORDINARY
    },
    Row {
        attack: "rename_over",
        policy: no_deleting,
        answer: Stopped(&["2 × not-permitted"]),
        audit: &[
            "refusal rename delete-denied workspace:done/old.md to workspace:report.md",
            "refusal rename delete-denied workspace:new.md to workspace:report.md",
            "done create workspace:new.md",
            "call ok",
        ],
        leaves: &["+workspace/new.md"],
        ..ORDINARY
    },
    Row {
        attack: "save_beside_and_rename_over",
        audit: &["done replace workspace:report.md", "call ok"],
        leaves: &["~workspace/report.md"],
        unguarded: NotShown("it is allowed, as any replacement is"),
        ..ORDINARY
    },
    Row {
        attack: "save_beside_and_rename_over",
        policy: no_overwriting,
        answer: Stopped(&["not-permitted"]),
        audit: &[
            "refusal rename overwrite-denied workspace:beside.md to workspace:report.md",
            "done create workspace:beside.md",
            "call ok",
        ],
        leaves: &["+workspace/beside.md"],
        ..ORDINARY
    },
    Row {
        attack: "save_beside_and_rename_over",
        policy: asking_nobody,
        answer: Error("approval-required"),
        audit: &[
            "approval not-approved approval-required",
            "refusal replace approval-required workspace:report.md",
            "call failed approval-required",
        ],
        ..ORDINARY
    },
    Row {
        attack: "save_twice_from_a_directory_that_goes",
        answer: Stopped(&["busy"]),
        audit: &[
            "done create-directory workspace:aside",
            "rolled-back create-directory workspace:aside",
            "refusal rename conflict/pending workspace:report.md to workspace:elsewhere.md",
            "done replace workspace:report.md",
            "access read workspace:report.md",
            "call ok",
        ],
        leaves: &["~workspace/report.md"],
        ..ORDINARY
    },
    Row {
        attack: "rename_into_a_mount",
        audit: &[
            "done rename workspace:report.md to workspace:done/moved.md",
            "call ok",
        ],
        leaves: &["-workspace/report.md", "+workspace/done/moved.md"],
        unguarded: NotShown("nothing is mounted here; another test mounts something"),
        ..ORDINARY
    },
    Row {
        attack: "follow_a_script",
        arguments: r#"{"script":"write a x|rename a report.md|enter done|unlink old.md"}"#,
        grants: Grants::OneDirectory,
        answer: Fields(r#"{"steps":["","","",""]}"#),
        audit: &[
            "done replace workspace:report.md",
            "done delete workspace:done/old.md",
            "access open workspace:done",
            "call ok",
        ],
        leaves: &["-workspace/done/old.md", "~workspace/report.md"],
        ..ORDINARY
    },
    Row {
        attack: "rename_over_what_nobody_has_seen",
        arguments: SEEN,
        answer: Error("conflict/other-target"),
        audit: &[
            "refusal rename conflict/other-target workspace:done/old.md to workspace:report.md",
            "call failed conflict/other-target",
        ],
        ..ORDINARY
    },
    Row {
        attack: "swap_two_files",
        answer: Stopped(&["2 × busy"]),
        audit: &[
            "refusal rename conflict/pending workspace:done/old.md to workspace:report.md",
            "refusal rename conflict/pending workspace:x.md to workspace:done/old.md",
            "done rename workspace:report.md to workspace:x.md",
            "call ok",
        ],
        leaves: &["-workspace/report.md", "+workspace/x.md"],
        ..ORDINARY
    },
    Row {
        attack: "write_after_unlink",
        answer: Stopped(&["no-entry"]),
        // A file without a name is gone everywhere.
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "write_after_rename",
        audit: &["done create workspace:renamed.md", "call ok"],
        leaves: &["+workspace/renamed.md"],
        unguarded: NotShown("it is allowed; the receipt has to tell the truth about it"),
        ..ORDINARY
    },
    Row {
        attack: "rename_around_a_staged_file",
        audit: &[
            "done create workspace:done/new.md",
            "done rename workspace:done to workspace:moved",
            "call ok",
        ],
        leaves: &["4 × -workspace/done…", "5 × +workspace/moved…"],
        unguarded: NotShown("it is allowed; the receipt has to tell the truth about it"),
        ..ORDINARY
    },
    Row {
        attack: "fail_a_rename_over_a_staged_file",
        answer: Stopped(&["exist", "invalid"]),
        audit: &["done create workspace:new.md", "call ok"],
        leaves: &["+workspace/new.md"],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "reach_through_a_pending_deletion",
        answer: Stopped(&["5 × busy", "no-entry"]),
        audit: &[
            "2 × refusal create conflict/pending workspace:empty/new.md",
            "refusal create-directory conflict/pending workspace:empty/made",
            "refusal rename conflict/pending workspace:report.md to workspace:empty/moved.md",
            "refusal create-directory conflict/pending workspace:empty",
            "done delete workspace:empty",
            "call ok",
        ],
        leaves: &["-workspace/empty"],
        ..ORDINARY
    },
    Row {
        attack: "reach_through_a_pending_rename",
        answer: Stopped(&["6 × busy", "no-entry"]),
        audit: &[
            "2 × refusal create conflict/pending workspace:done/new.md",
            "refusal delete conflict/pending workspace:done/old.md",
            "refusal create-directory conflict/pending workspace:done",
            "refusal create conflict/pending workspace:done",
            "refusal rename conflict/pending workspace:moved to workspace:again",
            "done rename workspace:done to workspace:moved",
            "call ok",
        ],
        leaves: &["4 × -workspace/done…", "4 × +workspace/moved…"],
        ..ORDINARY
    },
    Row {
        attack: "create_in_a_removed_directory",
        answer: Stopped(&["2 × no-entry"]),
        audit: &[
            "done create-directory workspace:made",
            "rolled-back create-directory workspace:made",
            "done create workspace:first.md",
            "call ok",
        ],
        leaves: &["+workspace/first.md"],
        // The operating system makes nothing in a directory that is gone.
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "read_through_a_pending_move",
        grants: Grants::Nested,
        policy: asking_nobody,
        answer: Error("approval-required"),
        audit: &[
            "refusal open conflict/pending done:report.md",
            "approval not-approved approval-required",
            "call failed approval-required",
        ],
        ..ORDINARY
    },
    Row {
        attack: "read_without_leaving_a_trace",
        grants: Grants::OneDirectory,
        answer: Error("no-match"),
        audit: &["access read workspace:report.md", "call failed no-match"],
        unguarded: NotShown("there is no log"),
        ..ORDINARY
    },
];
