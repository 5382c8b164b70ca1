// SPDX-License-Identifier: Apache-2.0
//! Events between the two stages of decoding: each is read by itself, ahead of the connections that it belongs to.

use super::event::{Event, Field};
use super::events::{Decoder, Read};
use super::unread::Unread;
use crate::json::Reader;
use std::ops::Range;

/// Text and events of a stretch at most where another thread follows: with much less the threads would wait for one
/// another.
const STRETCH_BYTES: usize = 1 << 16;
const STRETCH_EVENTS: usize = 1 << 10;
/// An event grows to many times its text. A longer one's memory is not used again, and the longest are read only when
/// their turn has come.
const LONG_BYTES: usize = 1 << 12;

/// Reads events one by one, each for itself.
pub(super) struct Events {
    fields: Vec<Field>,
    /// Counts over all of them.
    pub(super) unread: Unread,
    stretch_bytes: usize,
}

/// Events on their way to the second stage, which makes rows of them.
#[derive(Default)]
pub(super) struct Stretch {
    /// The texts of its events, one after the other.
    text: Vec<u8>,
    /// The events that have been read, and behind them memory to be used again.
    events: Vec<(Event, Option<Outcome>)>,
    count: usize,
    /// Records that were left out.
    pub(super) too_long: usize,
}

/// Result of reading a record.
struct Outcome {
    /// Range in which it stands.
    place: Range<usize>,
    /// The event, and whether nothing stands behind it; `None` where it is still to be read.
    read: Option<(Read, bool)>,
    /// True if the record has been written whole.
    whole: bool,
}

impl Events {
    /// Stretches are as long as is good for so many threads.
    pub(super) fn new(fields: Vec<Field>, threads: usize) -> Self {
        Self {
            fields,
            unread: Unread::default(),
            // What the same thread takes next stays in its nearest cache.
            stretch_bytes: match threads {
                0 | 1 => LONG_BYTES,
                _ => STRETCH_BYTES,
            },
        }
    }

    /// True if a stretch should be handed on.
    pub(super) fn is_enough(&self, stretch: &Stretch) -> bool {
        stretch.text.len() >= self.stretch_bytes || stretch.count >= STRETCH_EVENTS
    }

    /// Read the event of a record.
    pub(super) fn read(&mut self, stretch: &mut Stretch, text: &[u8], whole: bool) {
        if stretch.count == stretch.events.len() {
            stretch.events.push(Default::default());
        }
        let Some((event, outcome)) = stretch.events.get_mut(stretch.count) else {
            return;
        };
        let start = stretch.text.len();
        stretch.text.extend_from_slice(text);
        let read = (text.len() <= STRETCH_BYTES).then(|| {
            let mut reader = Reader::new(text);
            // All events of the file are counted together.
            std::mem::swap(&mut event.store.unread, &mut self.unread);
            let read = Read::new(&mut reader, event, &self.fields);
            std::mem::swap(&mut event.store.unread, &mut self.unread);
            (read, reader.at_end())
        });
        *outcome = Some(Outcome {
            place: start..stretch.text.len(),
            read,
            whole,
        });
        stretch.count += 1;
    }
}

impl Stretch {
    /// Hand all events on, and be empty again.
    pub(super) fn hand_on(&mut self, decoder: &mut Decoder<'_>) {
        let events = self.events.iter_mut().take(self.count);
        for (event, outcome) in events {
            let Some(outcome) = outcome.take() else {
                continue;
            };
            let text = self.text.get(outcome.place).unwrap_or_default();
            let read = if let Some((read, at_end)) = outcome.read {
                decoder.take(event, text, &read).is_ok() && at_end
            } else {
                let mut reader = Reader::new(text);
                decoder.event(&mut reader).is_ok() && reader.at_end()
            };
            if text.len() > LONG_BYTES {
                *event = Event::default();
            }
            match (read, outcome.whole) {
                (true, _) => {}
                (false, true) => decoder.count_malformed(),
                (false, false) => decoder.count_cut(),
            }
        }
        for _ in 0..std::mem::take(&mut self.too_long) {
            decoder.count_too_long();
        }
        if self.text.len() > 2 * STRETCH_BYTES {
            self.text = Vec::new();
        }
        self.text.clear();
        self.count = 0;
    }
}
