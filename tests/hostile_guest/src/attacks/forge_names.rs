//! Uses the names of preopens, and names that only mean something to the host, as paths.

use crate::spoils::Spoils;
use crate::world::{World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    for path in [
        "/read/0/notes.md",
        "/read/1",
        "/write/report.md",
        "inputs:notes.md",
        "notes.md\0.png",
        "\0notes.md",
        "",
        "/proc/self/fd/3",
        "notes.md/../notes.md",
    ] {
        spoils.take(path, read(world.inputs(), path));
    }
    Some(())
}
