//! Walks out of the read root by path and by descriptor.

use crate::spoils::Spoils;
use crate::world::{World, enter, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let inputs = world.inputs();
    for path in [
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "/etc/passwd",
        "//etc/passwd",
        "out",
        "dir_out/secret.txt",
        "absolute_out",
        "dangling_out",
        "sub/up/../outside/secret.txt",
    ] {
        spoils.take(path, read(inputs, path));
    }
    let sub = spoils.step(enter(inputs, "sub"))?;
    for path in ["..", "../notes.md", "up/notes.md", "./../sub/deep.md"] {
        spoils.take(&format!("sub: {path}"), read(&sub, path));
    }
    Some(())
}
