// SPDX-License-Identifier: Apache-2.0
//! Bytes that come in pieces, again and out of order, put back in order.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Most bytes that may wait behind gaps, in all streams of a capture together.
const MAX_WAITING_BYTES: usize = 48 << 20;
/// Cost of a piece beside its bytes.
const PIECE_BYTES: usize = 64;

/// Counts what waits in all reassemblies that share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting(Rc<Cell<usize>>);

impl Waiting {
    fn take(&self, bytes: usize) -> bool {
        let sum = self.0.get().saturating_add(bytes);
        let fits = sum <= MAX_WAITING_BYTES;
        if fits {
            self.0.set(sum);
        }
        fits
    }

    fn give_back(&self, bytes: usize) {
        self.0.set(self.0.get().saturating_sub(bytes));
    }
}

/// One way of one stream.
#[derive(Debug)]
pub(super) struct Reassembly {
    /// Everything below has been delivered.
    next: u64,
    pieces: BTreeMap<u64, Vec<u8>>,
    waiting: Waiting,
    final_size: Option<u64>,
    /// Bytes that found no room.
    lost_bytes: u64,
}

impl Reassembly {
    pub(super) fn new(waiting: &Waiting) -> Self {
        Self {
            next: 0,
            pieces: BTreeMap::new(),
            waiting: waiting.clone(),
            final_size: None,
            lost_bytes: 0,
        }
    }

    /// Take a piece, and deliver what is in order now; false if there is no room for it.
    pub(super) fn insert(
        &mut self,
        offset: u64,
        data: &[u8],
        mut deliver: impl FnMut(&[u8]),
    ) -> bool {
        if offset > self.next {
            return self.keep(offset, data);
        }
        self.deliver(offset, data, &mut deliver);
        while let Some(piece) = self.pieces.first_entry() {
            if *piece.key() > self.next {
                break;
            }
            let (offset, data) = piece.remove_entry();
            self.waiting.give_back(data.len() + PIECE_BYTES);
            self.deliver(offset, &data, &mut deliver);
        }
        true
    }

    fn deliver(&mut self, offset: u64, data: &[u8], deliver: &mut impl FnMut(&[u8])) {
        let known = usize::try_from(self.next.saturating_sub(offset)).unwrap_or(usize::MAX);
        if let Some(fresh) = data.get(known..).filter(|fresh| !fresh.is_empty()) {
            deliver(fresh);
            self.next = self.next.saturating_add(fresh.len() as u64);
        }
    }

    fn keep(&mut self, offset: u64, data: &[u8]) -> bool {
        if data.is_empty()
            || self
                .pieces
                .get(&offset)
                .is_some_and(|known| known.len() >= data.len())
        {
            return true;
        }
        if !self.waiting.take(data.len() + PIECE_BYTES) {
            self.lost_bytes = self.lost_bytes.saturating_add(data.len() as u64);
            return false;
        }
        if let Some(shorter) = self.pieces.insert(offset, data.to_vec()) {
            self.waiting.give_back(shorter.len() + PIECE_BYTES);
        }
        true
    }

    /// The stream ends at `size`.
    pub(super) fn end_at(&mut self, size: u64) {
        self.final_size.get_or_insert(size);
    }

    /// True if everything up to its end has been delivered.
    pub(super) fn is_complete(&self) -> bool {
        self.final_size.is_some_and(|size| self.next >= size)
    }

    /// Bytes so far, each offset once.
    pub(super) fn bytes(&self) -> u64 {
        let mut end = self.next;
        let mut sum = self.next.saturating_add(self.lost_bytes);
        for (offset, data) in &self.pieces {
            let last = offset.saturating_add(data.len() as u64);
            sum = sum.saturating_add(last.saturating_sub(end.max(*offset)));
            end = end.max(last);
        }
        sum
    }
}

impl Drop for Reassembly {
    fn drop(&mut self) {
        let held = self.pieces.values().map(|data| data.len() + PIECE_BYTES);
        self.waiting.give_back(held.sum());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of "0123456789" in any order, with overlaps: what is delivered after each.
    #[test]
    fn pieces_are_put_in_order() {
        let waiting = Waiting::default();
        let mut stream = Reassembly::new(&waiting);
        let mut text = Vec::new();
        for (range, expected) in [
            (4..6, ""),
            (2..5, ""),
            (8..10, ""),
            (0..3, "012345"),
            (0..3, "012345"),
            (5..9, "0123456789"),
        ] {
            let piece = &b"0123456789"[range.clone()];
            assert!(stream.insert(range.start as u64, piece, |bytes| text
                .extend_from_slice(bytes)));
            assert_eq!(text, expected.as_bytes());
        }
        assert_eq!((stream.bytes(), waiting.0.get()), (10, 0));
        stream.end_at(10);
        assert!(stream.is_complete());
    }

    #[test]
    fn what_waits_is_bounded_and_given_back() {
        let waiting = Waiting::default();
        let mut stream = Reassembly::new(&waiting);
        let data = vec![0; 1 << 20];
        let kept = (1..100_u64)
            .filter(|n| stream.insert(n << 20, &data, |_| ()))
            .count();
        assert_eq!(kept, 47);
        assert_eq!(stream.bytes(), 99 << 20);
        drop(stream);
        assert_eq!(waiting.0.get(), 0);
    }

    #[test]
    fn offsets_at_the_end_of_the_range_are_tolerated() {
        let mut stream = Reassembly::new(&Waiting::default());
        assert!(stream.insert(u64::MAX, b"ab", |_| ()));
        assert!(stream.insert(0, b"ab", |_| ()));
        assert_eq!(stream.bytes(), 2);
    }
}
