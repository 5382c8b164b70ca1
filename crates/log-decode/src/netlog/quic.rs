// SPDX-License-Identifier: Apache-2.0
//! One QUIC session: packets, their frames, and what became of them.
//!
//! Frames that are sent stand before their packet. A datagram with an Initial is padded when it is sent: its Initial is
//! written again with PADDING, and all its frames are told again, before the event of the datagram.

use super::constants::{Constants, Phase};
use super::frames::{Carrier, QuicFrame};
use super::handshake::Handshake;
use super::http3::Http3;
use super::parameters;
use super::params::Params;
use super::recovery::{Recovery, Sent};
use super::streams::Streams;
use super::Event;
use crate::tables::{Packet, Tables};
use crate::{base64, Direction, Severity};
use std::collections::VecDeque;

/// Frames that wait for their packet, packets that wait for their datagram, packets that wait for their keys.
const MAX_WAITING: usize = 1 << 10;

#[derive(Debug)]
pub(super) struct Session {
    pub connection: String,
    pub streams: Streams,
    http3: Http3,
    handshake: Handshake,
    recovery: Recovery,
    /// Frames of the packet that will be sent next.
    frames: Vec<QuicFrame>,
    /// Packets that were sent and wait for their datagram to be.
    unsent: Vec<SentPacket>,
    /// The packet whose frames come in.
    carrier: Carried,
    /// The packet whose row waits until it is known whether it is alone in its datagram.
    unsettled: Option<Received>,
    /// Size of the datagram whose packets come in, and how many it has shown so far.
    datagram: (Option<u64>, u32),
    /// Lengths of packets that wait for their keys.
    buffered: VecDeque<Option<u64>>,
    /// The packet that is tried now had waited for its keys.
    trying: bool,
    version_told: bool,
    close_told: bool,
}

#[derive(Debug)]
struct SentPacket {
    time_ns: i64,
    packet_type: Option<&'static str>,
    number: Option<u64>,
    length: Option<u64>,
    trigger: Option<String>,
    frames: Vec<QuicFrame>,
}

/// Type and number of a packet.
type Carried = (Option<&'static str>, Option<u64>);

#[derive(Debug)]
struct Received {
    time_ns: i64,
    packet: Carried,
    authentic: bool,
}

fn of_level(name: &str) -> Option<&'static str> {
    Some(match name {
        "ENCRYPTION_INITIAL" => "initial",
        "ENCRYPTION_HANDSHAKE" => "handshake",
        "ENCRYPTION_ZERO_RTT" => "0RTT",
        "ENCRYPTION_FORWARD_SECURE" => "1RTT",
        _ => return None,
    })
}

