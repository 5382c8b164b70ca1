// SPDX-License-Identifier: Apache-2.0
//! The bytes that flow one way, put in order.

use std::collections::BTreeMap;

/// Most bytes that may wait behind a hole: more than a receive window is ever grown to.
const MAX_HELD_BYTES: usize = 1 << 25;

/// Cost of keeping one segment beside its bytes, about.
const ENTRY_BYTES: usize = 64;

/// Piece that comes next in the stream.
pub(super) enum Piece<'a> {
    Bytes(&'a [u8]),
    /// This many bytes are not in the capture.
    Missing(u64),
}

#[derive(Debug)]
struct Held {
    captured: Vec<u8>,
    /// Length on the wire.
    length: u64,
}

/// Puts segments in order.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The first byte that has not been handed on.
    next: u64,
    held: BTreeMap<u64, Held>,
    held_bytes: usize,
}

impl Stream {
    /// A stream whose first byte has the number `next`.
    pub(super) fn at(next: u64) -> Self {
        Self {
            next,
            ..Self::default()
        }
    }

    /// Take a segment of `length` bytes, of which `captured` is known; `acknowledged` is what the receiver has said to
    /// have.
    pub(super) fn push(
        &mut self,
        start: u64,
        captured: &[u8],
        length: u64,
        acknowledged: u64,
        take: &mut impl FnMut(Piece<'_>),
    ) {
        if start.saturating_add(length) <= self.next {
            return;
        }
        if start > self.next && start > acknowledged {
            self.hold(start, captured, length, take);
            return;
        }
        self.skip_to(start, take);
        self.hand_on(start, captured, length, take);
        self.drain(take);
    }

    /// The receiver has everything below `acknowledged`: what is missing there is missing from the capture.
    pub(super) fn acknowledge(&mut self, acknowledged: u64, take: &mut impl FnMut(Piece<'_>)) {
        while let Some(first) = self.first().filter(|&first| first <= acknowledged) {
            self.skip_to(first, take);
            self.drain(take);
        }
    }

    /// Memory that waits behind holes.
    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes + self.held.len() * ENTRY_BYTES
    }

    /// The first byte that has not been handed on.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Nothing more can be made of it.
    pub(super) fn forget(&mut self) {
        self.held.clear();
        self.held_bytes = 0;
    }

    fn first(&self) -> Option<u64> {
        self.held.first_key_value().map(|(&start, _)| start)
    }

    fn hold(&mut self, start: u64, captured: &[u8], length: u64, take: &mut impl FnMut(Piece<'_>)) {
        let longer = |held: &Held| held.captured.len() < captured.len() || held.length < length;
        if self.held.get(&start).is_none_or(longer) {
            let held = Held {
                captured: captured.to_vec(),
                length,
            };
            let before = self.held.insert(start, held);
            let before = before.map_or(0, |held| held.captured.len());
            self.held_bytes = (self.held_bytes + captured.len()).saturating_sub(before);
        }
        while self.held_bytes() > MAX_HELD_BYTES {
            let Some(first) = self.first() else { return };
            self.skip_to(first, take);
            self.drain(take);
        }
    }

    fn skip_to(&mut self, start: u64, take: &mut impl FnMut(Piece<'_>)) {
        if start > self.next {
            take(Piece::Missing(start - self.next));
            self.next = start;
        }
    }

    fn hand_on(
        &mut self,
        start: u64,
        captured: &[u8],
        length: u64,
        take: &mut impl FnMut(Piece<'_>),
    ) {
        let known = usize::try_from(self.next.saturating_sub(start))
            .ok()
            .and_then(|skip| captured.get(skip..))
            .filter(|bytes| !bytes.is_empty());
        if let Some(bytes) = known {
            take(Piece::Bytes(bytes));
            self.next += bytes.len() as u64;
        }
        self.skip_to(start.saturating_add(length), take);
    }

    fn drain(&mut self, take: &mut impl FnMut(Piece<'_>)) {
        while let Some(entry) = self.held.first_entry() {
            if *entry.key() > self.next {
                return;
            }
            let (start, held) = entry.remove_entry();
            self.held_bytes = self.held_bytes.saturating_sub(held.captured.len());
            self.hand_on(start, &held.captured, held.length, take);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(
        stream: &mut Stream,
        start: u64,
        bytes: &[u8],
        length: u64,
        acknowledged: u64,
    ) -> String {
        let mut out = String::new();
        stream.push(
            start,
            bytes,
            length,
            acknowledged,
            &mut |piece| match piece {
                Piece::Bytes(bytes) => out += std::str::from_utf8(bytes).unwrap(),
                Piece::Missing(count) => out = format!("{out}<{count}>"),
            },
        );
        out
    }

    /// Overlaps, duplicates and holes give every byte once and in order.
    #[test]
    fn bytes_come_once_and_in_order() {
        let mut stream = Stream::at(1);
        assert_eq!(pushed(&mut stream, 4, b"def", 3, 0), "");
        assert_eq!(pushed(&mut stream, 9, b"i", 1, 0), "");
        assert_eq!(pushed(&mut stream, 1, b"abcd", 4, 0), "abcdef");
        assert_eq!(pushed(&mut stream, 1, b"abc", 3, 0), "");
        assert_eq!(pushed(&mut stream, 5, b"efghi", 5, 0), "ghi");
        assert_eq!(pushed(&mut stream, 10, b"j", 1, 0), "j");
    }

    /// Bytes that the receiver acknowledged and that were not captured are said to be missing, as
    /// are those that were cut off.
    #[test]
    fn what_was_not_captured_is_said() {
        let mut stream = Stream::at(1);
        assert_eq!(pushed(&mut stream, 3, b"cd", 2, 3), "<2>cd");
        assert_eq!(pushed(&mut stream, 5, b"e", 4, 5), "e<3>");
        assert_eq!(pushed(&mut stream, 12, b"l", 1, 5), "");
        let mut out = Vec::new();
        stream.acknowledge(13, &mut |piece| {
            out.push(match piece {
                Piece::Bytes(bytes) => bytes.len() as u64,
                Piece::Missing(count) => 1000 + count,
            });
        });
        assert_eq!(out, [1003, 1]);
    }
}
