// SPDX-License-Identifier: Apache-2.0
//! Streams, put together from their STREAM frames: each offset counts once.

use super::losses::Who;
use crate::tables::{Stream as Row, Tables};
use crate::Severity;
use std::collections::HashMap;

/// Streams followed at a time on one connection.
const MAX_STREAMS: usize = 1 << 14;
/// Separate parts that one stream is kept in while parts between them are missing.
const MAX_PARTS: usize = 1 << 10;

/// One direction of a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Half {
    /// Everything before it has been seen.
    contiguous: u64,
    /// Parts that have been seen behind that, in order, not touching.
    parts: Vec<(u64, u64)>,
    bytes: u64,
    unknown_length: bool,
    pub first_ns: Option<i64>,
    last_ns: Option<i64>,
    final_size: Option<u64>,
    end: Option<&'static str>,
}

impl Half {
    /// False if there are too many parts to follow.
    fn data(&mut self, offset: u64, length: Option<u64>, fin: bool, time_ns: i64) -> bool {
        self.first_ns.get_or_insert(time_ns);
        self.unknown_length |= length.is_none();
        let end = offset.saturating_add(length.unwrap_or(0));
        if fin {
            self.final_size = Some(end);
            self.end.get_or_insert("fin");
        }
        let before = self.bytes;
        let mut followed = true;
        if offset <= self.contiguous {
            if end > self.contiguous {
                self.bytes += end - self.contiguous;
                self.contiguous = end;
                self.absorb();
            }
        } else {
            followed = self.insert(offset, end);
        }
        if self.bytes > before || (fin && length == Some(0) && self.last_ns.is_none()) {
            self.last_ns = Some(time_ns);
        }
        followed
    }

    /// Take in the parts that the contiguous one has reached.
    fn absorb(&mut self) {
        let reached = self.parts.partition_point(|part| part.0 <= self.contiguous);
        for (start, end) in self.parts.drain(..reached) {
            let known = self.contiguous.min(end) - start;
            self.bytes -= known;
            self.contiguous = self.contiguous.max(end);
        }
    }

    fn insert(&mut self, start: u64, end: u64) -> bool {
        if start >= end {
            return true;
        }
        let from = self.parts.partition_point(|part| part.1 < start);
        let to = self.parts.partition_point(|part| part.0 <= end);
        let Some(touched) = self
            .parts
            .get(from..to)
            .filter(|touched| !touched.is_empty())
        else {
            if self.parts.len() == MAX_PARTS {
                return false;
            }
            self.bytes += end - start;
            self.parts.insert(from, (start, end));
            return true;
        };
        let known: u64 = touched.iter().map(|part| part.1 - part.0).sum();
        let whole = touched.iter().fold((start, end), |whole, part| {
            (whole.0.min(part.0), whole.1.max(part.1))
        });
        self.bytes += whole.1 - whole.0 - known;
        self.parts.splice(from..to, [whole]);
        true
    }

    fn bytes(&self) -> Option<u64> {
        (self.first_ns.is_some() && !self.unknown_length).then_some(self.bytes)
    }

    /// The instant at which its last byte came, with all before it; `None` while something is missing.
    pub(super) fn complete_ns(&self) -> Option<i64> {
        let complete = self.final_size.is_some_and(|size| size <= self.contiguous);
        self.last_ns.filter(|_| complete && !self.unknown_length)
    }
}

/// Both directions of a stream, by the sender: the vantage or its peer.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    pub sent: Half,
    pub received: Half,
    pub kind: Option<&'static str>,
}

/// The streams of one connection.
#[derive(Debug, Default)]
pub(super) struct Streams {
    list: Vec<(u64, Stream)>,
    by_id: HashMap<u64, usize>,
    /// Position of the latest frame's stream: the next is mostly of the same.
    latest: usize,
}

impl Streams {
    #[inline]
    fn stream(&mut self, id: u64, who: Who<'_>, tables: &mut Tables) -> &mut Stream {
        if self
            .list
            .get(self.latest)
            .is_none_or(|(latest, _)| *latest != id)
        {
            self.latest = self.find(id, who, tables);
        }
        &mut self.list[self.latest].1
    }

    fn find(&mut self, id: u64, who: Who<'_>, tables: &mut Tables) -> usize {
        if let Some(&at) = self.by_id.get(&id) {
            return at;
        }
        if self.list.len() >= MAX_STREAMS {
            tables.count(
                "streams_split",
                Severity::Notice,
                "more streams than can be followed at a time: one that goes on has several rows",
            );
            self.finish(who, tables);
        }
        self.by_id.insert(id, self.list.len());
        self.list.push((id, Stream::default()));
        self.list.len() - 1
    }

