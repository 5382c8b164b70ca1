// SPDX-License-Identifier: Apache-2.0
//! Sendings of a session.
//!
//! Frames stand before their packet. A datagram with an Initial is padded when it is sent: its Initial is written again
//! with PADDING, and all its frames are told again, before the event of the datagram.

use super::super::frames::QuicFrame;
use super::super::params::Params;
use super::super::recovery::Sent;
use super::super::Event;
use super::{of_level, SentPacket, Session, MAX_WAITING};
use crate::tables::{Packet, Tables};
use crate::{Direction, Severity};

impl Session {
    pub(super) fn packet_sent(&mut self, event: &Event<'_>, tables: &mut Tables) {
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
    pub(super) fn datagram_sent(&mut self, params: &Params<'_>, tables: &mut Tables) {
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

    pub(super) fn flush_unsent(&mut self, tables: &mut Tables) {
        for packet in std::mem::take(&mut self.unsent) {
            self.push_sent(&packet, tables);
        }
    }

    pub(super) fn push_sent(&mut self, packet: &SentPacket, tables: &mut Tables) {
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

    pub(super) fn packet_lost(&mut self, event: &Event<'_>, tables: &mut Tables) {
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

    /// The frame that stands last grew; it is told again as it is now.
    pub(super) fn coalesced(&mut self, params: &Params<'_>) {
        let frame = QuicFrame::new("STREAM", params);
        let grown = self
            .frames
            .last_mut()
            .filter(|last| last.stream_id == frame.stream_id && last.offset == frame.offset);
        if let Some(grown) = grown {
            *grown = frame;
        }
    }

    pub(super) fn frame_sent(&mut self, kind: &str, event: &Event<'_>, tables: &mut Tables) {
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
}
