//! Sets times by path and by descriptor, on both roots, and on the roots themselves.

use crate::spoils::Spoils;
use crate::world::{FOLLOW, NewTimestamp, STAY, World, create, read};

const NOW: NewTimestamp = NewTimestamp::Now;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.take("notes.md", world.inputs().set_times_at(FOLLOW, "notes.md", NOW, NOW));
    spoils.take("the read root", world.inputs().set_times(NOW, NOW));
    spoils.take("report.md", world.workspace().set_times_at(STAY, "report.md", NOW, NOW));
    spoils.take("the write root", world.workspace().set_times(NOW, NOW));
    let out = world.workspace().set_times_at(FOLLOW, "dir_out/secret.txt", NOW, NOW);
    spoils.take("secret.txt", out);
    let file = spoils.step(read(world.inputs(), "notes.md"))?;
    spoils.take("notes.md, open", file.set_times(NOW, NOW));
    let file = spoils.step(create(world.workspace(), "new.md"))?;
    spoils.take("new.md", file.set_times(NOW, NOW));
    Some(())
}
