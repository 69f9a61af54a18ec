//! Puts a slash behind a link that leads out: some systems follow it then even where told
//! not to.

use crate::spoils::Spoils;
use crate::world::{DescriptorFlags, FOLLOW, OpenFlags, STAY, World};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let inputs = world.inputs();
    for path in ["dir_out/", "dir_out/.", "dir_out//secret.txt", "out/"] {
        for flags in [STAY, FOLLOW] {
            let opened = inputs.open_at(flags, path, OpenFlags::empty(), DescriptorFlags::READ);
            spoils.take(&format!("{path}, opened"), opened);
            let entered = inputs.open_at(flags, path, OpenFlags::DIRECTORY, DescriptorFlags::READ);
            spoils.take(&format!("{path}, entered"), entered);
        }
        spoils.take(&format!("{path}, looked up"), inputs.stat_at(FOLLOW, path));
        spoils.take(&format!("{path}, hashed"), inputs.metadata_hash_at(FOLLOW, path));
    }
    Some(())
}