    /// Offset, length and FIN of a STREAM frame.
    pub(super) fn data(
        &mut self,
        (id, sent): (u64, bool),
        (offset, length, fin): (u64, Option<u64>, bool),
        time_ns: i64,
        who: Who<'_>,
        tables: &mut Tables,
    ) {
        let stream = self.stream(id, who, tables);
        let half = if sent {
            &mut stream.sent
        } else {
            &mut stream.received
        };
        if !half.data(offset, length, fin, time_ns) {
            tables.count(
                "stream_too_scattered",
                Severity::DataLoss,
                "a stream with more than 1024 gaps at a time: the bytes of some of its frames are not counted",
            );
        }
    }

    /// `RESET_STREAM` ends what its sender sends, `STOP_SENDING` what it receives.
    pub(super) fn end(
        &mut self,
        id: u64,
        sends: bool,
        how: &'static str,
        who: Who<'_>,
        tables: &mut Tables,
    ) {
        let stream = self.stream(id, who, tables);
        let half = if sends {
            &mut stream.sent
        } else {
            &mut stream.received
        };
        if how == "reset" || half.end.is_none() {
            half.end = Some(how);
        }
    }

    pub(super) fn kind(&mut self, id: u64, kind: &'static str, who: Who<'_>, tables: &mut Tables) {
        self.stream(id, who, tables).kind = Some(kind);
    }

    pub(super) fn get(&self, id: u64) -> Option<&Stream> {
        self.list
            .get(*self.by_id.get(&id)?)
            .map(|(_, stream)| stream)
    }

    /// Write what is known of them, in the order of their ids.
    pub(super) fn finish(&mut self, who: Who<'_>, tables: &mut Tables) {
        let mut streams = std::mem::take(&mut self.list);
        self.by_id.clear();
        self.latest = 0;
        streams.sort_unstable_by_key(|(id, _)| *id);
        for (id, stream) in streams {
            let Stream {
                sent,
                received,
                kind,
            } = stream;
            let Some(time_ns) = [sent.first_ns, received.first_ns]
                .into_iter()
                .flatten()
                .min()
            else {
                continue;
            };
            let (up, down) = if who.outbound == Some("down") {
                (received, sent)
            } else {
                (sent, received)
            };
            if who.outbound.is_none() {
                tables.count(
                    "streams_of_unknown_end",
                    Severity::Notice,
                    "the log's end is unknown: what it sent stands as if it were the client's",
                );
            }
            let kind = kind.or(Some(match id & 3 {
                0 => "request",
                1 => "push",
                _ => "unidirectional",
            }));
            tables.streams.push(Row {
                vantage: who.vantage,
                connection: Some(who.connection),
                time_ns,
                transport: "quic",
                stream_id: id,
                kind: kind.filter(|_| id & 3 != 1),
                up_bytes: up.bytes(),
                up_first_ns: up.first_ns,
                up_last_ns: up.last_ns,
                up_end: up.end,
                down_bytes: down.bytes(),
                down_first_ns: down.first_ns,
                down_last_ns: down.last_ns,
                down_end: down.end,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_offset_counts_once_in_any_order() {
        let mut half = Half::default();
        for (at, (offset, length)) in [
            (10, 10),
            (0, 5),
            (30, 5),
            (15, 10),
            (0, 12),
            (25, 5),
            (0, 35),
        ]
        .into_iter()
        .enumerate()
        {
            assert!(half.data(offset, Some(length), false, i64::try_from(at).unwrap()));
        }
        assert_eq!(
            (half.bytes(), half.contiguous, half.last_ns),
            (Some(35), 35, Some(5))
        );
        assert!(half.parts.is_empty());
    }

    #[test]
    fn a_stream_is_complete_when_nothing_is_missing() {
        let mut half = Half::default();
        half.data(5, Some(5), true, 1);
        assert_eq!((half.complete_ns(), half.end), (None, Some("fin")));
        half.data(0, Some(5), false, 2);
        assert_eq!(half.complete_ns(), Some(2));
    }

    #[test]
    fn gaps_are_bounded() {
        let mut half = Half::default();
        let followed = (1..=MAX_PARTS as u64 + 1).map(|at| half.data(at * 10, Some(1), false, 0));
        assert_eq!(followed.filter(|followed| !followed).count(), 1);
    }
}
