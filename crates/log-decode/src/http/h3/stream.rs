// SPDX-License-Identifier: Apache-2.0
//! One stream: where its bytes stand, the frame whose row waits, and the request that it carries.

use super::reader::{FrameHeader, Reader};
use crate::http::both::Both;
use crate::http::detail::Detail;
use crate::http::exchange::{Context, Exchange};
use crate::http::names;
use crate::tables::{HttpFrame, Tables};
use crate::Direction;

/// Purpose of a stream (RFC 9114 section 6, RFC 9204 section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Control,
    Push(u64),
    QpackEncoder,
    QpackDecoder,
    /// A stream whose type is reserved or not known.
    Other,
    /// A stream whose type has not been read.
    Unopened,
}

impl Kind {
    pub(super) fn of_type(number: u64, push_id: Option<u64>) -> Self {
        match (number, push_id) {
            (0x0, _) => Self::Control,
            (0x1, Some(push_id)) => Self::Push(push_id),
            (0x2, _) => Self::QpackEncoder,
            (0x3, _) => Self::QpackDecoder,
            _ => Self::Other,
        }
    }

    /// The word of the column `kind` of the table `streams`.
    pub(super) fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Request => Some("request"),
            Self::Control => Some("control"),
            Self::Push(_) => Some("push"),
            Self::QpackEncoder => Some("qpack_encoder"),
            Self::QpackDecoder => Some("qpack_decoder"),
            Self::Other => Some("unidirectional"),
            Self::Unopened => None,
        }
    }
}

/// A frame's row before it is known whether the stream ends with it.
#[derive(Debug)]
pub(super) struct Row {
    pub direction: Direction,
    pub stream_id: u64,
    pub header: FrameHeader,
    pub first_ns: i64,
    pub last_ns: Option<i64>,
    pub value: Option<u64>,
    pub detail: Detail,
}

impl Row {
    pub(super) fn push(self, end_stream: Option<bool>, context: &Context, tables: &mut Tables) {
        self.detail.count_cut(&mut tables.stats);
        tables.http_frames.push(HttpFrame {
            vantage: context.vantage(),
            connection: Some(&context.connection),
            time_ns: self.first_ns,
            http_version: context.http_version,
            event: self.direction.event(context.vantage),
            direction: Some(self.direction.as_str()),
            stream_id: Some(self.stream_id),
            frame_type: &names::h3_frame(self.header.kind),
            length_bytes: Some(self.header.length),
            end_stream,
            value: self.value.or(self.header.unnamed_type()),
            last_byte_ns: self.last_ns,
            detail: self.detail.finish().as_deref(),
        });
    }
}

/// One direction of a stream.
#[derive(Debug)]
pub(super) struct Side {
    pub reader: Reader,
    /// Number of frames that have begun.
    pub frames: u64,
    /// The last whole frame, until something follows it.
    pub held: Option<Row>,
    pub has_ended: bool,
}

impl Side {
    fn new(is_unidirectional: bool) -> Self {
        Self {
            reader: Reader::new(is_unidirectional),
            frames: 0,
            held: None,
            has_ended: false,
        }
    }

    /// Another frame begins: the stream did not end with the one before.
    pub(super) fn start_frame(&mut self, context: &Context, tables: &mut Tables) {
        self.frames = self.frames.saturating_add(1);
        if let Some(row) = self.held.take() {
            row.push(Some(false), context, tables);
        }
    }

    /// A whole frame's row; `frames_before` of the stream's frames were before it.
    pub(super) fn hold(
        &mut self,
        row: Row,
        frames_before: u64,
        context: &Context,
        tables: &mut Tables,
    ) {
        if self.frames > frames_before.saturating_add(1) {
            row.push(Some(false), context, tables);
        } else if self.has_ended {
            row.push(Some(true), context, tables);
        } else {
            self.held = Some(row);
        }
    }

    /// No more will come: with the stream's end, or because it was given up or the log ends (`end_stream` unknown).
    pub(super) fn finish(
        &mut self,
        direction: Direction,
        stream_id: u64,
        end_stream: Option<bool>,
        context: &Context,
        tables: &mut Tables,
    ) {
        if let Some(row) = self.held.take() {
            row.push(end_stream, context, tables);
        }
        if let Some((header, first_ns)) = self.reader.unfinished() {
            let row = Row {
                direction,
                stream_id,
                header,
                first_ns,
                last_ns: None,
                value: None,
                detail: Detail::default(),
            };
            row.push(None, context, tables);
        }
        self.reader.lose();
    }
}

/// One stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub kind: Kind,
    pub sides: Both<Side>,
    pub exchange: Exchange,
    /// Field sections that wait for the dynamic table.
    pub waiting: usize,
}

impl Stream {
    pub(super) fn new(is_unidirectional: bool) -> Self {
        Self {
            kind: if is_unidirectional {
                Kind::Unopened
            } else {
                Kind::Request
            },
            sides: Both {
                up: Side::new(is_unidirectional),
                down: Side::new(is_unidirectional),
            },
            exchange: Exchange::default(),
            waiting: 0,
        }
    }

    /// True if nothing more can come of it.
    pub(super) fn is_closed(&self) -> bool {
        let Both { up, down } = &self.sides;
        let has_ended = match self.kind {
            Kind::Request => up.has_ended && down.has_ended,
            _ => up.has_ended || down.has_ended,
        };
        has_ended && self.waiting == 0
    }
}
