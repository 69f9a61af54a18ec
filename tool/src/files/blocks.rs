//! A file as `BufRead + Seek`, for formats that are read here and there.
//!
//! Only the blocks that are asked for are read, each once, so that the host's limit on bytes
//! counts what a document's text needs and not the pictures beside it.

use super::reading::ReadAnswer;
use super::{ErrorCode, OpenFile};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, Read, Seek, SeekFrom};

/// Small enough not to read pictures along with text, large enough for few calls.
const BLOCK: u64 = 64 * 1024;

/// A file read in blocks, kept until it is dropped; see [`OpenFile::into_blocks`].
pub struct Blocks<F> {
    read: F,
    size: u64,
    position: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
}

/// A WASI call was refused; carried through `io::Error`.
#[derive(Debug)]
struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the host refused to read")
    }
}

impl std::error::Error for Refused {}

/// Whether the host is why reading failed.
pub fn was_refused(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Refused>())
}

impl OpenFile {
    /// The file as `BufRead + Seek`, for formats that are read here and there. Only the blocks
    /// that are asked for are read, each once; a refusal of the host is told by
    /// [`was_refused`].
    pub fn into_blocks(self) -> Blocks<impl FnMut(u64, u64) -> ReadAnswer> {
        let Self {
            descriptor, size, ..
        } = self;
        Blocks::new(size, move |length, offset| descriptor.read(length, offset))
    }
}

impl<F> Blocks<F>
where
    F: FnMut(u64, u64) -> ReadAnswer,
{
    fn new(size: u64, read: F) -> Self {
        Self {
            read,
            size,
            position: 0,
            blocks: BTreeMap::new(),
        }
    }

    fn block(&mut self, start: u64) -> io::Result<&[u8]> {
        if !self.blocks.contains_key(&start) {
            let block = fetch(&mut self.read, start).map_err(|_| io::Error::other(Refused))?;
            self.blocks.insert(start, block);
        }
        Ok(&self.blocks[&start])
    }
}

fn fetch(read: &mut impl FnMut(u64, u64) -> ReadAnswer, start: u64) -> Result<Vec<u8>, ErrorCode> {
    let (mut block, mut at_end) = read(BLOCK, start)?;
    while !at_end && (block.len() as u64) < BLOCK {
        let length = block.len() as u64;
        let (more, end) = read(BLOCK - length, start + length)?;
        at_end = end || more.is_empty();
        block.extend_from_slice(&more);
    }
    Ok(block)
}

impl<F> Read for Blocks<F>
where
    F: FnMut(u64, u64) -> ReadAnswer,
{
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.fill_buf()?;
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<F> BufRead for Blocks<F>
where
    F: FnMut(u64, u64) -> ReadAnswer,
{
    /// What is left of the block at the position.
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position >= self.size {
            return Ok(&[]);
        }
        let inside = self.position % BLOCK;
        let block = self.block(self.position - inside)?;
        Ok(block.get(inside as usize..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.position += amount as u64;
    }
}

impl<F> Seek for Blocks<F> {
    fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        let position = match target {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.size.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn each_block_is_read_once_and_only_when_asked_for() {
        let file: Vec<u8> = (0..200_000_u32).map(|n| n as u8).collect();
        let calls = RefCell::new(Vec::new());
        let mut blocks = Blocks::new(file.len() as u64, |length, offset| {
            calls.borrow_mut().push(offset);
            let end = file.len().min((offset + length) as usize);
            Ok((file[offset as usize..end].to_vec(), end == file.len()))
        });
        let mut tail = Vec::new();
        blocks.seek(SeekFrom::End(-10)).unwrap();
        blocks.read_to_end(&mut tail).unwrap();
        assert_eq!(tail, file[file.len() - 10..]);
        let mut across = [0; 20];
        blocks.seek(SeekFrom::Start(BLOCK - 10)).unwrap();
        blocks.read_exact(&mut across).unwrap();
        blocks.seek(SeekFrom::Start(BLOCK - 10)).unwrap();
        blocks.read_exact(&mut across).unwrap();
        assert_eq!(across, file[BLOCK as usize - 10..BLOCK as usize + 10]);
        assert_eq!(*calls.borrow(), [3 * BLOCK, 0, BLOCK]);
    }

    #[test]
    fn a_refusal_is_recognised_in_the_error() {
        let mut blocks = Blocks::new(10, |_, _| Err(ErrorCode::Quota));
        let error = blocks.read(&mut [0]).unwrap_err();
        assert!(was_refused(&error));
        assert!(!was_refused(&io::ErrorKind::UnexpectedEof.into()));
    }

    #[test]
    fn beyond_the_end_there_is_nothing() {
        let mut blocks = Blocks::new(10, |_, _| Ok((vec![1; 10], true)));
        blocks.seek(SeekFrom::Start(99)).unwrap();
        assert_eq!(blocks.read(&mut [0]).unwrap(), 0);
        assert!(blocks.seek(SeekFrom::End(-11)).is_err());
    }
}
