// SPDX-License-Identifier: Apache-2.0
//! Effects of frames on a connection, and the rows that they become.

use super::frames::{
    self, ACK, CONTINUATION, END_HEADERS, END_STREAM, HEADERS, PRIORITY, PRIORITY_UPDATE,
    PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
};
use super::header_blocks::{Block, HeaderBlocks};
use super::reader::{FrameHeader, DATA};
use super::streams::Streams;
use super::windows::Windows;
use crate::http::both::Both;
use crate::http::cursor::Cursor;
use crate::http::detail::Detail;
use crate::http::exchange::{Context, Span};
use crate::http::names;
use crate::tables::{HttpFrame, Tables};
use crate::{Direction, Severity};

/// Everything about a connection but where its bytes stand.
#[derive(Debug)]
pub(super) struct State {
    pub(super) context: Context,
    blocks: Both<HeaderBlocks>,
    pub(super) streams: Streams,
    pub(super) windows: Windows,
    pub(super) settings_frames: u32,
}

impl State {
    pub(super) fn new(context: Context) -> Self {
        Self {
            context,
            blocks: Both::default(),
            streams: Streams::default(),
            windows: Windows::default(),
            settings_frames: 0,
        }
    }

    /// Nothing more is known of one direction.
    pub(super) fn lose(&mut self, direction: Direction) {
        self.blocks.of_mut(direction).lose();
        self.windows.lose(direction);
    }

    pub(super) fn finish(&mut self, tables: &mut Tables) {
        self.streams.finish(&self.context, tables);
    }

    pub(super) fn data_start(
        &mut self,
        direction: Direction,
        header: FrameHeader,
        time_ns: i64,
        tables: &mut Tables,
    ) {
        let id = header.stream_id;
        self.windows
            .connection
            .of_mut(direction)
            .send(header.length);
        if let Some(stream) = self.streams.open(id, time_ns, tables) {
            let side = stream.sides.of_mut(direction);
            side.pass(time_ns, time_ns, header.total() - header.length as u64);
            side.window.send(header.length);
        }
    }

    pub(super) fn data(
        &mut self,
        direction: Direction,
        stream_id: u32,
        time_ns: i64,
        bytes: usize,
        body_bytes: usize,
    ) {
        if let Some(stream) = self.streams.get(stream_id) {
            let side = stream.sides.of_mut(direction);
            side.pass(time_ns, time_ns, bytes as u64);
            stream.exchange.body(direction, time_ns, body_bytes as u64);
        }
    }

    /// The log ends, or breaks off, within a frame.
    pub(super) fn unfinished_frame(
        &mut self,
        direction: Direction,
        header: FrameHeader,
        first_ns: i64,
        tables: &mut Tables,
    ) {
        self.row(
            direction,
            header,
            first_ns,
            None,
            None,
            Detail::default(),
            tables,
        );
    }

    pub(super) fn frame(
        &mut self,
        direction: Direction,
        header: FrameHeader,
        span: Span,
        payload: &[u8],
        tables: &mut Tables,
    ) {
        let blocks = self.blocks.of_mut(direction);
        if blocks.is_open() != (header.kind == CONTINUATION) && !blocks.is_lost() {
            blocks.lose();
            malformed(tables);
        }
        let understood = match header.kind {
            DATA => {
                self.row(
                    direction,
                    header,
                    span.first_ns,
                    Some(span.last_ns),
                    None,
                    Detail::default(),
                    tables,
                );
                self.end_of_data(direction, header, span.last_ns, tables);
                return;
            }
            HEADERS | PUSH_PROMISE | CONTINUATION => {
                let understood = self.header_frame(direction, header, span, payload, tables);
                if understood.is_none() {
                    self.blocks.of_mut(direction).lose();
                }
                understood
            }
            _ => self.control_frame(direction, header, span, payload, tables),
        };
        if understood.is_none() {
            malformed(tables);
            self.row(
                direction,
                header,
                span.first_ns,
                Some(span.last_ns),
                None,
                Detail::default(),
                tables,
            );
        }
    }

