// SPDX-License-Identifier: Apache-2.0
//! Packets and their frames, and what follows from them: acknowledgments, losses, streams, limits, handshake.

use super::context::{Context, State};
use super::event::Packet as Header;
use super::frame::Frame;
use super::names::{packet_type, packet_type_of_space, FrameType};
use crate::json::{number, Reader};
use crate::tables::{Ack, FlowControl, Frame as FrameRow, Packet, Tables};
use serde_json::Value;

const QUIC: &str = "quic";
/// Longer members of a frame are left out of the column `detail`.
const MAX_DETAIL_BYTES: usize = 1024;

/// Statements of a packet event about the packet, in its header or, in some dialects, beside it.
struct Whole {
    packet_type: Option<&'static str>,
    number: Option<u64>,
    length: Option<u64>,
}

impl Whole {
    fn of(context: &Context<'_>) -> Self {
        let event = context.event;
        let header = &event.packet;
        let mut whole = Self {
            packet_type: header.packet_type,
            number: header.number,
            length: header.length,
        };
        if whole.packet_type.is_none() || whole.number.is_none() {
            let mut beside = Header::default();
            for (key, value) in &event.members {
                let key = key.of(context.text);
                if matches!(
                    key,
                    b"packet_type" | b"type" | b"packet_number" | b"packet_size"
                ) {
                    // A value ends where its text does: the reader wants to see it end.
                    let mut text = value.of(context.text).to_vec();
                    text.push(b' ');
                    // What cannot be read is not there.
                    let _ = beside.read_member(&mut Reader::new(&text), key);
                }
            }
            whole.packet_type = whole.packet_type.or(beside.packet_type);
            whole.number = whole.number.or(beside.number);
            whole.length = whole.length.or(beside.length);
        }
        whole
    }
}

/// `packet_sent`, `packet_received`, `packet_lost`, `packet_dropped`, `packet_buffered`.
pub(super) fn packet(
    kind: &'static str,
    context: &Context<'_>,
    state: &mut State<'_>,
    tables: &mut Tables,
) {
    let (event, who, time_ns) = (context.event, context.who, context.time_ns);
    let packet = Whole::of(context);
    let sent = kind == "sent";
    let direction = if sent || kind == "lost" {
        who.outbound
    } else {
        who.inbound
    };
    let trigger = context.trigger();
    tables.packets.push(Packet {
        vantage: who.vantage,
        connection: Some(who.connection),
        time_ns,
        transport: QUIC,
        event: kind,
        direction,
        packet_type: packet.packet_type,
        packet_number: packet.number,
        length_bytes: packet.length,
        key_phase: event.packet.key_phase,
        trigger: trigger.as_deref(),
        ..Packet::default()
    });
    if let Some(number) = packet.number {
        if sent {
            state
                .losses
                .sent(packet.packet_type, number, time_ns, packet.length);
        } else if kind == "lost" {
            let lost = (packet.packet_type, number, time_ns, packet.length);
            state.losses.lost(lost, trigger.as_deref(), who, tables);
        }
    }
    let counts = sent || kind == "received";
    if counts {
        if let Some(step @ ("retry" | "version_negotiation")) = packet.packet_type {
            state.handshake.step(step, direction, time_ns, who, tables);
        }
    }
    let row = Row {
        kind,
        direction,
        packet_type: packet.packet_type,
        packet_number: packet.number,
    };
    row.push_all(counts, context, state, tables);
}

/// `frames_created`, `frames_parsed`: frames that are told of without their packet.
pub(super) fn frames(
    kind: &'static str,
    context: &Context<'_>,
    state: &mut State<'_>,
    tables: &mut Tables,
) {
    let sent = kind == "sent";
    let numbers = context.event.member(context.text, b"packet_numbers");
    let numbers: Option<Vec<u64>> =
        numbers.and_then(|list| serde_json::from_slice(list.of(context.text)).ok());
    let row = Row {
        kind,
        direction: if sent {
            context.who.outbound
        } else {
            context.who.inbound
        },
        packet_type: None,
        // Of several packets no single one carries the frames.
        packet_number: numbers.and_then(|numbers| match numbers[..] {
            [number] => Some(number),
            _ => None,
        }),
    };
    row.push_all(true, context, state, tables);
}

