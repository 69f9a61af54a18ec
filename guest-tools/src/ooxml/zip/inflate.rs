//! Inflating, into room that grows with what really comes out.

use flate2::{Decompress, FlushDecompress, Status};
use std::io::{self, BufRead};

/// How many times its size XML is expected to inflate to, when room is made for it.
const EXPECTED_RATIO: usize = 6;
/// Room that is made at least, and what is counted without being kept is inflated into.
const LEAST: usize = 4 * 1024;
const SCRATCH: usize = 64 * 1024;

/// Inflates entries, one after the other: its tables and its window are made once.
pub(in crate::ooxml) struct Inflater {
    state: Decompress,
}

impl Inflater {
    pub(in crate::ooxml) fn new() -> Self {
        Self {
            state: Decompress::new(false),
        }
    }

    /// Inflates up to `most` bytes. What came out before an error stands there as well.
    pub(super) fn read(
        &mut self,
        data: &mut impl BufRead,
        most: u64,
        bytes: &mut Vec<u8>,
    ) -> io::Result<()> {
        self.state.reset(false);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let expected = data.fill_buf()?.len().saturating_mul(EXPECTED_RATIO);
        bytes.resize(expected.max(LEAST).min(most), 0);
        let mut written = 0;
        let result = loop {
            if written == bytes.len() {
                let room = written.saturating_mul(2).max(LEAST).min(most);
                bytes.resize(room, 0);
            }
            match self.step(data, &mut bytes[written..]) {
                Ok((length, is_end)) => {
                    written += length;
                    if is_end || written == most {
                        break Ok(());
                    }
                }
                Err((length, error)) => {
                    written += length;
                    break Err(error);
                }
            }
        };
        bytes.truncate(written);
        result
    }

    /// Counts what comes out, up to `most` bytes.
    pub(super) fn count(&mut self, data: &mut impl BufRead, most: u64) -> io::Result<u64> {
        self.state.reset(false);
        let mut scratch = vec![0; SCRATCH];
        let mut count = 0;
        loop {
            let (length, is_end) = self.step(data, &mut scratch).map_err(|(_, error)| error)?;
            count += length as u64;
            if is_end || count >= most {
                return Ok(count.min(most));
            }
        }
    }

    /// Inflates what is there of the data into the room that is there: how much came out, and
    /// whether that is the end; or before what went wrong.
    fn step(
        &mut self,
        data: &mut impl BufRead,
        room: &mut [u8],
    ) -> Result<(usize, bool), (usize, io::Error)> {
        let input = data.fill_buf().map_err(|error| (0, error))?;
        let is_last = input.is_empty();
        let (taken, given) = (self.state.total_in(), self.state.total_out());
        let status = self.state.decompress(input, room, FlushDecompress::None);
        let taken = (self.state.total_in() - taken) as usize;
        let given = (self.state.total_out() - given) as usize;
        data.consume(taken);
        match status {
            Ok(Status::StreamEnd) => Ok((given, true)),
            Ok(_) if is_last && given == 0 => Err((0, io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => Ok((given, false)),
            Err(_) => Err((given, io::ErrorKind::InvalidData.into())),
        }
    }
}
