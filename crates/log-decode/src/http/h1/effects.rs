// SPDX-License-Identifier: Apache-2.0
//! Effects of a header on what is known of its connection: requests, bodies, and the protocol that
//! follows.

use super::head;
use super::reader::Framing;
use super::{Connection, Pending, Successor};
use crate::http::detail::Detail;
use crate::http::exchange::Span;
use crate::http::fields::Fields;
use crate::tables::{HttpFrame, Tables};
use crate::Direction;

/// Requests that wait for their response.
const MAX_WAITING: usize = 1024;

impl Connection {
    /// A header's effect, and how the body behind it is told; `None` if it is no header.
    pub(super) fn head(
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
}

fn names_h2c(fields: &Fields) -> bool {
    let upgrade = fields.get("upgrade").unwrap_or_default();
    upgrade.split(',').any(|protocol| protocol.trim() == "h2c")
}
