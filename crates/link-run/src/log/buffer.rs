// SPDX-License-Identifier: Apache-2.0
//! The bounded buffer between a direction, which never waits, and the disk, which may.

use std::sync::mpsc::{channel, Receiver, Sender};

/// Most that one chunk holds.
const CHUNK: usize = 1 << 20;
/// Chunks that exist, with their memory touched, before the first record.
const READY: usize = 6;

/// A stream of records: its number among those of both directions.
pub type StreamNumber = usize;

/// A chunk on its way to the writer, which gives it back to where it came from.
#[derive(Debug)]
pub struct Chunk {
    /// Stream that it belongs to.
    pub stream: StreamNumber,
    /// Whole records.
    pub bytes: Vec<u8>,
    /// Sender to where it is used again.
    pub home: Sender<Vec<u8>>,
}

impl Chunk {
    /// Has its memory used again.
    pub fn give_back(mut self) {
        self.bytes.clear();
        // The direction is gone only at the end.
        let _ = self.home.send(self.bytes);
    }
}

/// Collects records in chunks, which the writer's thread writes and gives back.
#[derive(Debug)]
pub struct Buffer {
    open: Vec<(StreamNumber, Vec<u8>)>,
    full: Sender<Chunk>,
    empty: Receiver<Vec<u8>>,
    home: Sender<Vec<u8>>,
    chunk: usize,
    ready: usize,
    chunks_left: usize,
}

impl Buffer {
    /// A buffer for these streams that never takes more than about `limit` bytes (but two chunks a stream at least).
    #[must_use]
    pub fn new(streams: &[StreamNumber], full: Sender<Chunk>, limit: usize) -> Self {
        let chunk = (limit / 16).clamp(128 << 10, CHUNK);
        let spare = (limit / chunk)
            .saturating_sub(streams.len())
            .max(streams.len());
        let ready = READY.min(spare);
        let (home, empty) = channel();
        Self {
            open: streams.iter().map(|&stream| (stream, Vec::new())).collect(),
            full,
            empty,
            home,
            chunk,
            ready,
            chunks_left: spare + streams.len() - ready,
        }
    }

    /// Makes the first chunks, with their memory touched: work for another thread.
    pub fn first_chunks(&self) -> impl FnOnce() + Send {
        let (home, chunk, ready) = (self.home.clone(), self.chunk, self.ready);
        move || {
            for _ in 0..ready {
                let mut touched = vec![1; chunk];
                touched.clear();
                // The direction is gone only at the end.
                let _ = home.send(touched);
            }
        }
    }

    /// Appends a record of at most `length` bytes to the stream opened as number `place`, unless there is no room: then
    /// it is lost and the answer is `false`.
    pub fn append(
        &mut self,
        place: usize,
        length: usize,
        record: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        let open = &self.open[place].1;
        if open.capacity() - open.len() < length && !self.next_chunk(place, length) {
            return false;
        }
        record(&mut self.open[place].1);
        true
    }

    /// Hands the stream's chunk to the writer and takes an empty one.
    fn next_chunk(&mut self, place: usize, length: usize) -> bool {
        let next = match self.empty.try_recv() {
            Ok(chunk) => chunk,
            Err(_) if self.chunks_left > 0 && length <= self.chunk => {
                self.chunks_left -= 1;
                Vec::with_capacity(self.chunk)
            }
            Err(_) => return false,
        };
        self.hand_over(place, next);
        true
    }

    fn hand_over(&mut self, place: usize, next: Vec<u8>) {
        let (stream, open) = &mut self.open[place];
        let bytes = std::mem::replace(open, next);
        if bytes.is_empty() {
            return;
        }
        // A writer that is gone has left its error behind, which is told at the end.
        let _ = self.full.send(Chunk {
            stream: *stream,
            bytes,
            home: self.home.clone(),
        });
    }

    /// Hands over what the stream has so far.
    pub fn flush(&mut self, place: usize) {
        self.hand_over(place, Vec::new());
    }

    /// Hands over all that is left.
    pub fn finish(mut self) {
        for place in 0..self.open.len() {
            self.flush(place);
        }
    }
}
