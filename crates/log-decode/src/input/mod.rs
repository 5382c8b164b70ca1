// SPDX-License-Identifier: Apache-2.0
//! Where a decoder reads from: a file that can be opened again, as often as a format needs passes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

const READ_BUFFER_BYTES: usize = 1 << 18;

/// A log, plain or compressed.
#[derive(Clone, Debug)]
pub struct Input {
    from: From,
    stop: Arc<AtomicBool>,
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
        Self {
            from: From::File(path),
            stop: Arc::default(),
        }
    }

    /// What stands in memory.
    #[must_use]
    pub fn bytes(bytes: &[u8]) -> Self {
        Self {
            from: From::Bytes(bytes.into()),
            stop: Arc::default(),
        }
    }

    /// Setting it makes every further read an error, for whoever has no more use for the rows.
    #[must_use]
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Read it from its start.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(&self) -> io::Result<Box<dyn BufRead>> {
        let raw: Box<dyn Read> = match &self.from {
            From::File(path) => Box::new(File::open(path)?),
            From::Bytes(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        };
        let stoppable = Stoppable {
            inner: raw,
            stop: self.stop(),
        };
        Ok(Box::new(BufReader::with_capacity(
            READ_BUFFER_BYTES,
            stoppable,
        )))
    }
}

struct Stoppable {
    inner: Box<dyn Read>,
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