fn of_header(params: &Params<'_>) -> Option<&'static str> {
    Some(match params.text("long_header_type").as_deref() {
        Some("INITIAL") => "initial",
        Some("HANDSHAKE") => "handshake",
        Some("ZERO_RTT_PROTECTED") => "0RTT",
        Some("RETRY") => "retry",
        Some("VERSION_NEGOTIATION") => "version_negotiation",
        Some(_) => return None,
        None => "1RTT",
    })
}

impl Session {
    pub(super) fn new(connection: String) -> Self {
        Self {
            connection,
            streams: Streams::new("quic"),
            http3: Http3::default(),
            handshake: Handshake::new("quic"),
            recovery: Recovery::default(),
            frames: vec![],
            unsent: vec![],
            carrier: (None, None),
            unsettled: None,
            datagram: (None, 0),
            buffered: VecDeque::new(),
            trying: false,
            version_told: false,
            close_told: false,
        }
    }

    /// Take one event of the session; false if no table holds it.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        constants: &Constants,
        tables: &mut Tables,
    ) -> bool {
        let params = &event.params;
        if event.name.starts_with("HTTP3_") {
            return self
                .http3
                .event(&self.connection, event, &mut self.streams, tables);
        }
        let name = event
            .name
            .strip_prefix("QUIC_SESSION_")
            .unwrap_or(event.name);
        match name {
            "PACKET_SENT" => self.packet_sent(event, tables),
            "COALESCED_PACKET_SENT" => self.datagram_sent(params, tables),
            "PACKET_LOST" => self.packet_lost(event, tables),
            "PACKET_RECEIVED" => {
                self.settle_last(tables);
                self.flush_unsent(tables);
                self.datagram = (params.unsigned("size"), 0);
                self.trying = false;
            }
            "UNAUTHENTICATED_PACKET_HEADER_RECEIVED" => self.header(event, tables),
            "PACKET_AUTHENTICATED" => {
                if let Some(packet) = &mut self.unsettled {
                    packet.authentic = true;
                }
            }
            "DUPLICATE_PACKET_RECEIVED" => {
                self.not_used(event, "dropped", "duplicate", tables);
            }
            "DROPPED_UNDECRYPTABLE_PACKET" => {
                self.not_used(event, "dropped", "key_unavailable", tables);
            }
            "BUFFERED_UNDECRYPTABLE_PACKET" => self.wait_for_keys(event, tables),
            "ATTEMPTING_TO_PROCESS_UNDECRYPTABLE_PACKET" => {
                self.settle_last(tables);
                self.datagram = (self.buffered.pop_front().flatten(), 0);
                self.trying = true;
            }
            "STREAM_FRAME_COALESCED" => self.coalesced(params),
            _ => {
                if let Some(kind) = name.strip_suffix("_FRAME_SENT") {
                    self.frame_sent(kind, event, tables);
                } else if let Some(kind) = name.strip_suffix("_FRAME_RECEIVED") {
                    self.frame_received(kind, event, tables);
                } else {
                    return self.announced(name, event, constants, tables);
                }
            }
        }
        true
    }

    fn packet_sent(&mut self, event: &Event<'_>, tables: &mut Tables) {
        self.settle_last(tables);
        let params = &event.params;
        let time_ns = event.exact_ns(params.number("sent_time_us"));
        let transmission = params
            .text("transmission_type")
            .filter(|kind| kind != "NOT_RETRANSMISSION");
        let packet = SentPacket {
            time_ns,
            packet_type: params
                .text("encryption_level")
                .and_then(|level| of_level(&level)),
            number: params.unsigned("packet_number"),
            length: params.unsigned("size"),
            trigger: transmission.map(|kind| kind.to_ascii_lowercase()),
            frames: std::mem::take(&mut self.frames),
        };
        let waits = packet.packet_type == Some("initial") || !self.unsent.is_empty();
        if waits && self.unsent.len() < 8 {
            self.unsent.push(packet);
        } else {
            self.flush_unsent(tables);
            self.push_sent(&packet, tables);
        }
    }

    /// A datagram left: if it was padded, its Initial was written again.
    fn datagram_sent(&mut self, params: &Params<'_>, tables: &mut Tables) {
        let info = params.text("info").unwrap_or_default();
        let padded = self
            .frames
            .last()
            .is_some_and(|frame| frame.name == "padding");
        if padded && info.contains("ENCRYPTION_INITIAL") {
            if let Some(initial) = self
                .unsent
                .iter_mut()
                .find(|packet| packet.packet_type == Some("initial"))
            {
                let padding = self.frames.pop();
                let again = self.frames.len().saturating_sub(initial.frames.len());
                self.frames.truncate(again);
                let added = padding.as_ref().and_then(|frame| frame.length);
                initial.length = initial
                    .length
                    .map(|length| length.saturating_add(added.unwrap_or_default()));
                initial.frames.extend(padding);
            }
        }
        self.flush_unsent(tables);
    }

    fn flush_unsent(&mut self, tables: &mut Tables) {
        for packet in std::mem::take(&mut self.unsent) {
            self.push_sent(&packet, tables);
        }
    }

    fn push_sent(&mut self, packet: &SentPacket, tables: &mut Tables) {
        let SentPacket {
            time_ns,
            packet_type,
            number,
            length,
            ..
        } = *packet;
        tables.packets.push(Packet {
            vantage: Some("client"),
            connection: Some(&self.connection),
            time_ns,
            transport: "quic",
            event: "sent",
            direction: Some("up"),
            packet_type,
            packet_number: number,
            length_bytes: length,
            trigger: packet.trigger.as_deref(),
            ..Packet::default()
        });
        if let Some(number) = number {
            self.recovery.sent(
                number,
                Sent {
                    time_ns,
                    packet_type,
                    length,
                },
            );
        }
        for frame in &packet.frames {
            self.push_frame(frame, time_ns, Direction::Up, (packet_type, number), tables);
        }
    }

    fn push_frame(
        &mut self,
        frame: &QuicFrame,
        time_ns: i64,
        direction: Direction,
        packet: Carried,
        tables: &mut Tables,
    ) {
        let event = if direction == Direction::Up {
            "sent"
        } else {
            "received"
        };
        let (packet_type, packet_number) = packet;
        let carrier = Carrier {
            connection: &self.connection,
            time_ns,
            event,
            direction,
            packet_type,
            packet_number,
        };
        frame.push(carrier, tables);
        let Some(id) = frame.stream_id else { return };
        let way = (id, direction);
        match frame.name.as_str() {
            "stream" => {
                let extent = (
                    frame.offset.unwrap_or_default(),
                    frame.length.unwrap_or_default(),
                );
                self.streams
                    .data(&self.connection, way, extent, time_ns, tables);
                if frame.fin == Some(true) {
                    self.streams.end(&self.connection, way, "fin", tables);
                }
            }
            "reset_stream" => self.streams.end(&self.connection, way, "reset", tables),
            "stop_sending" => {
                self.streams.end(
                    &self.connection,
                    (id, direction.reverse()),
                    "stop_sending",
                    tables,
                );
            }
            _ => {}
        }
    }

    fn packet_lost(&mut self, event: &Event<'_>, tables: &mut Tables) {
        let Some(number) = event.params.unsigned("packet_number") else {
            return;
        };
        let time_ns = event.exact_ns(event.params.number("detection_time_us"));
        let sent = self
            .recovery
            .lost(&self.connection, number, time_ns, tables);
        tables.packets.push(Packet {
            vantage: Some("client"),
            connection: Some(&self.connection),
            time_ns,
            transport: "quic",
            event: "lost",
            direction: Some("up"),
            packet_type: sent.and_then(|sent| sent.packet_type),
            packet_number: Some(number),
            length_bytes: sent.and_then(|sent| sent.length),
            ..Packet::default()
        });
    }

    fn header(&mut self, event: &Event<'_>, tables: &mut Tables) {
        // A second packet in the datagram: how long each is, the log does not say.
        self.settle(None, tables);
        self.trying = false;
        self.datagram.1 = self.datagram.1.saturating_add(1);
        self.carrier = (
            of_header(&event.params),
            event.params.unsigned("packet_number"),
        );
        self.unsettled = Some(Received {
            time_ns: event.time_ns,
            packet: self.carrier,
            authentic: false,
        });
    }

    /// What is no use, or not yet; its length is returned, if it is known.
    fn not_used(
        &mut self,
        event: &Event<'_>,
        what: &'static str,
        why: &str,
        tables: &mut Tables,
    ) -> Option<u64> {
        let known = self.unsettled.take_if(|packet| !packet.authentic);
        let packet = if let Some(known) = known {
            known.packet
        } else {
            self.settle(None, tables);
            self.datagram.1 = self.datagram.1.saturating_add(1);
            let level = event.params.text("encryption_level");
            (
                level.and_then(|level| of_level(&level)),
                event.params.unsigned("packet_number"),
            )
        };
        let length = self.alone();
        self.push_received(event.time_ns, what, packet, (length, Some(why)), tables);
        length
    }

    fn wait_for_keys(&mut self, event: &Event<'_>, tables: &mut Tables) {
        let length = if std::mem::take(&mut self.trying) {
            // It goes on waiting, which was told before.
            self.datagram.0
        } else {
            self.not_used(event, "buffered", "keys_unavailable", tables)
        };
        if self.buffered.len() < MAX_WAITING {
            self.buffered.push_back(length);
        }
    }

    /// The length of the packet that is alone in its datagram.
    fn alone(&self) -> Option<u64> {
        self.datagram.0.filter(|_| self.datagram.1 == 1)
    }

    /// Nothing more of the datagram will come.
    fn settle_last(&mut self, tables: &mut Tables) {
        self.settle(self.alone(), tables);
    }

    fn settle(&mut self, length: Option<u64>, tables: &mut Tables) {
        match self.unsettled.take() {
            Some(packet) if packet.authentic => {
                self.push_received(
                    packet.time_ns,
                    "received",
                    packet.packet,
                    (length, None),
                    tables,
                );
            }
            Some(_) => tables.count(
                "packet_not_authenticated",
                Severity::Notice,
                "a header was read, but the log does not say what became of the packet",
            ),
            None => {}
        }
    }

    fn push_received(
        &self,
        time_ns: i64,
        event: &'static str,
        (packet_type, packet_number): Carried,
        (length_bytes, trigger): (Option<u64>, Option<&str>),
        tables: &mut Tables,
    ) {
        tables.packets.push(Packet {
            vantage: Some("client"),
            connection: Some(&self.connection),
            time_ns,
            transport: "quic",
            event,
            direction: Some("down"),
            packet_type,
            packet_number,
            length_bytes,
            trigger,
            ..Packet::default()
        });
    }

    /// The frame that stands last grew; it is told again as it is now.
    fn coalesced(&mut self, params: &Params<'_>) {
        let frame = QuicFrame::new("STREAM", params);
        let grown = self
            .frames
            .last_mut()
            .filter(|last| last.stream_id == frame.stream_id && last.offset == frame.offset);
        if let Some(grown) = grown {
            *grown = frame;
        }
    }

    fn frame_sent(&mut self, kind: &str, event: &Event<'_>, tables: &mut Tables) {
        let frame = QuicFrame::new(kind, &event.params);
        if kind == "CRYPTO" {
            let level = event.params.text("encryption_level").unwrap_or_default();
            let extent = (
                level.as_ref(),
                frame.offset.unwrap_or_default(),
                frame.length.unwrap_or_default(),
            );
            self.handshake
                .crypto_sent(&self.connection, event.time_ns, extent, tables);
        }
        if self.frames.len() >= MAX_WAITING {
            tables.count(
                "frame_without_packet",
                Severity::DataLoss,
                "frames were sent, but the log shows no packet with them",
            );
            self.frames.clear();
        }
        self.frames.push(frame);
    }

    fn frame_received(&mut self, kind: &str, event: &Event<'_>, tables: &mut Tables) {
        let frame = QuicFrame::new(kind, &event.params);
        self.recovery
            .acknowledged(&frame.acknowledged, event.time_ns);
        self.push_frame(&frame, event.time_ns, Direction::Down, self.carrier, tables);
        let connection = &self.connection;
        match kind {
            "CRYPTO" => {
                let level = event.params.text("encryption_level").unwrap_or_default();
                if let Some(bytes) = event
                    .params
                    .text("bytes")
                    .and_then(|bytes| base64::decode(&bytes))
                {
                    let part = (level.as_ref(), frame.offset.unwrap_or_default(), bytes);
                    self.handshake
                        .crypto_received(connection, event.time_ns, part, tables);
                }
            }
            "HANDSHAKE_DONE" => {
                let step = ("handshake_done", None, None);
                self.handshake
                    .step(connection, event.time_ns, Direction::Down, step, tables);
            }
            _ => {}
        }
    }

    /// What is announced or negotiated; false if no table holds it.
    fn announced(
        &mut self,
        name: &str,
        event: &Event<'_>,
        constants: &Constants,
        tables: &mut Tables,
    ) -> bool {
        let Event {
            time_ns, params, ..
        } = event;
        let (connection, time_ns) = (self.connection.as_str(), *time_ns);
        match name {
            "TRANSPORT_PARAMETERS_SENT"
            | "TRANSPORT_PARAMETERS_RECEIVED"
            | "TRANSPORT_PARAMETERS_RESUMED" => {
                let owner = match name {
                    "TRANSPORT_PARAMETERS_SENT" => "parameters_set.local",
                    "TRANSPORT_PARAMETERS_RECEIVED" => "parameters_set.remote",
                    _ => "parameters_restored.remote",
                };
                let text = params.text("quic_transport_parameters").unwrap_or_default();
                for (name, value) in parameters::transport_parameters(&text) {
                    parameters::push(
                        connection,
                        time_ns,
                        &format!("{owner}.{name}"),
                        &value,
                        tables,
                    );
                }
            }
            "VERSION_NEGOTIATED" => {
                if !std::mem::replace(&mut self.version_told, true) {
                    let version = params.text("version").unwrap_or_default();
                    parameters::push(
                        connection,
                        time_ns,
                        "version_information.chosen_version",
                        &version,
                        tables,
                    );
                }
            }
            "VERSION_NEGOTIATION_PACKET_RECEIVED" => {
                let step = ("version_negotiation", None, params.raw("versions"));
                self.handshake
                    .step(connection, time_ns, Direction::Down, step, tables);
            }
            "CLOSED" if self.close_told => {}
            "CLOSED" => {
                self.close_told = true;
                let owner = if params.flag("from_peer") == Some(true) {
                    "remote"
                } else {
                    "local"
                };
                let error = params
                    .number("quic_error")
                    .map(|number| constants.quic_error(number));
                let details = params.text("details").unwrap_or_default();
                parameters::push(
                    connection,
                    time_ns,
                    "connection_closed.owner",
                    owner,
                    tables,
                );
                parameters::push(
                    connection,
                    time_ns,
                    "connection_closed.connection_error",
                    &error.unwrap_or_default(),
                    tables,
                );
                parameters::push(
                    connection,
                    time_ns,
                    "connection_closed.reason",
                    &details,
                    tables,
                );
            }
            "QUIC_SESSION" if event.phase == Phase::Begin => {
                parameters::push_all(connection, time_ns, "quic_session", params, tables);
            }
            "QUIC_SESSION" => self.finish(tables),
            "ZERO_RTT_STATE"
            | "ZERO_RTT_REJECTED"
            | "QUIC_CONGESTION_CONTROL_CONFIGURED"
            | "KEY_UPDATE" => {
                let prefix = name.trim_start_matches("QUIC_").to_ascii_lowercase();
                parameters::push_all(connection, time_ns, &prefix, params, tables);
            }
            _ => return false,
        }
        true
    }

    /// Bytes of the body that went one way on a stream, by the DATA frames.
    pub(super) fn body_bytes(&self, stream: u64, direction: Direction) -> Option<u64> {
        self.http3.body_bytes(stream, direction)
    }

    /// The session, or the log, ends.
    pub(super) fn finish(&mut self, tables: &mut Tables) {
        self.settle_last(tables);
        self.flush_unsent(tables);
        self.recovery.finish(&self.connection, tables);
        self.streams.finish(&self.connection, tables);
    }
}
