//! Creates, replaces, deletes and renames, and answers what is not a JSON object.

use super::stage_and_trap::stage;
use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    stage(world, spoils)?;
    let deep = "[".repeat(100_000);
    let fields = [
        "",
        "{",
        "not json",
        "[]",
        "null",
        "{} {}",
        "{\"a\":1,}",
        "{\"a\":\"\n\"}",
        "\u{feff}{}",
        &deep,
        // JSON, but nothing that a reader can hold.
        "{\"a\":1e999}",
        "{\"a\":\"\\ud800\"}",
    ];
    spoils.answer_fields(fields[world.number("variant") as usize]);
    Some(())
}
