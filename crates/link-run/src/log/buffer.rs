// SPDX-License-Identifier: Apache-2.0
//! The bounded buffer between the forwarder, which never waits, and the disk, which may.

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread::JoinHandle;

/// Most that one chunk holds.
const CHUNK: usize = 1 << 20;
/// Chunks that exist, with their memory touched, before the first record.
const READY: usize = 6;

/// A file's number within the buffer.
pub type FileNumber = usize;

/// Collects records in chunks, which a thread writes to the files and gives back.
#[derive(Debug)]
pub struct Buffer {
    open: Vec<Vec<u8>>,
    full: Sender<(FileNumber, Vec<u8>)>,
    empty: Receiver<Vec<u8>>,
    chunk: usize,
    chunks_left: usize,
    writer: JoinHandle<(Vec<File>, io::Result<()>)>,
}

impl Buffer {
    /// A buffer before `files`, which start with `headers`, that never takes more than about `limit` bytes (but two
    /// chunks a file at least).
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub fn new(files: Vec<File>, headers: Vec<Vec<u8>>, limit: usize) -> io::Result<Self> {
        let chunk = (limit / 16).clamp(128 << 10, CHUNK);
        let spare = (limit / chunk).saturating_sub(files.len()).max(files.len());
        let ready = READY.min(spare);
        let open = headers
            .into_iter()
            .map(|header| {
                let mut first = Vec::with_capacity(chunk.max(header.len()));
                first.extend_from_slice(&header);
                first
            })
            .collect();
        let (full, to_write) = channel();
        let (give_back, empty) = channel();
        let writer = std::thread::Builder::new()
            .name("log-writer".to_owned())
            .spawn(move || write_all(files, &to_write, &give_back, ready, chunk))?;
        Ok(Self {
            open,
            full,
            empty,
            chunk,
            chunks_left: spare - ready,
            writer,
        })
    }

    /// Appends a record of at most `length` bytes, unless there is no room: then it is lost and the answer is `false`.
    pub fn append(
        &mut self,
        file: FileNumber,
        length: usize,
        record: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        if self.open[file].capacity() - self.open[file].len() < length
            && !self.next_chunk(file, length)
        {
            return false;
        }
        record(&mut self.open[file]);
        true
    }

    /// Hands the file's chunk to the writer and takes an empty one.
    fn next_chunk(&mut self, file: FileNumber, length: usize) -> bool {
        let next = match self.empty.try_recv() {
            Ok(chunk) => chunk,
            Err(_) if self.chunks_left > 0 && length <= self.chunk => {
                self.chunks_left -= 1;
                Vec::with_capacity(self.chunk)
            }
            Err(_) => return false,
        };
        let filled = std::mem::replace(&mut self.open[file], next);
        // A writer that is gone has left its error behind, which `finish` tells.
        filled.is_empty() || self.full.send((file, filled)).is_ok()
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// The first error that a file gave.
    pub fn finish(self) -> io::Result<Vec<File>> {
        for (file, filled) in self.open.into_iter().enumerate() {
            // As above.
            let _ = self.full.send((file, filled));
        }
        drop(self.full);
        let (files, result) = self
            .writer
            .join()
            .map_err(|_| io::Error::other("the log writer crashed"))?;
        result.map(|()| files)
    }
}

/// The writer thread. After an error it keeps giving chunks back, so that the forwarder goes on.
fn write_all(
    mut files: Vec<File>,
    full: &Receiver<(FileNumber, Vec<u8>)>,
    give_back: &Sender<Vec<u8>>,
    ready: usize,
    chunk: usize,
) -> (Vec<File>, io::Result<()>) {
    for _ in 0..ready {
        let mut touched = vec![1; chunk];
        touched.clear();
        // The forwarder is gone only if the program ends.
        let _ = give_back.send(touched);
    }
    let mut result = Ok(());
    for (file, mut filled) in full {
        if result.is_ok() {
            result = files[file].write_all(&filled);
        }
        filled.clear();
        // As above.
        let _ = give_back.send(filled);
    }
    (files, result)
}
