//! Writes through links that lead inside, outside, and to nothing outside.

use crate::spoils::Spoils;
use crate::world::{DescriptorFlags, FOLLOW, OpenFlags, World, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    for path in ["link_in", "out", "dir_out", "dir_out/new.txt", "dir_out/secret.txt"] {
        let flags = OpenFlags::CREATE | OpenFlags::TRUNCATE;
        let opened = (world.workspace()).open_at(FOLLOW, path, flags, DescriptorFlags::WRITE);
        if let Some(file) = spoils.step(opened) {
            spoils.take(path, file.write(b"hostile", 0));
        }
        spoils.take(&format!("{path}, without following"), write(world.workspace(), path, "x"));
    }
    Some(())
}
