// SPDX-License-Identifier: Apache-2.0
//! HTTP/1.1 (RFC 9112) over one TCP connection: requests, one behind the other, and their responses in order.

mod head;
mod reader;
#[cfg(test)]
mod tests;

use super::both::Both;
use super::detail::Detail;
use super::exchange::{Context, Exchange, Span};
use super::fields::Fields;
use crate::tables::{HttpFrame, Tables};
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

/// What both ends speak after HTTP/1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Successor {
    /// The request that asked for it is answered on stream 1 (RFC 7540 section 3.2).
    Http2,
    /// Whatever the client wants to say to the host that it has named (RFC 9110 section 9.3.6).
    Tunnel,
    /// Another protocol (RFC 9110 section 7.8), such as WebSocket's.
    Other,
}

/// The longest method of IANA's registry has 17 characters.
const MAX_METHOD_BYTES: usize = 24;

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
            successor: None,
            requests: 0,
            upgraded: Exchange::default(),
        }
    }

    /// What both ends go on with, once the server has agreed.
    #[must_use]
    pub fn successor(&self) -> Option<Successor> {
        self.successor
    }

    /// The request that HTTP/2 answers.
    pub(super) fn take_upgraded(&mut self) -> Exchange {
        std::mem::take(&mut self.upgraded)
    }

    /// Whether a client's first bytes may be a request: a method in capitals, and HTTP/1 as the version if that is there.
    #[must_use]
    pub fn may_start_with(bytes: &[u8]) -> bool {
        let blank = bytes.iter().position(|&byte| byte == b' ');
        let method = bytes
            .get(..blank.unwrap_or(bytes.len()))
            .unwrap_or_default();
        let is_letter = |byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_');
        let line = bytes.split_inclusive(|&byte| byte == b'\n').next();
        let is_whole = line.is_some_and(|line| line.ends_with(b"\n"));
        (3..=MAX_METHOD_BYTES).contains(&method.len())
            && method.first().is_some_and(u8::is_ascii_uppercase)
            && method.iter().all(is_letter)
            && (blank.is_none() || method != b"PRI")
            && (!is_whole || Self::is_request_line(bytes))
    }

    /// Whether bytes start with a whole request line (RFC 9112 section 3).
    #[must_use]
    pub fn is_request_line(bytes: &[u8]) -> bool {
        let line = bytes.split_inclusive(|&byte| byte == b'\n').next();
        let line = line.and_then(|line| line.strip_suffix(b"\n"));
        let line = line.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let mut words = line.unwrap_or_default().split(|&byte| byte == b' ');
        let (method, target, version) = (words.next(), words.next(), words.next());
        method.is_some_and(|method| !method.is_empty() && method.iter().all(u8::is_ascii_graphic))
            && target.is_some_and(|target| !target.is_empty())
            && version.is_some_and(|version| version.starts_with(b"HTTP/1."))
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

    /// A header's effect, and how the body behind it is told; `None` if it is no header.
    fn head(
        &mut self,
        direction: Direction,
        span: Span,
        head: &[u8],
        tables: &mut Tables,
    ) -> Option<Framing> {
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
            self.row(direction, span, head, &fields, tables);
            self.requests += 1;
            return Some(head::framing(&fields, Framing::Length(0)));
        }
        let fields = head::response(head)?;
        let status: u16 = fields.get(":status")?.parse().ok()?;
        self.row(direction, span, head, &fields, tables);
        if self.requests == 0 && self.pending.is_empty() {
            self.answer_to_the_unseen();
        }
        if status == 101 && names_h2c(&fields) {
            return self.go_on_in_http2();
        }
        let pending = self.current(direction)?;
        pending.exchange.header_section(direction, span, bytes);
        pending.exchange.fields(direction, &fields, span.last_ns);
        pending.exchange.http_version = Some(head::version(head, direction));
        let is_tunnel =
            status == 101 || pending.method == "CONNECT" && (200..300).contains(&status);
        if is_tunnel {
            self.successor = Some(if status == 101 {
                Successor::Other
            } else {
                Successor::Tunnel
            });
            // What follows is no content of this response.
            self.end_message(direction, span.last_ns, tables);
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

    /// A header, as later versions have it in a frame.
    fn row(
        &self,
        direction: Direction,
        span: Span,
        head: &[u8],
        fields: &Fields,
        tables: &mut Tables,
    ) {
        let mut detail = Detail::default();
        detail.fields(fields);
        detail.count_cut(&mut tables.stats);
        tables.http_frames.push(HttpFrame {
            vantage: self.context.vantage(),
            connection: Some(&self.context.connection),
            time_ns: span.first_ns,
            http_version: head::version(head, direction),
            event: direction.event(self.context.vantage),
            direction: Some(direction.as_str()),
            stream_id: None,
            frame_type: "headers",
            length_bytes: Some(head.len() as u64),
            end_stream: None,
            value: None,
            last_byte_ns: Some(span.last_ns),
            detail: detail.finish().as_deref(),
        });
    }

    /// A response whose request came before the capture: it has a row, and what follows on the connection is read.
    fn answer_to_the_unseen(&mut self) {
        self.requests += 1;
        let mut pending = Pending::default();
        pending.is_whole.up = true;
        self.pending.push_back(pending);
    }

    /// The request that asked for it becomes that of stream 1.
    fn go_on_in_http2(&mut self) -> Option<Framing> {
        let waiting = |pending: &Pending| !pending.is_whole.down;
        let at = self.pending.iter().position(waiting)?;
        self.upgraded = self.pending.remove(at)?.exchange;
        self.successor = Some(Successor::Http2);
        self.readers.up.body(Framing::Opaque);
        Some(Framing::Opaque)
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

fn names_h2c(fields: &Fields) -> bool {
    let upgrade = fields.get("upgrade").unwrap_or_default();
    upgrade.split(',').any(|protocol| protocol.trim() == "h2c")
}

fn malformed(tables: &mut Tables) {
    tables.count(
        "http1_malformed",
        Severity::DataLoss,
        "bytes that are no HTTP/1.1 message, or answer no request: what follows them one way is not decoded",
    );
}
