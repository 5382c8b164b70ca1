// SPDX-License-Identifier: Apache-2.0
//! Field sections, and those that wait for the dynamic table (RFC 9204 section 2.1.2).

use super::stream::Row;
use crate::http::both::Both;
use crate::http::fields::Fields;
use crate::http::qpack::{Decoder, Prefix};
use crate::Direction;

/// Sections that wait at once; endpoints allow about a hundred.
const MAX_WAITING: usize = 1000;
const MAX_WAITING_BYTES: usize = 4 << 20;

/// Outcome of a section.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    /// The section's fields are in [`Sections::fields`].
    Decoded,
    /// The section refers to what has not been inserted yet.
    Waits(Option<Prefix>),
    /// The section cannot be decoded, now or later.
    Failed,
}

/// A section that waits, with the frame that brought it.
#[derive(Debug)]
pub(super) struct Waiting {
    pub row: Row,
    /// Number of frames that stood before it on its stream.
    pub frames_before: u64,
    /// The push that a `PUSH_PROMISE` announces.
    pub promised: Option<u64>,
    pub section: Vec<u8>,
    pub prefix: Option<Prefix>,
}

/// Both directions' dynamic tables, by the way of the field sections.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub decoders: Both<Decoder>,
    pub fields: Fields,
    waiting: Vec<Waiting>,
}

impl Sections {
    /// Decode a section that arrives now, or one that has waited with what its prefix said then.
    pub(super) fn read(
        &mut self,
        direction: Direction,
        section: &[u8],
        known: Option<Prefix>,
    ) -> Outcome {
        let decoder = self.decoders.of(direction);
        let prefix = match known {
            Some(prefix) => prefix,
            None => match decoder.prefix(section) {
                Ok(Some(prefix)) => prefix,
                Ok(None) => return Outcome::Waits(None),
                Err(_) => return Outcome::Failed,
            },
        };
        if prefix.required_insert_count > decoder.inserted() {
            return Outcome::Waits(Some(prefix));
        }
        self.fields.clear();
        match decoder.decode(section, prefix, &mut self.fields) {
            Ok(()) => Outcome::Decoded,
            Err(_) => Outcome::Failed,
        }
    }

    /// True if one more section may wait.
    pub(super) fn has_room(&self, section: &[u8]) -> bool {
        let bytes: usize = self.waiting.iter().map(|one| one.section.len()).sum();
        self.waiting.len() < MAX_WAITING && bytes + section.len() <= MAX_WAITING_BYTES
    }

    /// Keep a section for later.
    pub(super) fn wait(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
    }

    /// Take a section out that need not wait any longer.
    pub(super) fn next_ready(&mut self, direction: Direction) -> Option<(Waiting, Outcome)> {
        let mut waiting = std::mem::take(&mut self.waiting);
        let found = waiting.iter().enumerate().find_map(|(at, one)| {
            if one.row.direction != direction {
                return None;
            }
            match self.read(direction, &one.section, one.prefix) {
                Outcome::Waits(_) => None,
                outcome => Some((at, outcome)),
            }
        });
        let ready = found.map(|(at, outcome)| (waiting.remove(at), outcome));
        self.waiting = waiting;
        ready
    }

    /// All that still wait; there will be no more inserts.
    pub(super) fn take_waiting(&mut self) -> Vec<Waiting> {
        std::mem::take(&mut self.waiting)
    }
}
