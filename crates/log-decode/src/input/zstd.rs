// SPDX-License-Identifier: Apache-2.0
//! The frames of a Zstandard file (RFC 8878), one after the other.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, ErrorKind, Read};

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Magic number of a skippable frame; the low half of the first byte is free.
const SKIPPABLE: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];
/// A last, empty block and a checksum that is not compared: they end a frame that was cut.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// A reader of all frames.
pub(super) struct Frames<R> {
    inner: R,
    decoder: FrameDecoder,
    /// Error after which no more can be decoded; what had been comes out first.
    broken: Option<ErrorKind>,
}

impl<R: BufRead> Frames<R> {
    pub(super) fn start_with(head: &[u8]) -> bool {
        let skippable = head
            .first_chunk::<4>()
            .is_some_and(|magic| [magic[0] & 0xf0, magic[1], magic[2], magic[3]] == SKIPPABLE);
        head.starts_with(&MAGIC) || skippable
    }

    pub(super) fn new(inner: R) -> Self {
        Self {
            inner,
            decoder: FrameDecoder::new(),
            broken: None,
        }
    }

    pub(super) fn inner(&self) -> &R {
        &self.inner
    }

    /// False at the end of the file.
    fn start_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.inner.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.init(&mut self.inner) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.inner).take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(_) if self.inner.fill_buf()?.is_empty() => {
                    return Err(ErrorKind::UnexpectedEof.into())
                }
                Err(_) => return Err(ErrorKind::InvalidData.into()),
            }
        }
    }

    fn decode(&mut self, wanted: usize) -> io::Result<()> {
        while self.decoder.can_collect() < wanted && !self.decoder.is_finished() {
            let strategy = BlockDecodingStrategy::UptoBlocks(1);
            if self
                .decoder
                .decode_blocks(&mut self.inner, strategy)
                .is_err()
            {
                let cut = self.inner.fill_buf()?.is_empty();
                self.broken = Some(if cut {
                    ErrorKind::UnexpectedEof
                } else {
                    ErrorKind::InvalidData
                });
                // The decoder keeps a window back until a frame ends.
                let ended = self
                    .decoder
                    .decode_blocks(LAST_BLOCK.as_slice(), BlockDecodingStrategy::All);
                return ended.map(drop).map_err(|_| ErrorKind::InvalidData.into());
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.broken.is_none() {
                self.decode(buffer.len())?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            if let Some(kind) = self.broken {
                return Err(kind.into());
            }
            if !self.start_frame()? {
                return Ok(0);
            }
        }
    }
}
