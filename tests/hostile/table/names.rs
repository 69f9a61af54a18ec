//! Paths, links, and names.

use crate::hostile::row::Answer::Stopped;
use crate::hostile::row::Unguarded::{NotShown, StoppedToo};
use crate::hostile::row::{ORDINARY, Row, patterned};

pub const ROWS: &[Row] = &[
    Row {
        attack: "walk_out",
        answer: Stopped(&["no-entry", "12 × not-permitted"]),
        audit: &[
            "refusal open invalid-path/traversal inputs:../outside/secret.txt",
            "refusal open invalid-path/traversal inputs:sub/../../outside/secret.txt",
            "refusal open invalid-path/absolute inputs:/etc/passwd",
            "refusal open invalid-path/unc inputs://etc/passwd",
            "refusal open escape inputs:out",
            "refusal open escape inputs:dir_out/secret.txt",
            "refusal open escape inputs:absolute_out",
            "refusal open escape inputs:sub/up/../outside/secret.txt",
            "refusal open invalid-path/traversal inputs:sub/..",
            "refusal open invalid-path/traversal inputs:sub/../notes.md",
            "refusal open escape inputs:sub/up/notes.md",
            "refusal open invalid-path/traversal inputs:sub/./../sub/deep.md",
            "access open inputs:sub",
            "call ok",
        ],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "trailing_slash_on_links",
        answer: Stopped(&["4 × invalid", "20 × not-permitted"]),
        audit: &["refusal …", "call ok"],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "read_where_links_lead",
        answer: Stopped(&["no-entry", "4 × not-permitted"]),
        audit: &[
            "refusal stat escape inputs:out",
            "refusal stat escape inputs:dir_out",
            "refusal stat escape inputs:absolute_out",
            "refusal stat escape inputs:dir_out/",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "open_special_files",
        answer: Stopped(&["4 × unsupported"]),
        audit: &[
            "refusal open not-a-file/special inputs:pipe",
            "refusal open not-a-file/special inputs:socket",
            "refusal create not-a-file/special workspace:pipe",
            "refusal create not-a-file/special workspace:socket",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "forge_names",
        answer: Stopped(&["4 × invalid", "not-directory", "4 × not-permitted"]),
        audit: &[
            "refusal open invalid-path/absolute inputs:/read/0/notes.md",
            "refusal open invalid-path/absolute inputs:/read/1",
            "refusal open invalid-path/absolute inputs:/write/report.md",
            "refusal open invalid-path/windows-stream inputs:inputs:notes.md",
            "refusal open invalid-path/nul inputs:notes.md\0.png",
            "refusal open invalid-path/nul inputs:\0notes.md",
            "refusal open invalid-path/empty inputs:",
            "refusal open invalid-path/absolute inputs:/proc/self/fd/3",
            "call ok",
        ],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "guess_temporary_names",
        answer: Stopped(&["8 × invalid"]),
        audit: &[
            "refusal open invalid-path/reserved inputs:.rootbound-0123456789abcdef0123456789abcdef.tmp",
            "refusal stat invalid-path/reserved inputs:.rootbound-0123456789abcdef0123456789abcdef.tmp",
            "refusal change invalid-path/reserved workspace:.rootbound-0123456789abcdef0123456789abcdef.tmp",
            "refusal delete invalid-path/reserved workspace:.rootbound-0123456789abcdef0123456789abcdef.tmp",
            "refusal rename invalid-path/reserved …",
            "refusal create invalid-path/reserved workspace:sub/../.rootbound-0123456789abcdef0123456789abcdef.tmp",
            "refusal create-directory invalid-path/reserved workspace:.rootbound-0123456789abcdef0123456789abcdef.tmp/x",
            "access list inputs:.",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "leave_names_that_deceive",
        answer: Stopped(&["21 × invalid", "6 × not-permitted"]),
        audit: &[
            "refusal create…",
            "refusal rename …",
            "done create workspace:plain.md",
            "call ok",
        ],
        leaves: &["+workspace/plain.md"],
        ..ORDINARY
    },
    Row {
        attack: "reach_siblings",
        answer: Stopped(&["8 × not-permitted"]),
        audit: &[
            "refusal open invalid-path/traversal inputs:../inputs-2/secret.txt",
            "refusal open escape inputs:sibling/secret.txt",
            "refusal stat escape inputs:sibling/secret.txt",
            "refusal open escape inputs:sibling",
            "refusal create invalid-path/traversal workspace:../workspace-2/new.md",
            "refusal create escape workspace:sibling/new.md",
            "refusal rename escape workspace:report.md to workspace:sibling/new.md",
            "refusal delete escape workspace:sibling/secret.txt",
            "call ok",
        ],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "make_devices_of_windows",
        answer: Stopped(&["18 × invalid", "6 × not-permitted"]),
        audit: &["24 × refusal …", "call ok"],
        ..ORDINARY
    },
    Row {
        attack: "spell_in_other_letters",
        answer: Stopped(&["15 × no-entry"]),
        // The system takes names for bytes as well.
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "make_hard_links",
        answer: Stopped(&["4 × not-permitted"]),
        audit: &[
            "refusal link not-granted workspace:report.md to workspace:a.md",
            "refusal link not-granted inputs:notes.md to workspace:b.md",
            "refusal link not-granted workspace:report.md to inputs:c.md",
            "refusal link not-granted workspace:dir_out/secret.txt to workspace:d.md",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "make_symbolic_links",
        answer: Stopped(&["4 × not-permitted"]),
        audit: &[
            "refusal link not-granted workspace:a",
            "refusal link not-granted workspace:b",
            "refusal link not-granted workspace:c",
            "refusal link not-granted inputs:d",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "write_through_links",
        answer: Stopped(&["2 × loop", "8 × not-permitted"]),
        audit: &[
            "2 × refusal create not-a-file/symlink workspace:link_in",
            "2 × refusal create escape workspace:out",
            "2 × refusal create escape workspace:dir_out",
            "2 × refusal create escape workspace:dir_out/new.txt",
            "2 × refusal create escape workspace:dir_out/secret.txt",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "write_through_hard_link",
        answer: Stopped(&["2 × not-permitted"]),
        audit: &[
            "refusal replace hard-link workspace:twin.md",
            "refusal change hard-link workspace:twin.md",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "rename_over_hard_link",
        answer: Stopped(&["not-permitted"]),
        audit: &[
            "refusal rename hard-link workspace:report.md to workspace:twin.md",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "rename_over_a_hard_link_from_beside",
        answer: Stopped(&["exist", "loop", "3 × not-permitted", "unsupported"]),
        audit: &[
            "refusal rename hard-link workspace:beside.md to workspace:twin.md",
            "refusal rename not-a-file/symlink workspace:beside.md to workspace:link_in",
            "refusal rename escape workspace:beside.md to workspace:out",
            "refusal rename escape workspace:beside.md to workspace:dir_out/secret.txt",
            "refusal rename not-a-file/special workspace:beside.md to workspace:pipe",
            "done create workspace:beside.md",
            "call ok",
        ],
        leaves: &["+workspace/beside.md"],
        ..ORDINARY
    },
    Row {
        attack: "read_a_link_without_leaving_a_trace",
        audit: &["access stat inputs:sub/up", "call ok"],
        unguarded: NotShown("there is no log"),
        ..ORDINARY
    },
    Row {
        attack: "rename_across_roots",
        answer: Stopped(&["3 × not-permitted"]),
        audit: &[
            "refusal rename not-granted inputs:notes.md to workspace:taken.md",
            "refusal rename not-granted workspace:report.md to inputs:planted.md",
            "refusal rename not-granted inputs:notes.md to inputs:renamed.md",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "rename_out",
        answer: Stopped(&["5 × not-permitted"]),
        audit: &[
            "refusal rename invalid-path/traversal workspace:report.md to workspace:../outside/planted.md",
            "refusal rename escape workspace:report.md to workspace:dir_out/planted.md",
            "refusal rename invalid-path/absolute workspace:report.md to workspace:/tmp/planted.md",
            "refusal rename invalid-path/traversal workspace:../outside/secret.txt to workspace:taken.txt",
            "refusal rename escape workspace:dir_out/secret.txt to workspace:taken.txt",
            "call ok",
        ],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "rename_into_itself",
        answer: Stopped(&[
            "2 × exist",
            "invalid",
            "loop",
            "no-entry",
            "3 × not-directory",
        ]),
        audit: &[
            "refusal rename not-a-file/symlink workspace:link_in to workspace:done/link_in",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "delete_from_inputs",
        answer: Stopped(&["2 × not-permitted"]),
        audit: &[
            "refusal delete not-granted inputs:notes.md",
            "refusal delete not-granted inputs:bare",
            "call ok",
        ],
        ..ORDINARY
    },
    Row {
        attack: "delete_outside",
        answer: Stopped(&["2 × not-directory", "5 × not-permitted"]),
        audit: &[
            "refusal delete invalid-path/traversal workspace:../outside/secret.txt",
            "refusal delete escape workspace:dir_out/secret.txt",
            "refusal delete invalid-path/absolute workspace:/tmp/rootbound-canary",
            "refusal delete invalid-path/traversal workspace:../outside/bare",
            "refusal delete escape workspace:dir_out/bare",
            "call ok",
        ],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "remove_the_roots",
        answer: Stopped(&["13 × not-permitted"]),
        audit: &["refusal …", "call ok"],
        unguarded: StoppedToo,
        ..ORDINARY
    },
    Row {
        attack: "pass_what_is_not_text",
        answer: crate::hostile::row::Answer::Error("trapped"),
        audit: &["call trapped trapped"],
        unguarded: NotShown("wasmtime itself takes no string that is none"),
        ..ORDINARY
    },
    Row {
        attack: "point_outside_memory",
        answer: crate::hostile::row::Answer::Error("trapped"),
        audit: &["call trapped trapped"],
        unguarded: NotShown("wasmtime itself reads no memory but the component's"),
        ..ORDINARY
    },
    Row {
        attack: "reach_what_patterns_exclude",
        policy: patterned,
        answer: Stopped(&["20 × not-permitted"]),
        audit: &["refusal …", "access list inputs:sub", "call ok"],
        ..ORDINARY
    },
];
