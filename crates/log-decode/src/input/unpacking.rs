// SPDX-License-Identifier: Apache-2.0
//! Unpacks while it is read, up to where the compressed bytes make sense, and no more than a log would unpack to.

use super::zstd::Frames;
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::{Arc, Mutex};

/// Logs shrink to a tenth or a fiftieth; what grows more than this, and beyond [`BOMB_BYTES`], is no log.
const BOMB_RATIO: u64 = 300;
const BOMB_BYTES: u64 = 64 << 20;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Compression of a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// Compression of a file that starts with `head`, by its magic number.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(&GZIP_MAGIC) {
            Some(Self::Gzip)
        } else {
            Frames::<io::Empty>::start_with(head).then_some(Self::Zstd)
        }
    }
}

/// Trouble that kept the unpacking from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    Truncated,
    Corrupt,
    Bomb,
}

/// Compressed bytes, with a count of those that have been read.
pub(super) struct Counted<R> {
    inner: R,
    taken: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.taken += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount as u64;
        self.inner.consume(amount);
    }
}

enum Decoder<R> {
    /// One member; `None` between two of them.
    Gzip(Option<GzDecoder<Counted<R>>>),
    Zstd(Box<Frames<Counted<R>>>),
}

/// A reader of what `R` holds compressed.
pub(super) struct Unpacking<R> {
    decoder: Decoder<R>,
    given: u64,
    ended: bool,
    trouble: Arc<Mutex<Option<Trouble>>>,
}

impl<R: BufRead> Unpacking<R> {
    pub(super) fn new(
        compression: Compression,
        inner: R,
        trouble: Arc<Mutex<Option<Trouble>>>,
    ) -> Self {
        let inner = Counted { inner, taken: 0 };
        Self {
            decoder: match compression {
                Compression::Gzip => Decoder::Gzip(Some(GzDecoder::new(inner))),
                Compression::Zstd => Decoder::Zstd(Box::new(Frames::new(inner))),
            },
            given: 0,
            ended: false,
            trouble,
        }
    }

    fn taken(&self) -> u64 {
        match &self.decoder {
            Decoder::Gzip(member) => member.as_ref().map_or(0, |member| member.get_ref().taken),
            Decoder::Zstd(frames) => frames.inner().taken,
        }
    }

    fn end(&mut self, trouble: Trouble) -> usize {
        self.ended = true;
        if let Ok(mut found) = self.trouble.lock() {
            *found = Some(trouble);
        }
        0
    }

    fn read_next(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.decoder {
            Decoder::Gzip(slot) => loop {
                let Some(member) = slot else {
                    return Ok(0);
                };
                let read = member.read(buffer)?;
                if read > 0 {
                    return Ok(read);
                }
                // A member has ended: what follows is another, or padding with zeros, as gzip has it.
                let Some(mut rest) = slot.take().map(GzDecoder::into_inner) else {
                    return Ok(0);
                };
                if rest.fill_buf()?.first() == Some(&GZIP_MAGIC[0]) {
                    *slot = Some(GzDecoder::new(rest));
                } else if !only_zeros(&mut rest)? {
                    return Err(ErrorKind::InvalidData.into());
                }
            },
            Decoder::Zstd(frames) => frames.read(buffer),
        }
    }
}

/// True if nothing but zeros is left.
fn only_zeros(rest: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let left = rest.fill_buf()?;
        if left.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        let length = left.len();
        if length == 0 {
            return Ok(true);
        }
        rest.consume(length);
    }
}

impl<R: BufRead> Read for Unpacking<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        match self.read_next(buffer) {
            Ok(0) => {
                self.ended = true;
                Ok(0)
            }
            Ok(read) => {
                self.given += read as u64;
                if self.given > BOMB_BYTES && self.given / BOMB_RATIO > self.taken() {
                    return Ok(self.end(Trouble::Bomb));
                }
                Ok(read)
            }
            Err(error) => match error.kind() {
                ErrorKind::UnexpectedEof => Ok(self.end(Trouble::Truncated)),
                ErrorKind::InvalidData | ErrorKind::InvalidInput => Ok(self.end(Trouble::Corrupt)),
                _ => Err(error),
            },
        }
    }
}
