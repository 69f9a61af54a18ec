//! Inflating, into room that grows with what really comes out.

use flate2::{Decompress, DecompressError, FlushDecompress, Status};
use std::io::{self, BufRead};

/// How many times its size XML is expected to inflate to at most, when room is made for it by the
/// size that is declared. Styles, which repeat themselves most, reach thirty.
const EXPECTED_RATIO: usize = 32;
/// Room that is made at least, and what is counted without being kept is inflated into.
const LEAST: usize = 4 * 1024;
const SCRATCH: usize = 64 * 1024;
/// Room beyond what comes out: the inflater's fast loop stops so far before the end of the room.
pub(in crate::ooxml) const SLACK: usize = 512;

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

    /// Inflates up to `most` bytes, of which so many are declared. What came out before an error
    /// stands there as well.
    pub(super) fn read(
        &mut self,
        data: &mut impl BufRead,
        declared: u64,
        most: u64,
        bytes: &mut Vec<u8>,
    ) -> io::Result<()> {
        self.state.reset(false);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let likely = data.fill_buf()?.len().saturating_mul(EXPECTED_RATIO);
        let declared = usize::try_from(declared).unwrap_or(usize::MAX);
        let mut room = declared.min(likely).clamp(LEAST.min(most), most);
        let result = loop {
            bytes.reserve_exact((room + SLACK).saturating_sub(bytes.len()));
            // What came out before something went wrong stands there.
            let step = self.step(data, |state, input| {
                state.decompress_vec(input, bytes, FlushDecompress::None)
            });
            match step {
                Ok(is_end) if is_end || bytes.len() >= most => break Ok(()),
                Ok(_) => {}
                // It stands behind what was asked for.
                Err(_) if bytes.len() >= most => break Ok(()),
                Err(error) => break Err(error),
            }
            if bytes.len() >= room {
                room = bytes.len().saturating_mul(2).min(most);
            }
        };
        bytes.truncate(most);
        result
    }

    /// Counts what comes out, up to `most` bytes.
    pub(super) fn count(&mut self, data: &mut impl BufRead, most: u64) -> io::Result<u64> {
        self.state.reset(false);
        let mut scratch = vec![0; SCRATCH];
        loop {
            let is_end = self.step(data, |state, input| {
                state.decompress(input, &mut scratch, FlushDecompress::None)
            })?;
            let count = self.state.total_out();
            if is_end || count >= most {
                return Ok(count.min(most));
            }
        }
    }

    /// Inflates what is there of the data, and says whether that is the end.
    fn step(
        &mut self,
        data: &mut impl BufRead,
        inflate: impl FnOnce(&mut Decompress, &[u8]) -> Result<Status, DecompressError>,
    ) -> io::Result<bool> {
        let input = data.fill_buf()?;
        let is_last = input.is_empty();
        let (taken, given) = (self.state.total_in(), self.state.total_out());
        let status = inflate(&mut self.state, input);
        data.consume((self.state.total_in() - taken) as usize);
        match status {
            Ok(Status::StreamEnd) => Ok(true),
            Ok(_) if is_last && self.state.total_out() == given => {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            Ok(_) => Ok(false),
            Err(_) => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
