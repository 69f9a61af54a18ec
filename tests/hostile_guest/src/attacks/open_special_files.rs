//! Opens a pipe, which would block for ever, and a socket.

use crate::spoils::Spoils;
use crate::world::{DescriptorFlags, FOLLOW, OpenFlags, World, read};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.take("pipe", read(world.inputs(), "pipe"));
    spoils.take("socket", read(world.inputs(), "socket"));
    let flags = OpenFlags::CREATE | OpenFlags::TRUNCATE;
    for path in ["pipe", "socket"] {
        let opened = (world.workspace()).open_at(FOLLOW, path, flags, DescriptorFlags::WRITE);
        spoils.take(&format!("{path}, to write"), opened);
    }
    Some(())
}
