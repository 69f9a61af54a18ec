//! The directories that the host gave, and the calls that most attacks begin with.

pub use crate::bindings::wasi::filesystem::types::{
    Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};
pub use crate::bindings::wasi::io::streams::StreamError;

use crate::bindings::wasi::filesystem::preopens::get_directories;

/// Follow a link at the end of the path.
pub const FOLLOW: PathFlags = PathFlags::SYMLINK_FOLLOW;
/// Do not.
pub const STAY: PathFlags = PathFlags::empty();

/// What an attack starts from.
pub struct World {
    roots: Vec<(Descriptor, String)>,
    arguments: String,
}

impl World {
    /// Takes what the host preopened.
    pub fn open(arguments: String) -> Self {
        Self {
            roots: get_directories(),
            arguments,
        }
    }

    /// The directory that may be read.
    pub fn inputs(&self) -> &Descriptor {
        self.root("/read/0")
    }

    /// The directory that may be written.
    pub fn workspace(&self) -> &Descriptor {
        self.root("/write")
    }

    fn root(&self, wanted: &str) -> &Descriptor {
        let (root, _) = (self.roots.iter().find(|(_, name)| name == wanted))
            .unwrap_or_else(|| panic!("{wanted} was not granted"));
        root
    }

    /// A whole number among the arguments.
    pub fn number(&self, name: &str) -> u64 {
        let (_, rest) = (self.arguments.split_once(&format!("\"{name}\":")))
            .unwrap_or_else(|| panic!("the argument `{name}` is missing"));
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..end].parse().expect("a whole number")
    }

    /// A string among the arguments, without escapes.
    pub fn text(&self, name: &str) -> &str {
        let rest = self.arguments.split_once(&format!("\"{name}\":\""));
        let (text, _) = rest
            .and_then(|(_, rest)| rest.split_once('"'))
            .unwrap_or_else(|| panic!("the argument `{name}` is missing"));
        text
    }
}

/// Opens for reading.
pub fn read(directory: &Descriptor, path: &str) -> Result<Descriptor, ErrorCode> {
    directory.open_at(FOLLOW, path, OpenFlags::empty(), DescriptorFlags::READ)
}

/// Opens a directory.
pub fn enter(directory: &Descriptor, path: &str) -> Result<Descriptor, ErrorCode> {
    directory.open_at(FOLLOW, path, OpenFlags::DIRECTORY, DescriptorFlags::READ)
}

/// Creates a file that does not exist.
pub fn create(directory: &Descriptor, path: &str) -> Result<Descriptor, ErrorCode> {
    let flags = OpenFlags::CREATE | OpenFlags::EXCLUSIVE;
    directory.open_at(
        STAY,
        path,
        flags,
        DescriptorFlags::READ | DescriptorFlags::WRITE,
    )
}

/// Opens an existing file for changes.
pub fn change(directory: &Descriptor, path: &str) -> Result<Descriptor, ErrorCode> {
    let flags = DescriptorFlags::READ | DescriptorFlags::WRITE;
    directory.open_at(STAY, path, OpenFlags::empty(), flags)
}

/// Creates a file with content, or replaces it.
pub fn write(directory: &Descriptor, path: &str, content: &str) -> Result<u64, ErrorCode> {
    let flags = OpenFlags::CREATE | OpenFlags::TRUNCATE;
    let file = directory.open_at(STAY, path, flags, DescriptorFlags::WRITE)?;
    file.write(content.as_bytes(), 0)
}

/// Reads the first bytes of a file as text.
pub fn text(file: &Descriptor) -> Result<String, ErrorCode> {
    let (bytes, _) = file.read(100, 0)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
