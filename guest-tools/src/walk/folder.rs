//! What a walk asks of a directory.

use super::Entries;
use crate::files::{Descriptor, DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags};

/// Bytes of an ignore file: the largest that people keep have some thousand lines, and each
/// rule takes some kilobytes of memory.
const RULE_BYTES: u64 = 128 * 1024;

/// A directory that can be listed and entered.
pub(crate) trait Folder: Sized {
    /// All entries.
    fn entries(&self) -> Result<Entries, ErrorCode>;
    /// A directory in it, by its name; a link is none.
    fn enter(&self, name: &str) -> Result<Self, ErrorCode>;
    /// The content of an ignore file below it.
    fn read_rules(&self, path: &str) -> Result<Vec<u8>, ErrorCode>;
}

impl Folder for Descriptor {
    fn entries(&self) -> Result<Entries, ErrorCode> {
        Entries::of(&self.read_directory()?)
    }

    fn enter(&self, name: &str) -> Result<Self, ErrorCode> {
        let flags = DescriptorFlags::READ;
        self.open_at(PathFlags::empty(), name, OpenFlags::DIRECTORY, flags)
    }

    fn read_rules(&self, path: &str) -> Result<Vec<u8>, ErrorCode> {
        // A link is not followed, and trying to open it would be a refusal on record.
        let stat = self.stat_at(PathFlags::empty(), path)?;
        if stat.type_ != DescriptorType::RegularFile {
            return Err(ErrorCode::NoEntry);
        }
        let flags = DescriptorFlags::READ;
        let file = self.open_at(PathFlags::empty(), path, OpenFlags::empty(), flags)?;
        match file.read(RULE_BYTES + 1, 0)?.0 {
            rules if rules.len() as u64 > RULE_BYTES => Err(ErrorCode::FileTooLarge),
            rules => Ok(rules),
        }
    }
}
