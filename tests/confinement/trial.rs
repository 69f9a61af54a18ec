//! One row against every path argument of every tool.
//!
//! The control comes first: what the row asks is done without confinement. Then each
//! argument gets the path, in a session that allows everything but what confinement is
//! about, and the answer, the audit log and the tree around the root are looked at.

use std::time::{Duration, Instant};

use rootbound::{Consent, Durability, Session, SessionBuilder, Toolset};

use super::answer::of_tool;
use super::control;
use super::layout::Layout;
use super::snapshot::Snapshot;
use super::table::Row;
use super::uses::{AWAITED, USES, Use, changes_nothing};
use super::verdict::{Complaints, Demand, Policy, check_log, check_silence, is_right};
use crate::support::Recorded;

/// How long an argument is tried while something moves: the row's own, and others.
const OWN_PATIENCE: Duration = Duration::from_millis(200);
const PATIENCE: Duration = Duration::from_millis(20);

/// Runs a row; a line for everything that is not as it should be.
pub fn complaints_of(row: &Row) -> Vec<String> {
    let mut complaints = Complaints::of(row);
    if AWAITED.contains(&row.operation) {
        return complaints.lines;
    }
    control::show(row, &mut complaints);
    let (looking, changing): (Vec<_>, Vec<_>) = USES.iter().partition(|one| changes_nothing(one));
    try_looking(row, &looking, &mut complaints);
    for one in changing {
        try_changing(row, one, Policy::Everything, &mut complaints);
        if Demand::of(row, one) != Demand::AnythingInside {
            try_changing(row, one, Policy::Defaults, &mut complaints);
        }
    }
    complaints.lines
}

/// A session over the root, both ways, and its audit log.
pub fn session(layout: &Layout, policy: Policy) -> Recorded {
    session_of(Toolset::Files, layout, policy)
}

/// The same, with one of the sets of tools.
pub fn session_of(toolset: Toolset, layout: &Layout, policy: Policy) -> Recorded {
    let mut builder = Session::builder()
        .toolset(toolset)
        .read_root(layout.root())
        .write_root(layout.root())
        .durability(Durability::Fast);
    if policy != Policy::Defaults {
        builder = builder.overwrite(Consent::Allow).delete(Consent::Allow);
    }
    builder = layout.denied.iter().fold(builder, SessionBuilder::deny);
    builder = layout.allowed.iter().fold(builder, SessionBuilder::allow);
    let recorded = Recorded::build(builder.portable_names(policy != Policy::AnyNames));
    recorded.forget();
    recorded
}

/// Nothing changes, so all of them look at the same layout.
fn try_looking(row: &Row, uses: &[&Use], complaints: &mut Complaints) {
    let mut layout = Layout::new(row.setup);
    let recorded = session(&layout, Policy::Everything);
    let before = Snapshot::of(layout.base());
    for one in uses {
        let policy = Policy::Everything;
        Trial { row, one, policy }.run(&mut layout, &recorded, complaints);
    }
    if !layout.moves() {
        let difference = before.difference(&Snapshot::of(layout.base()));
        complaints.unless(difference.is_empty(), || {
            format!("looking changed{difference}")
        });
    }
}

fn try_changing(row: &Row, one: &Use, policy: Policy, complaints: &mut Complaints) {
    // A hundred thousand files are made for those that list them.
    if row.setup.contains("many ") {
        return;
    }
    let mut layout = Layout::new(row.setup);
    one.add_companion(&layout.root());
    let recorded = session_of(one.toolset(), &layout, policy);
    let before = Snapshot::of(layout.base());
    let answer = Trial { row, one, policy }.run(&mut layout, &recorded, complaints);
    if layout.moves() {
        return;
    }
    let after = Snapshot::of(layout.base());
    let outside = before
        .clone()
        .outside()
        .difference(&after.clone().outside());
    complaints.unless(outside.is_empty(), || {
        format!("{} changed outside:{outside}", one.name())
    });
    let inside = before.inside().difference(&after.inside());
    complaints.unless(answer.starts_with("ok") || inside.is_empty(), || {
        format!("{} answered {answer} and changed{inside}", one.name())
    });
}

/// A row, an argument, a policy.
struct Trial<'a> {
    row: &'a Row,
    one: &'a Use,
    policy: Policy,
}

impl Trial<'_> {
    /// The last answer.
    fn run(&self, layout: &mut Layout, recorded: &Recorded, complaints: &mut Complaints) -> String {
        if !layout.moves() {
            return self.once(layout, recorded, complaints);
        }
        let outside = self.outside(layout);
        layout.set_in_motion();
        let started = Instant::now();
        let mut answer = self.once(layout, recorded, complaints);
        while started.elapsed() < self.patience() && complaints.lines.is_empty() {
            answer = self.once(layout, recorded, complaints);
        }
        layout.hold_still();
        let difference = outside.difference(&self.outside(layout));
        complaints.unless(difference.is_empty(), || {
            format!("{} changed outside:{difference}", self.one.name())
        });
        answer
    }

    fn once(&self, layout: &Layout, recorded: &Recorded, complaints: &mut Complaints) -> String {
        let Self { row, one, policy } = *self;
        recorded.forget();
        let result = recorded.call(one.tool, one.arguments(&layout.path(&row.path)));
        let answer = of_tool(one.operation, &result);
        let name = format!("{} under {policy:?}", one.name());
        complaints.unless(is_right(row, one, policy, &answer), || {
            format!("{name} answered {answer}, not {}", row.answers.join(" or "))
        });
        check_log(&recorded.entries(), &answer, self.one, complaints);
        let said = match &result {
            Ok(output) => output.to_json(),
            Err(error) => error.to_json().to_string(),
        };
        let told = format!("{said}\n{}", recorded.lines().join("\n"));
        check_silence(row, layout, &told, &name, complaints);
        answer
    }

    fn patience(&self) -> Duration {
        match Demand::of(self.row, self.one) {
            Demand::AsTheRowSays => OWN_PATIENCE,
            _ => PATIENCE,
        }
    }

    /// What lies outside; without times where the motion itself leads there.
    fn outside(&self, layout: &Layout) -> Snapshot {
        let outside = Snapshot::outside_of(layout.base());
        if self.row.setup.contains("> ^") {
            return outside.without_times();
        }
        outside
    }
}
