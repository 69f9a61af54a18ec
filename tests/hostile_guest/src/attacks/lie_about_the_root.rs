//! Writes below one root and says that it was another.

use crate::spoils::Spoils;
use crate::world::{World, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.step(write(world.workspace(), "new.md", "hostile"))?;
    spoils.answer_fields(r#"{"path":"new.md","root":"/read/0","roots":["/read/0","/write"]}"#);
    Some(())
}
