// SPDX-License-Identifier: Apache-2.0
//! Streams of one session, either transport's.

use super::ranges::Ranges;
use crate::tables::{Stream as Row, Tables};
use crate::{Direction, Severity};
use std::collections::BTreeMap;

/// Streams of one session that are followed at a time.
const MAX_STREAMS: usize = 1 << 12;

/// One way of a stream.
#[derive(Debug, Default)]
struct Way {
    seen: Ranges,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    end: Option<&'static str>,
}

#[derive(Debug, Default)]
struct Stream {
    created_ns: Option<i64>,
    kind: Option<&'static str>,
    up: Way,
    down: Way,
}

impl Stream {
    fn way(&mut self, direction: Direction) -> &mut Way {
        match direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }
}

/// State of the streams of one session.
#[derive(Debug)]
pub(super) struct Streams {
    transport: &'static str,
    by_id: BTreeMap<u64, Stream>,
}

impl Streams {
    pub(super) fn new(transport: &'static str) -> Self {
        Self {
            transport,
            by_id: BTreeMap::new(),
        }
    }

    /// The stream `id`; where there are too many, the oldest makes room.
    fn stream(&mut self, connection: &str, id: u64, tables: &mut Tables) -> &mut Stream {
        if self.by_id.len() >= MAX_STREAMS && !self.by_id.contains_key(&id) {
            if let Some((oldest, stream)) = self.by_id.pop_first() {
                tables.count(
                    "streams_cut_short",
                    Severity::Notice,
                    "a session has too many streams: rows of the oldest end before they do",
                );
                push(self.transport, connection, oldest, &stream, tables);
            }
        }
        self.by_id.entry(id).or_default()
    }

    /// Bytes [offset, offset + length) go one way.
    pub(super) fn data(
        &mut self,
        connection: &str,
        (id, direction): (u64, Direction),
        (offset, length): (u64, u64),
        time_ns: i64,
        tables: &mut Tables,
    ) {
        let way = self.stream(connection, id, tables).way(direction);
        way.first_ns.get_or_insert(time_ns);
        if way.seen.add(offset, offset.saturating_add(length)) {
            way.last_ns = Some(time_ns);
        }
    }

    /// The stream ends one way.
    pub(super) fn end(
        &mut self,
        connection: &str,
        (id, direction): (u64, Direction),
        how: &'static str,
        tables: &mut Tables,
    ) {
        let way = self.stream(connection, id, tables).way(direction);
        way.end.get_or_insert(how);
    }

    /// The stream was created, for what `kind` says.
    pub(super) fn created(
        &mut self,
        connection: &str,
        id: u64,
        (kind, time_ns): (&'static str, i64),
        tables: &mut Tables,
    ) {
        let stream = self.stream(connection, id, tables);
        stream.kind = Some(kind);
        stream.created_ns = Some(time_ns);
    }

    /// Bytes that went one way, as far as they are known.
    pub(super) fn bytes(&self, id: u64, direction: Direction) -> Option<u64> {
        let stream = self.by_id.get(&id)?;
        let way = match direction {
            Direction::Up => &stream.up,
            Direction::Down => &stream.down,
        };
        way.seen.total()
    }

    /// The next offset one way, for protocols that do not number bytes.
    pub(super) fn next_offset(&self, id: u64, direction: Direction) -> u64 {
        self.bytes(id, direction).unwrap_or_default()
    }

    pub(super) fn finish(&mut self, connection: &str, tables: &mut Tables) {
        for (id, stream) in std::mem::take(&mut self.by_id) {
            push(self.transport, connection, id, &stream, tables);
        }
    }
}

fn push(
    transport: &'static str,
    connection: &str,
    stream_id: u64,
    stream: &Stream,
    tables: &mut Tables,
) {
    // RFC 9000 section 2.1; a stream of HTTP/2 is a request's.
    let kind = match (transport, stream_id % 4) {
        ("tcp", _) if stream_id % 2 == 1 => "request",
        ("quic", 0) => "request",
        ("tcp", _) => "push",
        ("quic", 2 | 3) => "unidirectional",
        _ => "bidirectional",
    };
    let first = [stream.created_ns, stream.up.first_ns, stream.down.first_ns]
        .into_iter()
        .flatten()
        .min();
    tables.streams.push(Row {
        vantage: Some("client"),
        connection: Some(connection),
        time_ns: first.unwrap_or_default(),
        transport,
        stream_id,
        kind: Some(stream.kind.unwrap_or(kind)),
        // HTTP/2's frames count with their headers, which the log does not tell; other ways there are none.
        up_bytes: stream
            .up
            .seen
            .total()
            .filter(|_| transport == "quic" && stream_id % 4 != 3),
        up_first_ns: stream.up.first_ns,
        up_last_ns: stream.up.last_ns,
        up_end: stream.up.end,
        down_bytes: stream
            .down
            .seen
            .total()
            .filter(|_| transport == "quic" && stream_id % 4 != 2),
        down_first_ns: stream.down.first_ns,
        down_last_ns: stream.down.last_ns,
        down_end: stream.down.end,
    });
}
