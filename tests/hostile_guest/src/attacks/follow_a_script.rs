//! Does what a script says, step by step, and answers what became of each. The host's tests
//! make scripts by chance and compare with what the system itself does.
//!
//! `{"script":"write a x|rename a b|enter d|unlink c"}`: steps between bars, words between
//! spaces, paths from the directory that was entered last. No path holds a bar, a space, a
//! quote or a backslash. Directories are opened below both roots, changes made below `/write`.

use crate::spoils::Spoils;
use crate::world::{
    Descriptor, DescriptorFlags, ErrorCode, FOLLOW, OpenFlags, STAY, World, create, enter, read,
    text, write,
};

/// A step's answer: what it found, or nothing to say.
type Step = Result<String, ErrorCode>;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    let (mut readable, mut writable) = (Vec::new(), Vec::new());
    let mut answers = Vec::new();
    for step in world.text("script").split('|') {
        let words: Vec<&str> = step.split(' ').collect();
        let reads = readable.last().unwrap_or(world.inputs());
        let writes = writable.last().unwrap_or(world.workspace());
        let answer = match words[..] {
            ["enter", path] => both(reads, writes, path).map(|(reads, writes)| {
                readable.push(reads);
                writable.push(writes);
                String::new()
            }),
            ["leave"] => {
                readable.pop();
                writable.pop();
                Ok(String::new())
            }
            _ => act(reads, writes, &words),
        };
        let answer = answer.unwrap_or_else(|code| format!("!{}", code.name()));
        answers.push(format!("\"{}\"", answer.escape_debug()));
    }
    spoils.answer_fields(format!("{{\"steps\":[{}]}}", answers.join(",")));
    Some(())
}

fn both(
    reads: &Descriptor,
    writes: &Descriptor,
    path: &str,
) -> Result<(Descriptor, Descriptor), ErrorCode> {
    Ok((enter(reads, path)?, enter(writes, path)?))
}

fn act(reads: &Descriptor, writes: &Descriptor, words: &[&str]) -> Step {
    match *words {
        ["write", path, content] => write(writes, path, content).map(|_| ())?,
        ["create", path, content] => {
            create(writes, path)?.write(content.as_bytes(), 0)?;
        }
        ["append", path, content] => append(writes, path, content)?,
        ["mkdir", path] => writes.create_directory_at(path)?,
        ["rmdir", path] => writes.remove_directory_at(path)?,
        ["unlink", path] => writes.unlink_file_at(path)?,
        ["rename", from, to] => writes.rename_at(from, writes, to)?,
        ["read", path] => return text(&read(reads, path)?),
        ["stat", path] => return kind(reads, path),
        ["measure", path] => return measure(reads, path),
        ["link", path] => return reads.readlink_at(path),
        ["grow", pages] => return grow(pages),
        ["list", path] => return list(&enter(reads, path)?),
        ["trap"] => core::arch::wasm32::unreachable(),
        ["spin"] => loop {
            std::hint::black_box(());
        },
        _ => panic!("no step begins like {words:?}"),
    }
    Ok(String::new())
}

fn append(writes: &Descriptor, path: &str, content: &str) -> Result<(), ErrorCode> {
    let flags = DescriptorFlags::WRITE;
    let file = writes.open_at(STAY, path, OpenFlags::empty(), flags)?;
    let _ = file.append_via_stream()?.blocking_write_and_flush(content.as_bytes());
    Ok(())
}

fn kind(reads: &Descriptor, path: &str) -> Step {
    Ok(format!("{:?}", reads.stat_at(FOLLOW, path)?.type_))
}

/// What a directory's metadata tells of the names in it.
fn measure(reads: &Descriptor, path: &str) -> Step {
    let stat = reads.stat_at(FOLLOW, path)?;
    Ok(format!("{} {}", stat.size, stat.link_count))
}

/// Takes so many pages of memory more.
fn grow(pages: &str) -> Step {
    let pages = pages.parse().expect("a number of pages");
    match core::arch::wasm32::memory_grow::<0>(pages) {
        usize::MAX => Err(ErrorCode::InsufficientMemory),
        _ => Ok(String::new()),
    }
}

fn list(directory: &Descriptor) -> Step {
    let entries = directory.read_directory()?;
    let mut names = Vec::new();
    while let Some(entry) = entries.read_directory_entry()? {
        names.push(entry.name);
    }
    Ok(names.join(","))
}
