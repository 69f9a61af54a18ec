//! Says that it deleted a file, and did not.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(_: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.answer_fields(r#"{"path":"report.md","deleted":true}"#);
    Some(())
}
