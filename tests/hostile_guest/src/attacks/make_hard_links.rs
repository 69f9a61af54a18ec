//! Gives files a second name: inside a root, from root to root, and from outside.

use crate::spoils::Spoils;
use crate::world::{FOLLOW, STAY, World};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let (inputs, workspace) = (world.inputs(), world.workspace());
    let work = workspace.link_at(STAY, "report.md", workspace, "a.md");
    spoils.take("report.md as workspace/a.md", work);
    let input = inputs.link_at(STAY, "notes.md", workspace, "b.md");
    spoils.take("notes.md as workspace/b.md", input);
    let back = workspace.link_at(STAY, "report.md", inputs, "c.md");
    spoils.take("report.md as inputs/c.md", back);
    let out = workspace.link_at(FOLLOW, "dir_out/secret.txt", workspace, "d.md");
    spoils.take("secret.txt as workspace/d.md", out);
    Some(())
}
