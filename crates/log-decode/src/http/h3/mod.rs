// SPDX-License-Identifier: Apache-2.0
//! HTTP/3 (RFC 9114) over the streams of one QUIC connection.

mod frames;
#[cfg(test)]
mod hostile_tests;
mod reader;
mod sections;
mod state;
mod stream;
#[cfg(test)]
mod tests;

use super::exchange::{Context, Span};
use super::names;
use crate::tables::Tables;
use crate::{Direction, End, Severity};
use reader::Event;
use state::State;
use std::collections::{BTreeMap, BTreeSet};
use stream::{Kind, Stream};

/// Open streams that are followed; servers allow about a hundred.
const MAX_STREAMS: usize = 4096;
/// Unfinished frames of all streams together; what is beyond is passed over.
const MAX_HELD_BYTES: usize = 16 << 20;
/// Closed streams that are remembered, so that a straggler does not open one again.
const MAX_CLOSED: usize = 1 << 16;
/// `H3_NO_ERROR` (RFC 9114 section 8.1).
const NO_ERROR: u64 = 0x100;

/// All streams of one connection.
#[derive(Debug)]
pub struct Connection {
    streams: BTreeMap<u64, Stream>,
    closed: BTreeSet<u64>,
    /// Unidirectional streams, open or closed.
    kinds: BTreeMap<u64, Kind>,
    held_bytes: usize,
    state: State,
}

impl Connection {
    /// A connection before anything of it has been seen.
    #[must_use]
    pub fn new(connection: String, vantage: Option<End>) -> Self {
        Self {
            streams: BTreeMap::new(),
            closed: BTreeSet::new(),
            kinds: BTreeMap::new(),
            held_bytes: 0,
            state: State::new(Context {
                connection,
                vantage,
                transport: "quic",
                http_version: "HTTP/3",
            }),
        }
    }

    /// The next bytes of a stream one way, and when they could be read; `fin`: the stream ends this way after them.
    pub fn stream_data(
        &mut self,
        direction: Direction,
        stream_id: u64,
        time_ns: i64,
        bytes: &[u8],
        fin: bool,
        tables: &mut Tables,
    ) {
        if !self.open(stream_id, tables) {
            return;
        }
        let Some(stream) = self.streams.get_mut(&stream_id) else {
            return;
        };
        let mut inserts = false;
        let mut settings = false;
        let mut priorities = false;
        let mut rest = bytes;
        // Out of the stream for the time of the loop, so that what is read can change the stream.
        let side = stream.sides.of_mut(direction);
        let mut reader = std::mem::replace(&mut side.reader, reader::Reader::new(false));
        self.held_bytes = self.held_bytes.saturating_sub(reader.held_bytes());
        while let Some(event) = reader.next(&mut rest, time_ns) {
            match event {
                Event::Opening(number, push_id) => {
                    stream.kind = Kind::of_type(number, push_id);
                    if self.kinds.len() < MAX_STREAMS {
                        self.kinds.insert(stream_id, stream.kind);
                    }
                }
                Event::Start => {
                    let side = stream.sides.of_mut(direction);
                    side.start_frame(&self.state.context, tables);
                }
                Event::Data(bytes) => stream.exchange.body(direction, time_ns, bytes as u64),
                Event::Raw(bytes) => match stream.kind {
                    Kind::QpackEncoder => {
                        inserts = true;
                        self.state.encoder_stream(direction, bytes, tables);
                    }
                    Kind::QpackDecoder => {
                        let feedback = self.state.feedback.of_mut(direction);
                        feedback.read(bytes, tables);
                    }
                    _ => {}
                },
                Event::Frame {
                    header,
                    first_ns,
                    payload,
                } => {
                    let span = Span {
                        first_ns,
                        last_ns: time_ns,
                    };
                    settings |= stream.kind == Kind::Control && header.kind == frames::SETTINGS;
                    priorities |= header.kind == frames::PRIORITY_UPDATE;
                    let frame = state::Frame {
                        direction,
                        stream_id,
                        header,
                        span,
                        payload,
                    };
                    self.state.frame(stream, &frame, tables);
                }
            }
        }
        reader.shrink();
        if reader.held_bytes() > MAX_HELD_BYTES.saturating_sub(self.held_bytes) {
            reader.forget();
        }
        self.held_bytes += reader.held_bytes();
        stream.sides.of_mut(direction).reader = reader;
        if fin {
            let side = stream.sides.of_mut(direction);
            side.has_ended = true;
            side.finish(
                direction,
                stream_id,
                Some(true),
                &self.state.context,
                tables,
            );
            stream.exchange.end(direction, time_ns);
        }
        if priorities {
            self.state
                .update_priorities(&mut self.streams, &self.closed);
        }
        if inserts {
            self.resume(direction, time_ns, tables);
        }
        if settings {
            self.resume(direction.reverse(), time_ns, tables);
        }
        self.close(stream_id, tables);
    }

