// SPDX-License-Identifier: Apache-2.0
//! Effects of frames on a connection, and the rows that they become.

use super::frames::{self, HEADERS, PRIORITY_UPDATE, PUSH_PROMISE, SETTINGS};
use super::reader::{FrameHeader, DATA};
use super::sections::{Outcome, Sections, Waiting};
use super::stream::{Kind, Row, Stream};
use crate::http::both::Both;
use crate::http::cursor::Cursor;
use crate::http::detail::Detail;
use crate::http::exchange::{Context, Exchange, Span};
use crate::http::names;
use crate::http::qpack_feedback::Feedback;
use crate::tables::{Parameter, Tables};
use crate::{Direction, Severity};
use std::collections::{BTreeMap, BTreeSet};

const QPACK_MAX_TABLE_CAPACITY: u64 = 0x1;
/// Priorities, and promised pushes, that are kept for streams that are not open yet.
const MAX_EARLY: usize = 256;

/// A whole frame, where it was and when.
pub(super) struct Frame<'a> {
    pub direction: Direction,
    pub stream_id: u64,
    pub header: FrameHeader,
    pub span: Span,
    pub payload: &'a [u8],
}

impl Frame<'_> {
    fn row(&self, value: Option<u64>, detail: Detail) -> Row {
        Row {
            direction: self.direction,
            stream_id: self.stream_id,
            header: self.header,
            first_ns: self.span.first_ns,
            last_ns: Some(self.span.last_ns),
            value,
            detail,
        }
    }
}

/// Everything about a connection but its streams.
#[derive(Debug)]
pub(super) struct State {
    pub context: Context,
    pub sections: Sections,
    /// Feedback of each direction's decoding end on QPACK.
    pub feedback: Both<Feedback>,
    /// Priorities that were updated, by the request's stream, and not handed to it yet.
    priorities: BTreeMap<u64, String>,
    /// Requests that the server announced, by push id.
    promises: BTreeMap<u64, Exchange>,
}

impl State {
    pub(super) fn new(context: Context) -> Self {
        Self {
            context,
            sections: Sections::default(),
            feedback: Both::default(),
            priorities: BTreeMap::new(),
            promises: BTreeMap::new(),
        }
    }

    /// Write the row of the request that a stream carried.
    pub(super) fn push(&mut self, id: u64, stream: Stream, tables: &mut Tables) {
        let mut exchange = stream.exchange;
        if let Kind::Push(push_id) = stream.kind {
            if let Some(promise) = self.promises.remove(&push_id) {
                exchange.adopt_request(promise);
            }
        }
        if matches!(stream.kind, Kind::Request | Kind::Push(_)) {
            exchange.push(&self.context, Some(id), tables);
        }
    }

    /// Write what was promised and never came.
    pub(super) fn finish(&mut self, tables: &mut Tables) {
        for promise in std::mem::take(&mut self.promises).values() {
            promise.push(&self.context, None, tables);
        }
    }

    pub(super) fn encoder_stream(
        &mut self,
        direction: Direction,
        bytes: &[u8],
        tables: &mut Tables,
    ) {
        let decoder = self.sections.decoders.of_mut(direction);
        if decoder.encoder_stream(bytes).is_err() {
            tables.count(
                "qpack_encoder_stream_broken",
                Severity::DataLoss,
                "an encoder stream that is not as RFC 9204 asks: headers that refer to what it inserts are not decoded",
            );
        }
    }

    /// Hand updated priorities to the requests that are open; those that come too late are dropped.
    pub(super) fn update_priorities(
        &mut self,
        streams: &mut BTreeMap<u64, Stream>,
        closed: &BTreeSet<u64>,
    ) {
        self.priorities.retain(|id, priority| {
            let Some(stream) = streams.get_mut(id) else {
                return !closed.contains(id);
            };
            stream.exchange.update_priority(priority);
            false
        });
    }

    /// Hand a priority that came early to the request that opens now.
    pub(super) fn apply_early_priority(&mut self, id: u64, stream: &mut Stream) {
        if let Some(priority) = self.priorities.remove(&id) {
            stream.exchange.update_priority(&priority);
        }
    }

    pub(super) fn frame(&mut self, stream: &mut Stream, frame: &Frame<'_>, tables: &mut Tables) {
        let understood = match frame.header.kind {
            DATA => {
                self.hold(stream, frame.row(None, Detail::default()), tables);
                return;
            }
            HEADERS | PUSH_PROMISE => self.header_frame(stream, frame, tables),
            _ => self.control_frame(stream, frame, tables),
        };
        if understood.is_none() {
            tables.count(
                "http3_malformed_frame",
                Severity::Notice,
                "a frame whose payload is not what RFC 9114 asks for",
            );
            self.hold(stream, frame.row(None, Detail::default()), tables);
        }
    }

