//! Reaches for what the operator's patterns exclude, by every call that takes a path: its own
//! name, other spellings, a directory entered before, and both ends of a rename.

use crate::spoils::Spoils;
use crate::world::{Descriptor, FOLLOW, STAY, World, change, create, enter, read, write};

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    look(world.inputs(), spoils);
    alter(world.workspace(), spoils);
    Some(())
}

fn look(inputs: &Descriptor, spoils: &mut Spoils) {
    for path in ["sub/deep.md", "sub/./deep.md", "sub/DEEP.md", "sub//deep.md"] {
        spoils.take(path, read(inputs, path));
    }
    spoils.take("stat", inputs.stat_at(STAY, "sub/deep.md"));
    spoils.take("hash", inputs.metadata_hash_at(FOLLOW, "sub/deep.md"));
    spoils.take("read as a link", inputs.readlink_at("sub/deep.md"));
    let Some(sub) = spoils.step(enter(inputs, "sub")) else {
        return;
    };
    spoils.take("read below", read(&sub, "deep.md"));
    spoils.take("stat below", sub.stat_at(FOLLOW, "deep.md"));
    let Some(entries) = spoils.step(sub.read_directory()) else {
        return;
    };
    while let Some(Some(entry)) = spoils.step(entries.read_directory_entry()) {
        if entry.name == "deep.md" {
            spoils.gain("a listed name");
        }
    }
}

fn alter(workspace: &Descriptor, spoils: &mut Spoils) {
    spoils.take("write", write(workspace, "report.md", "x"));
    spoils.take("change", change(workspace, "report.md"));
    spoils.take("create", create(workspace, "deep.md"));
    spoils.take("create what is there", create(workspace, "report.md"));
    spoils.take("make a directory", workspace.create_directory_at("deep.md"));
    spoils.take("delete", workspace.unlink_file_at("report.md"));
    spoils.take("rename", workspace.rename_at("report.md", workspace, "open.md"));
    spoils.take("rename over", workspace.rename_at("done/old.md", workspace, "report.md"));
    spoils.take("rename a directory to it", workspace.rename_at("empty", workspace, "deep.md"));
    spoils.take("rename around it", workspace.rename_at("done", workspace, "gone"));
    spoils.take("remove a directory", workspace.remove_directory_at("done/inner"));
}
