//! Asks for the right to change a directory below the read root, and uses it.

use crate::spoils::Spoils;
use crate::world::{DescriptorFlags, FOLLOW, OpenFlags, World, create};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let flags = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
    let opened = world.inputs().open_at(FOLLOW, "sub", OpenFlags::DIRECTORY, flags);
    let sub = spoils.step(opened)?;
    if sub.get_flags().is_ok_and(|flags| flags.contains(DescriptorFlags::MUTATE_DIRECTORY)) {
        spoils.gain("was told that sub can be changed");
    }
    spoils.take("created new.md", create(&sub, "new.md"));
    spoils.take("deleted deep.md", sub.unlink_file_at("deep.md"));
    Some(())
}