    fn hold(&self, stream: &mut Stream, row: Row, tables: &mut Tables) {
        let side = stream.sides.of_mut(row.direction);
        let frames_before = side.frames.saturating_sub(1);
        side.hold(row, frames_before, &self.context, tables);
    }

    fn control_frame(
        &mut self,
        stream: &mut Stream,
        frame: &Frame<'_>,
        tables: &mut Tables,
    ) -> Option<()> {
        let (value, detail) = frames::describe(frame.header, frame.payload)?;
        let row = frame.row(value, detail);
        if stream.kind != Kind::Control {
            self.hold(stream, row, tables);
            return Some(());
        }
        row.push(None, &self.context, tables);
        match frame.header.kind {
            SETTINGS => self.settings(frame, tables),
            PRIORITY_UPDATE => {
                let (element, priority) = frames::priority_update(frame.payload)?;
                if self.priorities.len() < MAX_EARLY {
                    self.priorities.insert(element, priority.to_owned());
                }
            }
            _ => {}
        }
        Some(())
    }

    fn settings(&mut self, frame: &Frame<'_>, tables: &mut Tables) {
        let mut capacity = 0;
        let owner = frame.direction.sender().as_str();
        for (id, value) in frames::settings(frame.payload) {
            tables.parameters.push(Parameter {
                vantage: self.context.vantage(),
                connection: Some(&self.context.connection),
                time_ns: frame.span.last_ns,
                name: &format!("settings.{owner}.{}", names::h3_setting(id)),
                value: &value.to_string(),
            });
            if id == QPACK_MAX_TABLE_CAPACITY {
                capacity = value;
            }
        }
        // What one end allows is what the other end's encoder may use.
        let encoder = frame.direction.reverse();
        self.sections
            .decoders
            .of_mut(encoder)
            .set_max_capacity(capacity);
    }

    fn header_frame(
        &mut self,
        stream: &mut Stream,
        frame: &Frame<'_>,
        tables: &mut Tables,
    ) -> Option<()> {
        let Frame {
            direction,
            header,
            span,
            ..
        } = *frame;
        let mut cursor = Cursor(frame.payload);
        let promised = if header.kind == PUSH_PROMISE {
            Some(cursor.varint()?)
        } else {
            stream
                .exchange
                .header_section(direction, span, header.length);
            None
        };
        let is_cut = (frame.payload.len() as u64) < header.length;
        let outcome = if is_cut {
            Outcome::Failed
        } else {
            self.sections.read(direction, cursor.0, None)
        };
        let frames_before = stream.sides.of(direction).frames.saturating_sub(1);
        let mut waiting = Waiting {
            row: frame.row(promised, Detail::default()),
            frames_before,
            promised,
            section: Vec::new(),
            prefix: None,
        };
        if let Outcome::Waits(prefix) = outcome {
            tables.count(
                "qpack_blocked",
                Severity::Info,
                "header sections that arrived before what they refer to in the dynamic table of QPACK",
            );
            if self.sections.has_room(cursor.0) {
                waiting.section = cursor.0.to_vec();
                waiting.prefix = prefix;
                self.sections.wait(waiting);
                stream.waiting += 1;
                return Some(());
            }
        }
        self.section(stream, waiting, outcome, span.last_ns, tables);
        Some(())
    }

    /// A section that has waited is decoded, or never will be.
    pub(super) fn settle(
        &mut self,
        streams: &mut BTreeMap<u64, Stream>,
        waiting: Waiting,
        outcome: Outcome,
        time_ns: i64,
        tables: &mut Tables,
    ) {
        if let Some(stream) = streams.get_mut(&waiting.row.stream_id) {
            stream.waiting = stream.waiting.saturating_sub(1);
            self.section(stream, waiting, outcome, time_ns, tables);
        }
    }

    fn section(
        &mut self,
        stream: &mut Stream,
        waiting: Waiting,
        outcome: Outcome,
        time_ns: i64,
        tables: &mut Tables,
    ) {
        let Waiting {
            mut row,
            frames_before,
            promised,
            ..
        } = waiting;
        let direction = row.direction;
        if let Outcome::Decoded = outcome {
            let fields = &self.sections.fields;
            row.detail.fields(fields);
            match promised {
                None => stream.exchange.fields(direction, fields, time_ns),
                Some(push_id) if self.promises.len() < MAX_EARLY => {
                    let promise = self.promises.entry(push_id).or_default();
                    promise.promise(time_ns);
                    promise.fields(Direction::Up, fields, time_ns);
                }
                Some(_) => {}
            }
        } else {
            tables.count(
                "http3_header_not_decoded",
                Severity::DataLoss,
                "a header whose encoding is invalid, or refers to inserts that are not in the capture",
            );
        }
        let side = stream.sides.of_mut(direction);
        side.hold(row, frames_before, &self.context, tables);
    }
}
