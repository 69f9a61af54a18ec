//! Every combination of flags that `open-at` takes.

use std::fmt;

use crate::world::{Descriptor, DescriptorFlags, ErrorCode, FOLLOW, OpenFlags, PathFlags, STAY};

/// One way to open.
#[derive(Clone, Copy)]
pub struct Way {
    path: PathFlags,
    open: OpenFlags,
    descriptor: DescriptorFlags,
}

/// All 256 ways.
pub fn ways() -> impl Iterator<Item = Way> {
    (0..=255_u8).map(|bits| Way {
        path: if bits & 0x80 == 0 { STAY } else { FOLLOW },
        open: OpenFlags::from_bits_truncate(bits & 0x0f),
        // Read, write, and mutate-directory, which is bit 5 in WASI.
        descriptor: DescriptorFlags::from_bits_truncate(bits >> 4 & 0x03)
            | if bits & 0x40 == 0 {
                DescriptorFlags::empty()
            } else {
                DescriptorFlags::MUTATE_DIRECTORY
            },
    })
}

impl Way {
    /// Whether a file opened so could come to be, or to be another.
    pub fn could_change(self) -> bool {
        self.open
            .intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE)
            || self.descriptor.contains(DescriptorFlags::WRITE)
    }

    pub fn open(self, directory: &Descriptor, path: &str) -> Result<Descriptor, ErrorCode> {
        directory.open_at(self.path, path, self.open, self.descriptor)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} {:?}", self.path, self.open, self.descriptor)
    }
}
