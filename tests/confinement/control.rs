//! The control of a row: the same operation without confinement, in a layout of its own.

use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::answer::{Seen, of_native, of_tool, seen};
use super::layout::Layout;
use super::native;
use super::snapshot::Snapshot;
use super::table::{Row, Unconfined};
use super::trial::session;
use super::uses::{USES, Use};
use super::verdict::{Complaints, Policy};

/// How long an attack that needs luck is tried.
const PATIENCE: Duration = Duration::from_secs(30);

/// Shows what happens without confinement, as the row says.
pub fn show(row: &Row, complaints: &mut Complaints) {
    match row.unconfined {
        Unconfined::Works | Unconfined::WorksJoined | Unconfined::WorksCut => {
            show_that_it_works(row, complaints);
        }
        Unconfined::Same => compare(row, Policy::Everything, complaints),
        Unconfined::SameWithAnyNames => compare(row, Policy::AnyNames, complaints),
        Unconfined::Natively(expected) => {
            let answer = of_native(row.operation, &natively(row, &Layout::new(row.setup)));
            complaints.unless(answer == expected, || {
                format!("natively the answer is {answer}")
            });
        }
        Unconfined::NotShown(reason) => {
            complaints.unless(!reason.is_empty(), || "no reason is given".to_owned());
        }
    }
}

/// An attack must do what it is there for: show what lies outside, or change it.
fn show_that_it_works(row: &Row, complaints: &mut Complaints) {
    let mut layout = Layout::new(row.setup);
    let before = Snapshot::outside_of(layout.base());
    let give_up = Instant::now() + PATIENCE;
    layout.set_in_motion();
    let result = loop {
        let result = natively(row, &layout);
        let reached = result.as_ref().is_ok_and(|seen| match seen {
            Seen::Done => !row.has_outside() || before != Snapshot::outside_of(layout.base()),
            seen => !row.setup.contains("=secret") || shows_outside(seen),
        });
        if reached || !layout.moves() || Instant::now() > give_up {
            break if reached { Ok(()) } else { Err(result) };
        }
    };
    layout.hold_still();
    complaints.unless(result.is_ok(), || {
        format!("the attack does not work natively: {result:?}")
    });
}

fn shows_outside(seen: &Seen) -> bool {
    match seen {
        Seen::Content(bytes) => bytes == b"secret",
        Seen::Names(names) => names
            .iter()
            .any(|name| matches!(&**name, "s" | "OUT" | "ROOT")),
        Seen::Object(..) | Seen::Directory | Seen::Done => true,
    }
}

fn natively(row: &Row, layout: &Layout) -> Result<Seen, Errno> {
    let path = layout.path(&row.path);
    match row.unconfined {
        Unconfined::WorksJoined => native::act_joined(&layout.root(), row.operation, &path),
        Unconfined::WorksCut => {
            let end = path.find('\0').expect("a path to be cut has a NUL");
            native::act(layout.handle(), row.operation, &path[..end])
        }
        _ => native::act(layout.handle(), row.operation, &path),
    }
}

/// The same answer, the same thing seen, the same tree afterwards.
fn compare(row: &Row, policy: Policy, complaints: &mut Complaints) {
    let ours = |one: &&Use| one.operation == row.operation && one.own_codes.is_empty();
    let Some(one) = USES.iter().find(ours) else {
        complaints.unless(false, || "no tool does the row's operation".to_owned());
        return;
    };
    let native_layout = Layout::new(row.setup);
    let native = natively(row, &native_layout);
    let layout = Layout::new(row.setup);
    let arguments = one.arguments(&layout.path(&row.path));
    let confined = session(&layout, policy).call(one.tool, arguments);
    let answers = (
        of_native(row.operation, &native),
        of_tool(row.operation, &confined),
    );
    complaints.unless(answers.0 == answers.1, || {
        format!(
            "the answer is natively {}, confined {}",
            answers.0, answers.1
        )
    });
    if let (Ok(native), Ok(confined)) = (native, confined) {
        let confined = seen(row.operation, &confined);
        complaints.unless(native == confined, || {
            format!("natively it shows {native:?}, confined {confined:?}")
        });
    }
    let trees = [&native_layout, &layout].map(|layout| Snapshot::of(layout.base()).inside());
    let difference = trees[0].difference(&trees[1]);
    complaints.unless(difference.is_empty(), || {
        format!("the trees differ:{difference}")
    });
}