    /// The frame's row, and what it does; `None` if its payload is not what it must be.
    fn control_frame(
        &mut self,
        direction: Direction,
        header: FrameHeader,
        span: Span,
        payload: &[u8],
        tables: &mut Tables,
    ) -> Option<()> {
        let (value, detail) = frames::describe(header, payload)?;
        self.row(
            direction,
            header,
            span.first_ns,
            Some(span.last_ns),
            value,
            detail,
            tables,
        );
        let id = header.stream_id;
        let time_ns = span.last_ns;
        match header.kind {
            PRIORITY => {
                let priority = frames::tree_priority(header, &mut Cursor(payload))?;
                self.streams.tree_priority(id, priority);
            }
            PRIORITY_UPDATE => {
                let (element, priority) = frames::priority_update(payload)?;
                self.streams.update_priority(element, priority);
            }
            SETTINGS if !header.has(ACK) => self.settings(direction, time_ns, payload, tables),
            RST_STREAM => self.reset(direction, id, Cursor(payload).u32()?, time_ns, tables),
            WINDOW_UPDATE => self.window_update(direction.reverse(), id, value?, time_ns, tables),
            _ => {}
        }
        Some(())
    }

    fn header_frame(
        &mut self,
        direction: Direction,
        header: FrameHeader,
        span: Span,
        payload: &[u8],
        tables: &mut Tables,
    ) -> Option<()> {
        let id = header.stream_id;
        let is_cut = payload.len() < header.length;
        let mut detail = Detail::default();
        let mut value = None;
        let blocks = self.blocks.of_mut(direction);
        let fragment = if header.kind == CONTINUATION {
            payload
        } else {
            let mut cursor = frames::without_padding(header, payload)?;
            let stream = self.streams.open(id, span.first_ns, tables);
            let mut promised = None;
            if header.kind == PUSH_PROMISE {
                promised = Some(cursor.u32()? & 0x7fff_ffff);
                value = promised.map(u64::from);
            } else if let Some(priority) = frames::tree_priority(header, &mut cursor) {
                detail.text("priority", &priority);
                if let Some(stream) = stream {
                    stream.exchange.tree_priority(&priority);
                }
            }
            blocks.start(Block {
                stream_id: id,
                promised,
                end_stream: header.kind == HEADERS && header.has(END_STREAM),
                first_ns: span.first_ns,
                bytes: 0,
            });
            cursor.0
        };
        let is_last = header.has(END_HEADERS);
        let whole = blocks.fragment(fragment, is_cut, is_last, &mut tables.stats);
        if let Some((_, true)) = whole {
            detail.fields(&blocks.fields);
        }
        self.row(
            direction,
            header,
            span.first_ns,
            Some(span.last_ns),
            value,
            detail,
            tables,
        );
        if let Some(stream) = self.streams.get(id) {
            let side = stream.sides.of_mut(direction);
            side.pass(span.first_ns, span.last_ns, header.total());
        }
        if let Some((block, is_decoded)) = whole {
            self.header_section(direction, block, is_decoded, span.last_ns, tables);
        }
        Some(())
    }

    /// A whole header section has its effect on its stream.
    fn header_section(
        &mut self,
        direction: Direction,
        block: Block,
        is_decoded: bool,
        last_ns: i64,
        tables: &mut Tables,
    ) {
        let fields = &self.blocks.of(direction).fields;
        let id = block.promised.unwrap_or(block.stream_id);
        let Some(stream) = self.streams.open(id, block.first_ns, tables) else {
            return;
        };
        if block.promised.is_some() {
            stream.exchange.promise(last_ns);
            if is_decoded {
                stream.exchange.fields(Direction::Up, fields, last_ns);
            }
            return;
        }
        let span = Span {
            first_ns: block.first_ns,
            last_ns,
        };
        stream.exchange.header_section(direction, span, block.bytes);
        if is_decoded {
            stream.exchange.fields(direction, fields, last_ns);
        }
        if block.end_stream {
            self.end_stream(direction, id, last_ns, tables);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the columns of one row")]
    fn row(
        &self,
        direction: Direction,
        header: FrameHeader,
        first_ns: i64,
        last_byte_ns: Option<i64>,
        value: Option<u64>,
        detail: Detail,
        tables: &mut Tables,
    ) {
        detail.count_cut(&mut tables.stats);
        tables.http_frames.push(HttpFrame {
            vantage: self.context.vantage(),
            connection: Some(&self.context.connection),
            time_ns: first_ns,
            http_version: self.context.http_version,
            event: direction.event(self.context.vantage),
            direction: Some(direction.as_str()),
            stream_id: (header.stream_id != 0).then_some(header.stream_id.into()),
            frame_type: &names::h2_frame(header.kind),
            length_bytes: Some(header.length as u64),
            end_stream: matches!(header.kind, DATA | HEADERS).then_some(header.has(END_STREAM)),
            value,
            last_byte_ns,
            detail: detail.finish().as_deref(),
        });
    }
}

fn malformed(tables: &mut Tables) {
    tables.count(
        "http2_malformed_frame",
        Severity::Notice,
        "a frame whose payload is not what RFC 9113 asks for, or that stands where it must not",
    );
}
