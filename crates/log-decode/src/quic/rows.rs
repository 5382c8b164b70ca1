// SPDX-License-Identifier: Apache-2.0
//! Frames as rows of the tables `frames`, `acks` and `flow_control`.

use super::ack::Ack;
use super::frame::Frame;
use super::wire::hex;
use crate::tables::{Ack as AckRow, FlowControl, Frame as FrameRow, Parameter, Tables};
use crate::Direction;
use serde_json::json;

/// Values that all rows of one connection have in common.
#[derive(Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) vantage: Option<&'static str>,
    pub(super) connection: Option<&'a str>,
}

/// Values that all rows of one packet have in common.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) vantage: Option<&'static str>,
    pub(super) connection: Option<&'a str>,
    pub(super) time_ns: i64,
    pub(super) event: &'static str,
    /// The way of the packet.
    pub(super) way: Direction,
    pub(super) packet_type: Option<&'static str>,
    pub(super) packet_number: Option<u64>,
}

impl<'a> Row<'a> {
    /// The connection of the packet.
    pub(super) fn owner(&self) -> Owner<'a> {
        Owner {
            vantage: self.vantage,
            connection: self.connection,
        }
    }

    /// The frame and what it says; ACK delays are in units of 2^`ack_delay_exponent` microseconds.
    pub(super) fn frame(&self, frame: &Frame<'_>, ack_delay_exponent: u32, tables: &mut Tables) {
        let mut row = FrameRow {
            vantage: self.vantage,
            connection: self.connection,
            time_ns: self.time_ns,
            event: self.event,
            direction: Some(self.way.as_str()),
            packet_type: self.packet_type,
            packet_number: self.packet_number,
            frame_type: frame.name(),
            ..FrameRow::default()
        };
        match *frame {
            Frame::Padding { length } | Frame::NewToken { length } | Frame::Datagram { length } => {
                row.length_bytes = Some(length);
            }
            Frame::Crypto { offset, data } => {
                row.offset = Some(offset);
                row.length_bytes = Some(data.len() as u64);
            }
            Frame::Stream {
                id,
                offset,
                fin,
                data,
            } => {
                row.stream_id = Some(id);
                row.offset = Some(offset);
                row.length_bytes = Some(data.len() as u64);
                row.fin = Some(fin);
            }
            Frame::ResetStream {
                id,
                error_code: value,
                ..
            }
            | Frame::StopSending {
                id,
                error_code: value,
            }
            | Frame::MaxStreamData { id, limit: value }
            | Frame::StreamDataBlocked { id, limit: value } => {
                row.stream_id = Some(id);
                row.value = Some(value);
            }
            Frame::MaxData(value)
            | Frame::DataBlocked(value)
            | Frame::MaxStreams { limit: value, .. }
            | Frame::StreamsBlocked { limit: value, .. }
            | Frame::NewConnectionId {
                sequence: value, ..
            }
            | Frame::RetireConnectionId(value)
            | Frame::ConnectionClose {
                error_code: value, ..
            }
            | Frame::AckFrequency { sequence: value } => row.value = Some(value),
            Frame::Ack(ref ack) => self.ack(ack, ack_delay_exponent, tables),
            Frame::PathAck { path, ref ack } => {
                row.value = Some(path);
                if path == 0 {
                    self.ack(ack, ack_delay_exponent, tables);
                }
            }
            Frame::Extension(extension) => row.value = extension.value,
            Frame::Ping
            | Frame::PathChallenge(_)
            | Frame::PathResponse(_)
            | Frame::HandshakeDone
            | Frame::ImmediateAck => {}
        }
        let detail = detail(frame);
        row.detail = detail.as_deref();
        tables.frames.push(row);
        self.limit(frame, tables);
    }

    fn ack(&self, ack: &Ack<'_>, ack_delay_exponent: u32, tables: &mut Tables) {
        let delay_us = delay_us(ack.delay, ack_delay_exponent);
        for (first, last) in ack.ranges() {
            tables.acks.push(AckRow {
                vantage: self.vantage,
                connection: self.connection,
                time_ns: self.time_ns,
                transport: "quic",
                event: self.event,
                direction: Some(self.way.as_str()),
                packet_type: self.packet_type,
                packet_number: self.packet_number,
                kind: "ack",
                first,
                last,
                ack_delay_us: Some(delay_us),
                ect0: ack.ecn.map(|ecn| ecn.ect0),
                ect1: ack.ecn.map(|ecn| ecn.ect1),
                ce: ack.ecn.map(|ecn| ecn.ce),
            });
        }
    }

    /// Adds what the frame says about limits: a receiver grants one for the other way, a sender is
    /// held back on its own.
    fn limit(&self, frame: &Frame<'_>, tables: &mut Tables) {
        let scope_of_number = |bidirectional| {
            if bidirectional {
                "streams_bidi"
            } else {
                "streams_uni"
            }
        };
        let (granted, scope, stream_id, limit) = match *frame {
            Frame::MaxData(limit) => (true, "connection", None, limit),
            Frame::MaxStreamData { id, limit } => (true, "stream", Some(id), limit),
            Frame::MaxStreams {
                bidirectional,
                limit,
            } => (true, scope_of_number(bidirectional), None, limit),
            Frame::DataBlocked(limit) => (false, "connection", None, limit),
            Frame::StreamDataBlocked { id, limit } => (false, "stream", Some(id), limit),
            Frame::StreamsBlocked {
                bidirectional,
                limit,
            } => (false, scope_of_number(bidirectional), None, limit),
            _ => return,
        };
        self.flow_control(granted, scope, stream_id, limit, tables);
    }

    pub(super) fn flow_control(
        &self,
        granted: bool,
        scope: &'static str,
        stream_id: Option<u64>,
        limit: u64,
        tables: &mut Tables,
    ) {
        let (event, limited) = if granted {
            ("limit", self.way.reverse())
        } else {
            ("blocked", self.way)
        };
        tables.flow_control.push(FlowControl {
            vantage: self.vantage,
            connection: self.connection,
            time_ns: self.time_ns,
            transport: "quic",
            event,
            direction: Some(limited.as_str()),
            scope,
            stream_id,
            limit: Some(limit),
            ..FlowControl::default()
        });
    }

    pub(super) fn parameter(&self, name: &str, value: &str, tables: &mut Tables) {
        tables.parameters.push(Parameter {
            vantage: self.vantage,
            connection: self.connection,
            time_ns: self.time_ns,
            name,
            value,
        });
    }

    /// The end of the connection, as its sender says it.
    pub(super) fn close(
        &self,
        application: bool,
        error_code: u64,
        reason: &[u8],
        tables: &mut Tables,
    ) {
        let sender = self.way.sender().as_str();
        let kind = if application {
            "application_code"
        } else {
            "connection_code"
        };
        let name = format!("connection_closed.{sender}.{kind}");
        self.parameter(&name, &error_code.to_string(), tables);
        if !reason.is_empty() {
            let text = std::str::from_utf8(reason).map_or_else(|_| hex(reason), str::to_owned);
            self.parameter(&format!("connection_closed.{sender}.reason"), &text, tables);
        }
    }
}