    /// The sender gave the stream up this way (RFC 9000 section 19.4).
    pub fn reset(
        &mut self,
        direction: Direction,
        stream_id: u64,
        error_code: u64,
        time_ns: i64,
        tables: &mut Tables,
    ) {
        let _ = time_ns;
        let Some(stream) = self.streams.get_mut(&stream_id) else {
            return;
        };
        let side = stream.sides.of_mut(direction);
        if side.has_ended {
            return;
        }
        side.has_ended = true;
        side.finish(
            direction,
            stream_id,
            Some(false),
            &self.state.context,
            tables,
        );
        if error_code != NO_ERROR {
            stream
                .exchange
                .fail(direction, &names::h3_error(error_code));
        }
        if stream.kind == Kind::QpackEncoder {
            self.state.sections.decoders.of_mut(direction).break_off();
        }
        self.close(stream_id, tables);
    }

    /// Purpose of a stream, as the column `kind` of the table `streams` says it; `None` as long as
    /// it is unknown.
    #[must_use]
    pub fn kind(&self, stream_id: u64) -> Option<&'static str> {
        match stream_id % 4 {
            0 => Kind::Request.as_str(),
            1 => None,
            _ => self.kinds.get(&stream_id).and_then(|kind| kind.as_str()),
        }
    }

    /// The log ends: write what is known of requests.
    pub fn finish(&mut self, tables: &mut Tables) {
        for direction in [Direction::Up, Direction::Down] {
            // Where the SETTINGS were not seen, what the encoder uses is the best that is known.
            let decoder = self.state.sections.decoders.of_mut(direction);
            decoder.assume_max_capacity();
            while let Some((waiting, outcome)) = self.state.sections.next_ready(direction) {
                let time_ns = waiting.row.last_ns.unwrap_or(waiting.row.first_ns);
                self.state
                    .settle(&mut self.streams, waiting, outcome, time_ns, tables);
            }
        }
        for waiting in self.state.sections.take_waiting() {
            let outcome = sections::Outcome::Failed;
            self.state
                .settle(&mut self.streams, waiting, outcome, 0, tables);
        }
        for (id, mut stream) in std::mem::take(&mut self.streams) {
            for direction in [Direction::Up, Direction::Down] {
                let side = stream.sides.of_mut(direction);
                side.finish(direction, id, None, &self.state.context, tables);
            }
            self.state.push(id, stream, tables);
        }
        self.state.finish(tables);
    }

    /// True if the stream is open, now or already; a closed one is not opened again.
    fn open(&mut self, id: u64, tables: &mut Tables) -> bool {
        // Servers open no bidirectional streams (RFC 9114 section 6.1).
        if id % 4 == 1 || self.closed.contains(&id) {
            return false;
        }
        if !self.streams.contains_key(&id) {
            if self.streams.len() >= MAX_STREAMS {
                tables.count(
                    "http3_too_many_streams",
                    Severity::DataLoss,
                    "more than 4096 streams open at once: the later ones are not followed",
                );
                return false;
            }
            let mut stream = Stream::new(id % 4 != 0);
            self.state.apply_early_priority(id, &mut stream);
            self.streams.insert(id, stream);
        }
        true
    }

    /// Decode the field sections that have waited for what just came.
    fn resume(&mut self, direction: Direction, time_ns: i64, tables: &mut Tables) {
        while let Some((waiting, outcome)) = self.state.sections.next_ready(direction) {
            let id = waiting.row.stream_id;
            self.state
                .settle(&mut self.streams, waiting, outcome, time_ns, tables);
            self.close(id, tables);
        }
    }

    fn close(&mut self, id: u64, tables: &mut Tables) {
        if self.streams.get(&id).is_some_and(Stream::is_closed) {
            if let Some(stream) = self.streams.remove(&id) {
                self.state.push(id, stream, tables);
            }
            self.closed.insert(id);
            if self.closed.len() > MAX_CLOSED {
                self.closed.pop_first();
            }
        }
    }
}
