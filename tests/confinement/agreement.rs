//! Inside the root the tools and the kernel agree: every operation on every path of one
//! rich layout gives the same answer, shows the same and leaves the same tree.

use super::answer::{is_refusal, of_native, of_tool, seen};
use super::layout::Layout;
use super::native;
use super::snapshot::Snapshot;
use super::trial::session;
use super::uses::{USES, Use};
use super::verdict::Policy;

const LAYOUT: &str = "t=x; empty/; d/f=y; d/e/g=z; d/up -> ..; d/side -> e/../f; l -> d; \
    m -> t; n -> l/f; o -> n; dangling -> nowhere; deep -> l/e/nowhere; loop -> loop; \
    turn -> back; back -> turn; ....=dots; ~j\"a b\"=space; ~j\"\u{e9}\"=accent; -rf=dash; \
    ~j\"*\"=star; mode d/f 0640; b == t";

const PATHS: &[&str] = &[
    ".",
    "./",
    "./.",
    "t",
    "./t",
    "t/",
    "t/.",
    "t/..",
    "t/x",
    "t/../t",
    "b",
    "empty",
    "empty/",
    "empty/.",
    "empty/..",
    "empty/../t",
    "empty/x",
    "d",
    "d/",
    "d/f",
    "d//f",
    "d/./f",
    "d/../t",
    "d/e",
    "d/e/g",
    "d/e/..",
    "d/e/../f",
    "d/e/../../t",
    "d/up",
    "d/up/",
    "d/up/t",
    "d/up/d/up/t",
    "d/up/n",
    "d/side",
    "l",
    "l/",
    "l/.",
    "l/f",
    "l/e/g",
    "l/../t",
    "l/e/../f",
    "l/e/../../t",
    "l/x",
    "m",
    "m/",
    "n",
    "o",
    "o/x",
    "dangling",
    "dangling/",
    "dangling/x",
    "deep",
    "loop",
    "loop/x",
    "turn",
    "x",
    "x/",
    "x/y",
    "x/..",
    "x/../t",
    "....",
    "a b",
    "\u{e9}",
    "e\u{301}",
    "-rf",
    "*",
    "?",
    "T",
    "%74",
    "~t",
];

#[test]
fn every_operation_on_every_path_agrees_with_the_kernel() {
    let mut disagreements = Vec::new();
    let plain = USES.iter().filter(|one| one.own_codes.is_empty());
    for one in plain.filter(|one| native::OPERATIONS.contains(&one.operation)) {
        for path in PATHS {
            disagreements.extend(disagreement(one, path));
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

fn disagreement(one: &Use, path: &str) -> Option<String> {
    let layouts = [Layout::new(LAYOUT), Layout::new(LAYOUT)];
    let native = native::act(layouts[0].handle(), one.operation, path);
    let confined = session(&layouts[1], Policy::Everything).call(one.tool, one.arguments(path));
    let answers = [
        of_native(one.operation, &native),
        of_tool(one.operation, &confined),
    ];
    let told = |what: &str| Some(format!("{} {path:?}: {what}", one.name()));
    // What the guard refuses, it refuses on purpose; the tables say what and why.
    if is_refusal(&answers[1])
        || makes_its_parents(one, path, &answers)
        || is_known(one, path, &answers)
    {
        return None;
    }
    if answers[0] != answers[1] {
        return told(&format!("natively {}, confined {}", answers[0], answers[1]));
    }
    if answers[1].starts_with("ok")
        && let (Ok(native), Ok(confined)) = (native, confined)
    {
        let confined = seen(one.operation, &confined);
        if native != confined {
            return told(&format!("natively {native:?}, confined {confined:?}"));
        }
    }
    let [native, confined] = layouts.map(|layout| Snapshot::of(layout.base()).inside());
    let difference = native.difference(&confined);
    (!difference.is_empty()).then(|| told(&format!("the trees differ:{difference}")))?
}

/// The one way in which the tools do more than the kernel.
fn makes_its_parents(one: &Use, path: &str, answers: &[String; 2]) -> bool {
    let makes = matches!(one.operation, "write" | "create" | "mkdir");
    makes && path.starts_with("x/") && answers[0] == "not-found"
}

/// Two failures with different words: the guard takes `t/.` as another spelling of `t`.
fn is_known(one: &Use, path: &str, answers: &[String; 2]) -> bool {
    let failures = ["not-a-directory", "exists"];
    one.operation == "mkdir" && path == "t/." && *answers == failures
}