/// Statements of a frame that no other column holds.
fn detail(frame: &Frame, context: &Context<'_>) -> Option<String> {
    let (start, end) = frame.details;
    let told = (context.event.store.details).get(start as usize..end as usize)?;
    let limits_streams = matches!(
        frame.kind,
        FrameType::MaxStreams | FrameType::StreamsBlocked
    );
    let stream_type = if frame.unidirectional {
        "unidirectional"
    } else {
        "bidirectional"
    };
    let mut members = serde_json::Map::new();
    if limits_streams && frame.stream_type_told {
        members.insert("stream_type".into(), stream_type.into());
    }
    for (name, value) in told {
        let text = context.text(*value);
        let value = match *name {
            "final_size" | "reliable_size" | "retire_prior_to" => {
                number::unsigned(text.as_bytes()).map(Value::from)
            }
            _ if text.len() > MAX_DETAIL_BYTES || matches!(text.as_ref(), "null" | "") => None,
            // 0.3 calls them `transport_error` and `application_error`.
            "error_space" => Some(text.trim_end_matches("_error").into()),
            "connection_id" | "data" | "reason_bytes" => Some(text.to_ascii_lowercase().into()),
            _ => Some(text.as_ref().into()),
        };
        members.extend(value.map(|value| ((*name).to_owned(), value)));
    }
    (!members.is_empty()).then(|| Value::Object(members).to_string())
}

/// The packet that carries a frame.
struct Row {
    kind: &'static str,
    direction: Option<&'static str>,
    packet_type: Option<&'static str>,
    packet_number: Option<u64>,
}

impl Row {
    /// The event's frames; `counts`: they were sent or received, and so have effects.
    fn push_all(
        &self,
        counts: bool,
        context: &Context<'_>,
        state: &mut State<'_>,
        tables: &mut Tables,
    ) {
        for frame in &context.event.frames {
            self.push(frame, context, tables);
            if frame.kind == FrameType::Ack {
                self.push_ranges(frame, context, state, tables);
            } else if counts {
                self.follow(frame, context, state, tables);
            }
        }
    }

    fn push(&self, frame: &Frame, context: &Context<'_>, tables: &mut Tables) {
        let own;
        let frame_type = match frame.kind {
            FrameType::Other => {
                own = context.text(frame.name).to_ascii_lowercase();
                if own.is_empty() {
                    "unknown"
                } else {
                    &own
                }
            }
            known => known.as_str(),
        };
        tables.frames.push(FrameRow {
            vantage: context.who.vantage,
            connection: Some(context.who.connection),
            time_ns: context.time_ns,
            event: self.kind,
            direction: self.direction,
            packet_type: self.packet_type,
            packet_number: self.packet_number,
            frame_type,
            stream_id: frame.stream_id,
            offset: frame.offset,
            length_bytes: frame.length,
            fin: frame.fin,
            value: frame.value,
            detail: detail(frame, context).as_deref(),
        });
    }

    fn push_ranges(
        &self,
        frame: &Frame,
        context: &Context<'_>,
        state: &mut State<'_>,
        tables: &mut Tables,
    ) {
        let is_time = context.writer.ack_delay_is_time();
        let unit = if context.writer.leaves_out_exponent() && self.packet_type == Some("1RTT") {
            state.ack_exponents.unit_us(self.direction)
        } else {
            1.0
        };
        let to_us = context.to_ms * 1000.0 * unit;
        let ack_delay_us = frame
            .ack_delay
            .filter(|_| is_time)
            .map(|delay| delay * to_us);
        let (start, end) = frame.ranges;
        let ranges = context.event.store.ranges.get(start as usize..end as usize);
        for &(first, last) in ranges.unwrap_or_default() {
            if self.kind == "received" {
                state
                    .losses
                    .acknowledged(self.packet_type, first, last, context.time_ns);
            }
            tables.acks.push(Ack {
                vantage: context.who.vantage,
                connection: Some(context.who.connection),
                time_ns: context.time_ns,
                transport: QUIC,
                event: self.kind,
                direction: self.direction,
                packet_type: self.packet_type,
                packet_number: self.packet_number,
                kind: "ack",
                first,
                last,
                ack_delay_us,
                ect0: frame.ecn[0],
                ect1: frame.ecn[1],
                ce: frame.ecn[2],
            });
        }
    }

