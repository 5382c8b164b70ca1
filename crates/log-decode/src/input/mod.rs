// SPDX-License-Identifier: Apache-2.0
//! Input of a decoder: a file that can be opened again, as often as a format needs passes.
//!
//! gzip (RFC 1952) and Zstandard (RFC 8878) are recognised by their magic number and unpacked while they are read, one
//! layer of them: every format may come compressed. Text may be UTF-16, or have a byte order mark.

mod encoding;
mod unpacking;
mod zstd;

use crate::{Severity, Stats};
use encoding::{Encoding, Utf16, MARK_BYTES};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use unpacking::{Compression, Trouble, Unpacking};

/// A reader that takes at least that much at a time reads from the file itself.
const READ_BUFFER_BYTES: usize = 1 << 15;

/// A log, plain or compressed.
#[derive(Clone, Debug)]
pub struct Input {
    from: From,
    stop: Arc<AtomicBool>,
    trouble: Arc<Mutex<Option<Trouble>>>,
}

#[derive(Clone, Debug)]
enum From {
    File(PathBuf),
    Bytes(Arc<[u8]>),
}

impl Input {
    /// A file.
    #[must_use]
    pub fn file(path: PathBuf) -> Self {
        Self::new(From::File(path))
    }

    /// Input of bytes in memory.
    #[must_use]
    pub fn bytes(bytes: &[u8]) -> Self {
        Self::new(From::Bytes(bytes.into()))
    }

    fn new(from: From) -> Self {
        Self {
            from,
            stop: Arc::default(),
            trouble: Arc::default(),
        }
    }

    /// Setting it makes every further read an error: there is no more use for the rows.
    #[must_use]
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Read it from its start, unpacked, and as UTF-8 where it is text.
    ///
    /// What cannot be unpacked to its end merely ends there; [`Input::count_trouble`] says so afterwards.
    ///
    /// # Errors
    /// If the file cannot be opened or read.
    pub fn open(&self) -> io::Result<Box<dyn BufRead + Send>> {
        let raw: Box<dyn Read + Send> = match &self.from {
            From::File(path) => Box::new(File::open(path)?),
            From::Bytes(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        };
        let mut raw = buffered(Stoppable {
            inner: raw,
            stop: self.stop(),
        });
        let mut plain: Box<dyn BufRead + Send> = match Compression::of(raw.fill_buf()?) {
            None => Box::new(raw),
            Some(compression) => {
                let trouble = Arc::clone(&self.trouble);
                Box::new(buffered(Unpacking::new(compression, raw, trouble)))
            }
        };
        Ok(match Encoding::of(plain.fill_buf()?) {
            None => plain,
            Some(Encoding::Marked) => {
                plain.consume(MARK_BYTES);
                plain
            }
            Some(Encoding::Utf16(order)) => Box::new(buffered(Utf16::new(plain, order))),
        })
    }

    /// The first bytes, unpacked: up to `length`, fewer if there are no more.
    ///
    /// # Errors
    /// If the file cannot be opened or read.
    pub fn head(&self, length: usize) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        self.open()?.take(length as u64).read_to_end(&mut head)?;
        Ok(head)
    }

    /// Count what kept the unpacking from its end.
    pub fn count_trouble(&self, stats: &mut Stats) {
        let trouble = self.trouble.lock().ok().and_then(|mut found| found.take());
        if let Some(trouble) = trouble {
            let (name, severity, advice) = match trouble {
                Trouble::Truncated => (
                    "truncated_compression",
                    Severity::DataLoss,
                    "the compressed file ends too early: what came out of it up to there was decoded",
                ),
                Trouble::Corrupt => (
                    "corrupt_compression",
                    Severity::DataLoss,
                    "the compressed file is damaged: what came out of it before that place was decoded",
                ),
                Trouble::Bomb => (
                    "compression_bomb",
                    Severity::Error,
                    "it unpacks to more than 300 times its size: reading stopped; unpack it yourself if you trust it",
                ),
            };
            stats.count(name, severity, advice);
        }
    }
}

fn buffered<R: Read>(inner: R) -> BufReader<R> {
    BufReader::with_capacity(READ_BUFFER_BYTES, inner)
}

struct Stoppable {
    inner: Box<dyn Read + Send>,
    stop: Arc<AtomicBool>,
}

impl Read for Stoppable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("reading was stopped"));
        }
        self.inner.read(buffer)
    }
}

#[cfg(test)]
mod tests;
