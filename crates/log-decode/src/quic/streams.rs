// SPDX-License-Identifier: Apache-2.0
//! The streams of one connection: rows of the table `streams`, and their bytes in order for HTTP/3.

use super::hashing::HashMap;
use super::reassembly::{Reassembly, Waiting};
use super::rows::{Owner, Row};
use crate::http::h3;
use crate::tables::{Stream as StreamRow, Tables};
use crate::{Direction, Severity};
use std::collections::hash_map::Entry;
use std::collections::BTreeMap;

/// Streams that are open at a time in one connection.
const MAX_STREAMS: usize = 1 << 14;
/// Gaps that are kept in the numbers of streams that have ended.
const MAX_ENDED_RANGES: usize = 1 << 10;

struct Half {
    data: Reassembly,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    end: Option<&'static str>,
}

struct Stream {
    since_ns: i64,
    halves: [Half; 2],
}

pub(super) struct Streams {
    open: HashMap<u64, Box<Stream>>,
    ended: Ended,
    waiting: Waiting,
    /// The HTTP/3 connection, as long as it speaks HTTP/3 for all that is known.
    pub(super) http: Option<h3::Connection>,
}

impl Streams {
    pub(super) fn new(http: h3::Connection, waiting: &Waiting) -> Self {
        Self {
            open: HashMap::default(),
            ended: Ended::default(),
            waiting: waiting.clone(),
            http: Some(http),
        }
    }

    /// A STREAM frame.
    pub(super) fn data(
        &mut self,
        row: &Row<'_>,
        id: u64,
        (offset, fin): (u64, bool),
        data: &[u8],
        tables: &mut Tables,
    ) {
        let Some(stream) = open(&mut self.open, &self.ended, &self.waiting, id, row, tables) else {
            return;
        };
        let half = &mut stream.halves[row.way as usize];
        if half.end == Some("fin") {
            return;
        }
        if fin {
            half.data.end_at(offset.saturating_add(data.len() as u64));
        }
        if !data.is_empty() {
            half.first_ns.get_or_insert(row.time_ns);
        }
        let http = &mut self.http;
        let last_ns = &mut half.last_ns;
        let kept = half.data.insert(offset, data, |bytes| {
            *last_ns = Some(row.time_ns);
            if let Some(http) = http {
                http.stream_data(row.way, id, row.time_ns, bytes, false, tables);
            }
        });
        if !kept {
            tables.count(
                "stream_data_not_kept",
                Severity::DataLoss,
                "too much stream data waits for bytes that the capture lacks: HTTP in these streams ends early",
            );
        }
        if half.data.is_complete() {
            half.end = Some("fin");
            if let Some(http) = &mut self.http {
                http.stream_data(row.way, id, row.time_ns, &[], true, tables);
            }
            self.close_if_ended(id, row, tables);
        }
    }

    /// A `RESET_STREAM` frame.
    pub(super) fn reset(&mut self, row: &Row<'_>, id: u64, error_code: u64, tables: &mut Tables) {
        let Some(stream) = open(&mut self.open, &self.ended, &self.waiting, id, row, tables) else {
            return;
        };
        let half = &mut stream.halves[row.way as usize];
        if matches!(half.end, Some("fin" | "reset")) {
            return;
        }
        half.end = Some("reset");
        if let Some(http) = &mut self.http {
            http.reset(row.way, id, error_code, row.time_ns, tables);
        }
        self.close_if_ended(id, row, tables);
    }

    /// A `STOP_SENDING` frame: it is about the other way.
    pub(super) fn stop_sending(&mut self, row: &Row<'_>, id: u64, tables: &mut Tables) {
        if let Some(stream) = open(&mut self.open, &self.ended, &self.waiting, id, row, tables) {
            let half = &mut stream.halves[row.way.reverse() as usize];
            half.end.get_or_insert("stop_sending");
        }
    }

    fn close_if_ended(&mut self, id: u64, row: &Row<'_>, tables: &mut Tables) {
        let Some(stream) = self.open.get(&id) else {
            return;
        };
        let over = |direction| {
            matches!(stream.halves[direction as usize].end, Some("fin" | "reset"))
                || !is_used(id, direction)
        };
        if over(Direction::Up) && over(Direction::Down) {
            push(id, stream, self.http.as_ref(), row.owner(), tables);
            self.open.remove(&id);
            self.ended.insert(id);
        }
    }

