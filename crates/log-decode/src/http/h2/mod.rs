// SPDX-License-Identifier: Apache-2.0
//! HTTP/2 (RFC 9113) over one TCP connection.

mod effects;
mod frames;
mod header_blocks;
#[cfg(test)]
mod hostile_tests;
mod reader;
mod state;
mod streams;
#[cfg(test)]
mod tests;
mod windows;

use super::both::Both;
use super::exchange::{Context, Span};
use super::h1;
use crate::tables::Tables;
use crate::{Direction, End, Severity};
use reader::{Event, Reader};
use state::State;

/// Both directions of one connection.
#[derive(Debug)]
pub struct Connection {
    readers: Both<Reader>,
    state: State,
}

impl Connection {
    /// A connection before anything of it has been seen.
    #[must_use]
    pub fn new(connection: String, vantage: Option<End>) -> Self {
        Self {
            readers: Both {
                up: Reader::after_preface(),
                down: Reader::default(),
            },
            state: State::new(Context {
                connection,
                vantage,
                transport: "tcp",
                http_version: "HTTP/2",
            }),
        }
    }

    /// Connection after an upgrade from HTTP/1.1, whose request is answered on stream 1 (RFC 7540
    /// section 3.2).
    #[must_use]
    pub fn after(http1: &mut h1::Connection, connection: String, vantage: Option<End>) -> Self {
        let mut http2 = Self::new(connection, vantage);
        http2.state.streams.adopt(1, http1.take_upgraded());
        http2
    }

    /// The next bytes one way, and when they could be read.
    pub fn data(&mut self, direction: Direction, time_ns: i64, bytes: &[u8], tables: &mut Tables) {
        let reader = self.readers.of_mut(direction);
        let mut rest = bytes;
        while let Some(event) = reader.next(&mut rest, time_ns) {
            match event {
                Event::DataStart { header } => {
                    self.state.data_start(direction, header, time_ns, tables);
                }
                Event::Data {
                    header,
                    bytes,
                    body_bytes,
                } => self
                    .state
                    .data(direction, header.stream_id, time_ns, bytes, body_bytes),
                Event::Frame {
                    header,
                    first_ns,
                    payload,
                } => {
                    let span = Span {
                        first_ns,
                        last_ns: time_ns,
                    };
                    self.state.frame(direction, header, span, payload, tables);
                }
                Event::NoPreface => tables.count(
                    "http2_no_preface",
                    Severity::Notice,
                    "the client's bytes do not start as HTTP/2 does: what follows may be misread",
                ),
            }
        }
    }

    /// Bytes are missing: this way cannot be followed any further.
    pub fn gap(&mut self, direction: Direction, bytes_missing: u64, tables: &mut Tables) {
        let reader = self.readers.of_mut(direction);
        if bytes_missing == 0 || reader.is_lost() {
            return;
        }
        tables.count(
            "http2_gap",
            Severity::DataLoss,
            "bytes are missing in the capture: the frames behind them, one way, are lost",
        );
        if let Some((header, first_ns)) = reader.unfinished() {
            self.state
                .unfinished_frame(direction, header, first_ns, tables);
        }
        reader.lose();
        self.state.lose(direction);
    }

    /// The log ends: write what is known of streams and requests.
    pub fn finish(&mut self, tables: &mut Tables) {
        for direction in [Direction::Up, Direction::Down] {
            let reader = self.readers.of_mut(direction);
            if let Some((header, first_ns)) = reader.unfinished() {
                self.state
                    .unfinished_frame(direction, header, first_ns, tables);
            }
            reader.lose();
        }
        self.state.finish(tables);
    }
}
