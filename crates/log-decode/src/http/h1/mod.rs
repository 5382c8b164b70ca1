// SPDX-License-Identifier: Apache-2.0
//! HTTP/1.1 (RFC 9112) over one TCP connection: requests, one behind the other, and their responses in order.

mod effects;
mod first_line;
mod head;
mod reader;
#[cfg(test)]
mod tests;

use super::both::Both;
use super::exchange::{Context, Exchange, Span};
use crate::tables::Tables;
use crate::{Direction, End, Severity};
use reader::{Event, Framing, Reader};
use std::collections::VecDeque;

/// A request, and which of its two messages are whole.
#[derive(Debug, Default)]
struct Pending {
    exchange: Exchange,
    is_whole: Both<bool>,
    method: String,
}

/// Protocol that both ends speak after HTTP/1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Successor {
    /// The request that asked for it is answered on stream 1 (RFC 7540 section 3.2).
    Http2,
    /// Anything that the client wants to say to the host that it has named (RFC 9110 section
    /// 9.3.6).
    Tunnel,
    /// Another protocol (RFC 9110 section 7.8), such as WebSocket's.
    Other,
}

/// Both directions of one connection.
#[derive(Debug)]
pub struct Connection {
    readers: Both<Reader>,
    context: Context,
    scheme: &'static str,
    pending: VecDeque<Pending>,
    successor: Option<Successor>,
    /// Requests so far.
    requests: u64,
    /// The request that HTTP/2 answers.
    upgraded: Exchange,
}

impl Connection {
    /// A connection before anything of it has been seen; `scheme` is `http` or `https`.
    #[must_use]
    pub fn new(connection: String, vantage: Option<End>, scheme: &'static str) -> Self {
        Self {
            readers: Both::default(),
            context: Context {
                connection,
                vantage,
                transport: "tcp",
                http_version: "HTTP/1.1",
            },
            scheme,
            pending: VecDeque::new(),
            successor: None,
            requests: 0,
            upgraded: Exchange::default(),
        }
    }

    /// Protocol that both ends go on with, once the server has agreed.
    #[must_use]
    pub fn successor(&self) -> Option<Successor> {
        self.successor
    }

    /// The request that HTTP/2 answers.
    pub(super) fn take_upgraded(&mut self) -> Exchange {
        std::mem::take(&mut self.upgraded)
    }

    /// The next bytes one way, and when they could be read; how many belong to what comes after HTTP/1.1.
    pub fn data(
        &mut self,
        direction: Direction,
        time_ns: i64,
        bytes: &[u8],
        tables: &mut Tables,
    ) -> usize {
        let mut rest = bytes;
        let mut reader = std::mem::take(self.readers.of_mut(direction));
        while let Some(event) = reader.next(&mut rest, time_ns) {
            match event {
                Event::Head { first_ns, head } => {
                    let span = Span {
                        first_ns,
                        last_ns: time_ns,
                    };
                    let framing = self.head(direction, span, head, tables);
                    if framing.is_none() {
                        malformed(tables);
                    }
                    reader.body(framing.unwrap_or(Framing::Opaque));
                }
                Event::Body(count) => {
                    if let Some(pending) = self.current(direction) {
                        pending.exchange.body(direction, time_ns, count);
                    }
                }
                Event::Trailers(count) => {
                    let span = Span {
                        first_ns: time_ns,
                        last_ns: time_ns,
                    };
                    if let Some(pending) = self.current(direction) {
                        pending.exchange.header_section(direction, span, count);
                    }
                }
                Event::End => self.end_message(direction, time_ns, tables),
                Event::Malformed => malformed(tables),
            }
        }
        *self.readers.of_mut(direction) = reader;
        rest.len()
    }

    /// The sender has closed its direction: a response without a length ends here.
    pub fn end(&mut self, direction: Direction, time_ns: i64, tables: &mut Tables) {
        let reader = self.readers.of_mut(direction);
        if reader.ends_with_connection() {
            reader.body(Framing::Opaque);
            self.end_message(direction, time_ns, tables);
        }
    }

    /// Bytes are missing: this way cannot be followed any further.
    pub fn gap(&mut self, direction: Direction, bytes_missing: u64, tables: &mut Tables) {
        let reader = self.readers.of_mut(direction);
        if bytes_missing > 0 && !reader.is_opaque() {
            reader.body(Framing::Opaque);
            tables.count(
                "http1_gap",
                Severity::DataLoss,
                "bytes are missing in the capture: the messages behind them, one way, are lost",
            );
        }
    }

    /// The log ends: write what is known of requests.
    pub fn finish(&mut self, tables: &mut Tables) {
        for pending in std::mem::take(&mut self.pending) {
            pending.exchange.push(&self.context, None, tables);
        }
    }

    /// The request that is being sent, or the one that is being answered.
    fn current(&mut self, direction: Direction) -> Option<&mut Pending> {
        self.pending
            .iter_mut()
            .find(|pending| !pending.is_whole.of(direction))
    }

    fn end_message(&mut self, direction: Direction, time_ns: i64, tables: &mut Tables) {
        let Some(pending) = self.current(direction) else {
            return;
        };
        if direction == Direction::Down && !pending.exchange.has_final_response() {
            return;
        }
        pending.exchange.end(direction, time_ns);
        *pending.is_whole.of_mut(direction) = true;
        let is_done = |first: &Pending| first.is_whole.up && first.is_whole.down;
        while self.pending.front().is_some_and(is_done) {
            if let Some(done) = self.pending.pop_front() {
                done.exchange.push(&self.context, None, tables);
            }
        }
    }
}

fn malformed(tables: &mut Tables) {
    tables.count(
        "http1_malformed",
        Severity::DataLoss,
        "bytes that are no HTTP/1.1 message, or answer no request: what follows them one way is not decoded",
    );
}