    /// The capture ends.
    pub(super) fn finish(&mut self, owner: Owner<'_>, tables: &mut Tables) {
        let mut left: Vec<_> = self.open.drain().collect();
        left.sort_unstable_by_key(|(id, stream)| (stream.since_ns, *id));
        for (id, stream) in left {
            push(id, &stream, self.http.as_ref(), owner, tables);
        }
        if let Some(http) = &mut self.http {
            http.finish(tables);
        }
    }
}

/// The stream of a frame; `None` if it has ended, or if there are too many.
fn open<'s>(
    streams: &'s mut HashMap<u64, Box<Stream>>,
    ended: &Ended,
    waiting: &Waiting,
    id: u64,
    row: &Row<'_>,
    tables: &mut Tables,
) -> Option<&'s mut Stream> {
    let count = streams.len();
    let vacant = match streams.entry(id) {
        Entry::Occupied(known) => return Some(known.into_mut()),
        Entry::Vacant(vacant) => vacant,
    };
    if ended.contains(id) {
        return None;
    }
    if count >= MAX_STREAMS {
        tables.count(
            "too_many_streams",
            Severity::DataLoss,
            "a connection has more open streams at a time than are followed",
        );
        return None;
    }
    let half = || Half {
        data: Reassembly::new(waiting),
        first_ns: None,
        last_ns: None,
        end: None,
    };
    Some(vacant.insert(Box::new(Stream {
        since_ns: row.time_ns,
        halves: [half(), half()],
    })))
}

/// RFC 9000 section 2.1: the second bit says that only the initiator sends, the first one who that is.
fn is_used(id: u64, direction: Direction) -> bool {
    id & 2 == 0 || (id & 1 == 0) == (direction == Direction::Up)
}

fn push(
    id: u64,
    stream: &Stream,
    http: Option<&h3::Connection>,
    owner: Owner<'_>,
    tables: &mut Tables,
) {
    let kind = http.and_then(|http| http.kind(id));
    let [up, down] = &stream.halves;
    let bytes = |half: &Half, direction| is_used(id, direction).then(|| half.data.bytes());
    tables.streams.push(StreamRow {
        vantage: owner.vantage,
        connection: owner.connection,
        time_ns: stream.since_ns,
        transport: "quic",
        stream_id: id,
        kind: kind.or((id & 2 != 0).then_some("unidirectional")),
        up_bytes: bytes(up, Direction::Up),
        up_first_ns: up.first_ns,
        up_last_ns: up.last_ns,
        up_end: up.end,
        down_bytes: bytes(down, Direction::Down),
        down_first_ns: down.first_ns,
        down_last_ns: down.last_ns,
        down_end: down.end,
    });
}

/// Ids of streams that have ended, as ranges for each of the four types, so that what comes again opens nothing.
#[derive(Default)]
struct Ended([BTreeMap<u64, u64>; 4]);

impl Ended {
    fn contains(&self, id: u64) -> bool {
        let below = self.0[(id & 3) as usize].range(..=id >> 2).next_back();
        below.is_some_and(|(_, &last)| id >> 2 <= last)
    }

    fn insert(&mut self, id: u64) {
        let ranges = &mut self.0[(id & 3) as usize];
        let number = id >> 2;
        let (mut first, mut last) = (number, number);
        if let Some((&before, &end)) = ranges.range(..number).next_back() {
            if end + 1 == number {
                first = before;
            }
        }
        if let Some(after) = ranges.remove(&(number + 1)) {
            last = after;
        }
        ranges.insert(first, last);
        if ranges.len() > MAX_ENDED_RANGES {
            ranges.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_streams_are_remembered_as_ranges() {
        let mut ended = Ended::default();
        for id in [0, 8, 4, 3, 16] {
            assert!(!ended.contains(id));
            ended.insert(id);
            assert!(ended.contains(id));
        }
        assert_eq!(ended.0[0], BTreeMap::from([(0, 2), (4, 4)]));
        assert!(!ended.contains(12) && !ended.contains(7));
    }
}
