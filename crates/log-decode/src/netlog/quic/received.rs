// SPDX-License-Identifier: Apache-2.0
//! Receipts of a session: a datagram, then for each of its packets the header, whether it is
//! authentic, its frames.

use super::super::frames::QuicFrame;
use super::super::Event;
use super::{of_header, of_level, Carried, Received, Session, MAX_WAITING};
use crate::tables::{Packet, Tables};
use crate::{base64, Direction, Severity};

impl Session {
    pub(super) fn header(&mut self, event: &Event<'_>, tables: &mut Tables) {
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

    /// Handles what is no use, or not yet; its length is returned, if it is known.
    pub(super) fn not_used(
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

    pub(super) fn wait_for_keys(&mut self, event: &Event<'_>, tables: &mut Tables) {
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
    pub(super) fn alone(&self) -> Option<u64> {
        self.datagram.0.filter(|_| self.datagram.1 == 1)
    }

    /// Nothing more of the datagram will come.
    pub(super) fn settle_last(&mut self, tables: &mut Tables) {
        self.settle(self.alone(), tables);
    }

    pub(super) fn settle(&mut self, length: Option<u64>, tables: &mut Tables) {
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

    pub(super) fn push_received(
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

    pub(super) fn frame_received(&mut self, kind: &str, event: &Event<'_>, tables: &mut Tables) {
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
}
