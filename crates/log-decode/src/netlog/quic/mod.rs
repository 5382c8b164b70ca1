// SPDX-License-Identifier: Apache-2.0
//! One QUIC session: packets, their frames, and what became of them.

mod announced;
mod received;
mod sent;

use super::constants::Constants;
use super::frames::{Carrier, QuicFrame};
use super::handshake::Handshake;
use super::http3::Http3;
use super::params::Params;
use super::recovery::Recovery;
use super::streams::Streams;
use super::Event;
use crate::tables::Tables;
use crate::Direction;
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
        match frame.name.as_ref() {
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
