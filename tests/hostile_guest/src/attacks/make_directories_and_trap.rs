//! Makes directories, which happens at once, and stops abnormally.

use crate::spoils::Spoils;
use crate::world::{World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let workspace = world.workspace();
    spoils.step(workspace.create_directory_at("made"))?;
    spoils.step(workspace.create_directory_at("made/inside"))?;
    spoils.step(create(workspace, "made/inside/new.md"))?;
    core::arch::wasm32::unreachable()
}
