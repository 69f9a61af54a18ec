//! Is refused, and says that all went well.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let _ = read(world.inputs(), "../outside/secret.txt");
    spoils.answer_fields(r#"{"path":"../outside/secret.txt","size":11}"#);
    Some(())
}
