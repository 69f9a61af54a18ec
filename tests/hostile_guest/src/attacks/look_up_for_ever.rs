//! Looks up names for ever, by a long spelling: each is kept until the call ends.

use crate::spoils::Spoils;
use crate::world::{STAY, World};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let step = "./".repeat(2000);
    loop {
        for name in ["notes.md", "sub"] {
            spoils.step(world.inputs().stat_at(STAY, &format!("{step}{name}")))?;
        }
    }
}
