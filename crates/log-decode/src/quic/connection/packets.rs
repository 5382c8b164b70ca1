// SPDX-License-Identifier: Apache-2.0
//! Packets that were opened: their rows, and what their frames change.

use super::{push_packet, space_of, At, Connection};
use crate::quic::frame::{self, Frame, Stop};
use crate::quic::handshake::Space;
use crate::quic::header::{Kind, Long};
use crate::quic::protection::Unprotected;
use crate::quic::sent_packets::Content;
use crate::tables::Tables;
use crate::tls::Reader;
use crate::{Direction, Severity};
use std::rc::Rc;

impl Connection {
    /// A packet with a long header has been opened.
    pub(in crate::quic) fn long(
        &mut self,
        at: At,
        long: &Long<'_>,
        header: Unprotected,
        payload: &[u8],
        tables: &mut Tables,
    ) {
        let space = space_of(long.kind);
        // The server's word decides, in the end (RFC 9368 section 2.3).
        if at.way == Direction::Down && long.kind != Kind::ZeroRtt {
            self.version = long.version;
        }
        self.peers.learn(long.scid, at.way.sender());
        if at.way == Direction::Up {
            self.handshake.token_bytes = long.token.len();
            self.after_retry(long, space, header.number, tables);
        }
        // RFC 9001 section 4.9.1.
        if space == Space::Handshake && at.way == Direction::Up {
            self.recovery.discard(Space::Initial);
        }
        self.packet(at, long.kind.as_str(), space, header, payload, tables);
    }

    /// A packet with a short header has been opened.
    pub(in crate::quic) fn short(
        &mut self,
        at: At,
        header: Unprotected,
        payload: &[u8],
        tables: &mut Tables,
    ) {
        self.packet(at, "1RTT", Space::Application, header, payload, tables);
    }

    fn packet(
        &mut self,
        at: At,
        packet_type: &'static str,
        space: Space,
        header: Unprotected,
        payload: &[u8],
        tables: &mut Tables,
    ) {
        let name = Rc::clone(&self.name);
        let mut row = self.row(&name, at, Some(packet_type));
        row.packet_number = Some(header.number);
        let key_phase = (packet_type == "1RTT").then_some(header.first & 4 != 0);
        if !self.numbers[space as usize][at.way as usize].insert(header.number) {
            row.event = "dropped";
            push_packet(&row, at, key_phase, Some("duplicate"), tables);
            return;
        }
        push_packet(&row, at, key_phase, None, tables);
        let mut content = Content::default();
        let mut reader = Reader::new(payload);
        while !reader.is_empty() {
            match frame::next(&mut reader) {
                Ok(frame) if !frame.may_stand_in(space) => {
                    tables.count(
                        "forbidden_frame",
                        Severity::DataLoss,
                        "frames that packets of their kind must not hold: they and what follows them in their packets are not read",
                    );
                    break;
                }
                Ok(frame) => {
                    content.ack_eliciting |= frame.is_ack_eliciting();
                    content.in_flight |=
                        frame.is_ack_eliciting() || matches!(frame, Frame::Padding { .. });
                    let ack_delay = self.ack_delay(space, at.way);
                    row.frame(&frame, ack_delay.exponent, tables);
                    self.frame(&row, space, &frame, &mut content, tables);
                }
                Err(Stop::Unknown(kind)) => {
                    tables.stats.count(
                        format!("unknown_frame:0x{kind:x}"),
                        Severity::DataLoss,
                        "frames of an extension that is not known, by their type: they and what follows them in their packets are not read",
                    );
                    break;
                }
                Err(Stop::Malformed) => {
                    tables.count(
                        "malformed_frame",
                        Severity::DataLoss,
                        "a frame contradicts its own lengths: what follows it in its packet cannot be read",
                    );
                    break;
                }
            }
        }
        if self.vantage == Some(at.way.sender()) {
            self.recovery
                .sent(&row, space, at.length_bytes, content, tables);
        }
    }
}
