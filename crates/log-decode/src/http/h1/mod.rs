// SPDX-License-Identifier: Apache-2.0
//! HTTP/1.1 (RFC 9112) over one TCP connection: requests, one behind the other, and their responses in order.

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

/// Requests that wait for their response.
const MAX_WAITING: usize = 1024;

/// A request, and which of its two messages are whole.
#[derive(Debug, Default)]
struct Pending {
    exchange: Exchange,
    is_whole: Both<bool>,
    method: String,
}

/// Both directions of one connection.
#[derive(Debug)]
pub struct Connection {
    readers: Both<Reader>,
    context: Context,
    scheme: &'static str,
    pending: VecDeque<Pending>,
    /// Both ends go on in HTTP/2 (RFC 7540 section 3.2).
    is_upgraded: bool,
}

impl Connection {
    /// A connection of which nothing has been seen; `scheme` is `http` or `https`.
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
            is_upgraded: false,
        }
    }

    /// Whether both ends go on in HTTP/2.
    #[must_use]
    pub fn is_upgraded(&self) -> bool {
        self.is_upgraded
    }

    /// Whether a client's first bytes may be a request.
    #[must_use]
    pub fn may_start_with(bytes: &[u8]) -> bool {
        let method: Vec<u8> = bytes
            .iter()
            .copied()
            .take_while(|&byte| byte != b' ')
            .collect();
        (3..=16).contains(&method.len())
            && method.iter().all(u8::is_ascii_uppercase)
            && (method.len() == bytes.len() || method != b"PRI")
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
                    let framing = self.head(direction, span, head);
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

    /// A header's effect, and how the body behind it is told; `None` if it is no header.
    fn head(&mut self, direction: Direction, span: Span, head: &[u8]) -> Option<Framing> {
        let bytes = head.len() as u64;
        if direction == Direction::Up {
            let fields = head::request(head, self.scheme)?;
            if self.pending.len() >= MAX_WAITING {
                return None;
            }
            let mut pending = Pending {
                method: fields.get(":method").unwrap_or_default().to_owned(),
                ..Pending::default()
            };
            pending.exchange.header_section(direction, span, bytes);
            pending.exchange.fields(direction, &fields, span.last_ns);
            self.pending.push_back(pending);
            return Some(head::framing(&fields, Framing::Length(0)));
        }
        let fields = head::response(head)?;
        let status: u16 = fields.get(":status")?.parse().ok()?;
        let pending = self.current(direction)?;
        pending.exchange.header_section(direction, span, bytes);
        pending.exchange.fields(direction, &fields, span.last_ns);
        let is_tunnel =
            status == 101 || pending.method == "CONNECT" && (200..300).contains(&status);
        if is_tunnel {
            self.is_upgraded = status == 101 && fields.get("upgrade") == Some("h2c");
            self.readers.up.body(Framing::Opaque);
            return Some(Framing::Opaque);
        }
        let has_no_body =
            (100..200).contains(&status) || matches!(status, 204 | 304) || pending.method == "HEAD";
        Some(if has_no_body {
            Framing::Length(0)
        } else {
            head::framing(&fields, Framing::UntilClose)
        })
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