/// Microseconds of an ACK Delay field.
pub(super) fn delay_us(delay: u64, exponent: u32) -> f64 {
    #[allow(
        clippy::cast_precision_loss,
        reason = "nobody delays an ACK by 2^53 us"
    )]
    let delay = delay as f64;
    delay * f64::from(1_u32.checked_shl(exponent).unwrap_or(u32::MAX))
}

/// Statements of a frame beyond a number, in the words of qlog.
fn detail(frame: &Frame<'_>) -> Option<String> {
    let stream_type = |bidirectional| {
        let name = if bidirectional {
            "bidirectional"
        } else {
            "unidirectional"
        };
        json!({ "stream_type": name })
    };
    let told = match *frame {
        Frame::ResetStream {
            final_size,
            reliable_size: None,
            ..
        } => json!({ "final_size": final_size }),
        Frame::ResetStream {
            final_size,
            reliable_size: Some(reliable_size),
            ..
        } => json!({ "final_size": final_size, "reliable_size": reliable_size }),
        Frame::MaxStreams { bidirectional, .. } | Frame::StreamsBlocked { bidirectional, .. } => {
            stream_type(bidirectional)
        }
        Frame::NewConnectionId {
            retire_prior_to,
            ref id,
            ..
        } => json!({ "retire_prior_to": retire_prior_to, "connection_id": hex(id.as_bytes()) }),
        Frame::PathChallenge(data) | Frame::PathResponse(data) => json!({ "data": hex(&data) }),
        Frame::ConnectionClose { application, .. } => {
            json!({ "error_space": if application { "application" } else { "transport" } })
        }
        _ => return None,
    };
    Some(told.to_string())
}
