// SPDX-License-Identifier: Apache-2.0
//! The streams of a connection that are open, each until both ends have ended it.

use super::windows::Window;
use crate::http::both::Both;
use crate::http::exchange::{Context, Exchange};
use crate::tables::{Stream as Row, Tables};
use crate::{Direction, Severity};
use std::collections::BTreeMap;

/// Open streams that are followed; servers allow about a hundred.
const MAX_STREAMS: usize = 4096;
/// Priorities kept for streams that are not open yet.
const MAX_PRIORITIES: usize = 256;

/// Actions of one end on a stream.
#[derive(Debug, Default)]
pub(super) struct Side {
    bytes: u64,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    end: Option<&'static str>,
    pub window: Window,
}

impl Side {
    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Bytes of the stream went by.
    pub(super) fn pass(&mut self, first_ns: i64, last_ns: i64, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.first_ns.get_or_insert(first_ns);
        self.last_ns = Some(last_ns);
    }
}

/// One stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub exchange: Exchange,
    opened_ns: i64,
    is_pushed: bool,
    pub sides: Both<Side>,
}

impl Stream {
    fn new(opened_ns: i64, is_pushed: bool) -> Self {
        Self {
            exchange: Exchange::default(),
            opened_ns,
            is_pushed,
            sides: Both::default(),
        }
    }

    fn is_closed(&self) -> bool {
        self.sides.down.has_ended() && (self.is_pushed || self.sides.up.has_ended())
    }

    /// Record an `END_STREAM`.
    pub(super) fn end(&mut self, direction: Direction, time_ns: i64) {
        self.sides.of_mut(direction).end.get_or_insert("fin");
        self.exchange.end(direction, time_ns);
    }

    /// `RST_STREAM`: the sender sends no more, and wants no more (RFC 9113 section 6.4).
    pub(super) fn reset(&mut self, direction: Direction, error: Option<&str>) {
        if let Some(error) = error {
            self.exchange.fail(direction, error);
        }
        self.sides.of_mut(direction).end.get_or_insert("reset");
        self.sides
            .of_mut(direction.reverse())
            .end
            .get_or_insert("stop_sending");
    }

    fn push(&self, id: u32, context: &Context, tables: &mut Tables) {
        let Both { up, down } = &self.sides;
        tables.streams.push(Row {
            vantage: context.vantage(),
            connection: Some(&context.connection),
            time_ns: up.first_ns.or(down.first_ns).unwrap_or(self.opened_ns),
            transport: context.transport,
            stream_id: id.into(),
            kind: Some(if self.is_pushed { "push" } else { "request" }),
            up_bytes: Some(up.bytes),
            up_first_ns: up.first_ns,
            up_last_ns: up.last_ns,
            up_end: up.end,
            down_bytes: Some(down.bytes),
            down_first_ns: down.first_ns,
            down_last_ns: down.last_ns,
            down_end: down.end,
        });
        self.exchange.push(context, Some(id.into()), tables);
    }
}

/// A priority that came before its stream.
#[derive(Debug)]
enum Early {
    Tree(String),
    Update(String),
}

/// All open streams.
#[derive(Debug, Default)]
pub(super) struct Streams {
    open: BTreeMap<u32, Stream>,
    /// Highest stream opened by the client, and by the server; all below are closed or open.
    highest: Both<u32>,
    early: BTreeMap<u32, Early>,
}

impl Streams {
    pub(super) fn get(&mut self, id: u32) -> Option<&mut Stream> {
        self.open.get_mut(&id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut Stream)> {
        self.open.iter_mut().map(|(&id, stream)| (id, stream))
    }

    /// The stream of a HEADERS, DATA or `PUSH_PROMISE` frame, opened by it if it is new; `None` for a closed one.
    pub(super) fn open(
        &mut self,
        id: u32,
        time_ns: i64,
        tables: &mut Tables,
    ) -> Option<&mut Stream> {
        let is_pushed = id % 2 == 0;
        let opener = if is_pushed {
            Direction::Down
        } else {
            Direction::Up
        };
        let highest = self.highest.of_mut(opener);
        if id > *highest {
            *highest = id;
            if self.open.len() >= MAX_STREAMS {
                tables.count(
                    "http2_too_many_streams",
                    Severity::DataLoss,
                    "more than 4096 streams open at once: the later ones are not followed",
                );
                return None;
            }
            let mut stream = Stream::new(time_ns, is_pushed);
            match self.early.remove(&id) {
                Some(Early::Tree(priority)) => stream.exchange.tree_priority(&priority),
                Some(Early::Update(priority)) => stream.exchange.update_priority(&priority),
                None => {}
            }
            self.open.insert(id, stream);
        }
        self.open.get_mut(&id)
    }

    /// A stream whose request came another way, and is whole.
    pub(super) fn adopt(&mut self, id: u32, request: Exchange) {
        self.highest.up = id;
        let mut stream = Stream::new(0, false);
        stream.exchange = request;
        stream.sides.up.end = Some("fin");
        self.open.insert(id, stream);
    }

    fn is_new(&self, id: u32) -> bool {
        let highest = if id % 2 == 0 {
            self.highest.down
        } else {
            self.highest.up
        };
        id > highest
    }

    /// A PRIORITY frame (RFC 7540 section 6.3).
    pub(super) fn tree_priority(&mut self, id: u32, priority: String) {
        if let Some(stream) = self.open.get_mut(&id) {
            stream.exchange.update_priority(&priority);
        } else if self.is_new(id) && self.early.len() < MAX_PRIORITIES {
            self.early.insert(id, Early::Tree(priority));
        }
    }

    /// A `PRIORITY_UPDATE` frame (RFC 9218 section 7).
    pub(super) fn update_priority(&mut self, id: u32, priority: &str) {
        if let Some(stream) = self.open.get_mut(&id) {
            stream.exchange.update_priority(priority);
        } else if self.is_new(id) && self.early.len() < MAX_PRIORITIES {
            self.early.insert(id, Early::Update(priority.to_owned()));
        }
    }

    /// Write the stream's rows if both ends have ended it.
    pub(super) fn close(&mut self, id: u32, context: &Context, tables: &mut Tables) {
        if self.open.get(&id).is_some_and(Stream::is_closed) {
            if let Some(stream) = self.open.remove(&id) {
                stream.push(id, context, tables);
            }
        }
    }

    /// Write the rows of what is still open.
    pub(super) fn finish(&mut self, context: &Context, tables: &mut Tables) {
        for (id, stream) in std::mem::take(&mut self.open) {
            stream.push(id, context, tables);
        }
    }
}
