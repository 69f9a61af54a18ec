//! Reads the text of links that lead out, which tells names outside.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    for path in ["out", "dir_out", "absolute_out", "dangling_out", "dir_out/"] {
        if let Some(target) = spoils.step(world.inputs().readlink_at(path)) {
            spoils.gain(format!("{path} leads to {target}"));
        }
    }
    Some(())
}