    /// Follows the changes by a frame that was sent or received.
    fn follow(
        &self,
        frame: &Frame,
        context: &Context<'_>,
        state: &mut State<'_>,
        tables: &mut Tables,
    ) {
        let (who, time_ns) = (context.who, context.time_ns);
        let sent = self.kind == "sent";
        match (frame.kind, frame.stream_id) {
            (FrameType::Stream, Some(id)) => {
                let offset = frame.offset.unwrap_or(0);
                let data = (offset, frame.length, frame.fin == Some(true));
                state.streams.data((id, sent), data, time_ns, who, tables);
            }
            (FrameType::ResetStream | FrameType::ResetStreamAt, Some(id)) => {
                state.streams.end(id, sent, "reset", who, tables);
            }
            (FrameType::StopSending, Some(id)) => {
                state.streams.end(id, !sent, "stop_sending", who, tables);
            }
            (FrameType::Crypto, _) => {
                let offset = frame.offset.unwrap_or(0);
                let carrier = (self.packet_type, self.direction);
                state
                    .handshake
                    .crypto(carrier, offset, time_ns, who, tables);
            }
            (FrameType::HandshakeDone, _) => {
                state
                    .handshake
                    .step("handshake_done", self.direction, time_ns, who, tables);
            }
            (kind, _) => self.push_limit(kind, frame, context, tables),
        }
    }

    fn push_limit(
        &self,
        kind: FrameType,
        frame: &Frame,
        context: &Context<'_>,
        tables: &mut Tables,
    ) {
        let streams = if frame.unidirectional {
            "streams_uni"
        } else {
            "streams_bidi"
        };
        let (event, scope) = match kind {
            FrameType::MaxData => ("limit", "connection"),
            FrameType::MaxStreamData => ("limit", "stream"),
            FrameType::MaxStreams => ("limit", streams),
            FrameType::DataBlocked => ("blocked", "connection"),
            FrameType::StreamDataBlocked => ("blocked", "stream"),
            FrameType::StreamsBlocked => ("blocked", streams),
            _ => return,
        };
        // What is allowed, or held back, goes the other way than the frame that allows it.
        let sent = self.kind == "sent";
        let outbound = if event == "limit" { !sent } else { sent };
        tables.flow_control.push(FlowControl {
            vantage: context.who.vantage,
            connection: Some(context.who.connection),
            time_ns: context.time_ns,
            transport: QUIC,
            event,
            direction: if outbound {
                context.who.outbound
            } else {
                context.who.inbound
            },
            scope,
            stream_id: frame.stream_id,
            limit: frame.value,
            ..FlowControl::default()
        });
    }
}

/// `packets_acked`: what the sender learnt from an acknowledgment.
pub(super) fn acked(context: &Context<'_>, state: &mut State<'_>) {
    let space = context.member("packet_number_space");
    let space = space
        .as_deref()
        .and_then(|space| packet_type_of_space(space.as_bytes()));
    let space = space.or_else(|| packet_type(context.member("packet_type")?.as_bytes()));
    let Some(numbers) = context.event.member(context.text, b"packet_numbers") else {
        return;
    };
    let mut reader = Reader::new(numbers.of(context.text));
    let Ok(mut inside) = reader.enter(b'[') else {
        return;
    };
    while let Ok(true) = reader.next_item(&mut inside) {
        let Ok(number) = reader.unsigned() else {
            return;
        };
        if let Some(number) = number {
            state
                .losses
                .acknowledged(space, number, number, context.time_ns);
        }
    }
}
