// SPDX-License-Identifier: Apache-2.0
//! Recovery as a capture at a sender tells it: round-trip times, bytes in flight, data that is sent
//! again.
//!
//! All of it is estimated as RFC 9002 describes it; the sender's own rules may differ. Packets leave the bytes in
//! flight when acknowledged or when the thresholds of section 6.1 call them lost. A row of `losses` asks for more: that
//! the packet's data is sent again. If no threshold had called it lost by then, a probe is what is left (section 6.2).

use super::handshake::Space;
use super::round_trip::RoundTrip;
use super::rows::{Owner, Row};
use super::sent_packets::{Content, Piece, Sent, SentPackets};
use crate::tables::{Loss, Tables, TransportMetric};
use crate::Direction;
use std::collections::{BTreeMap, VecDeque};

/// Losses that may still turn out to be spurious.
const MAX_LOSSES: usize = 1 << 13;
/// Pieces of data about which it is known which packet carries them.
const MAX_CARRIED: usize = 1 << 17;

struct Lost {
    time_ns: i64,
    way: Direction,
    space: Space,
    packet: Sent,
    rule: &'static str,
    acknowledged_ns: Option<i64>,
}

/// The recovery of the sender at which the capture was taken.
#[derive(Default)]
pub(super) struct Recovery {
    spaces: [SentPackets; 3],
    /// The last packet that carries the data at a stream and offset, and where that data ends.
    carried: BTreeMap<(u64, u64), (u64, u64)>,
    bytes_in_flight: u64,
    /// Packets stayed closed: what is in flight is not known any more.
    incomplete: bool,
    round_trip: RoundTrip,
    losses: VecDeque<Lost>,
}

impl Recovery {
    /// A packet of this connection stays closed, so that it is not known what it carries or acknowledges.
    pub(super) fn miss(&mut self) {
        self.incomplete = true;
    }

    /// The sender sent a packet.
    pub(super) fn sent(
        &mut self,
        row: &Row<'_>,
        space: Space,
        length: u64,
        content: Content,
        tables: &mut Tables,
    ) {
        let Some(number) = row.packet_number.filter(|_| content.in_flight) else {
            return;
        };
        let packets = &self.spaces[space as usize];
        if packets.last_number().is_some_and(|last| last >= number) {
            // Written twice or out of order: no sender does that.
            return;
        }
        for piece in content.pieces() {
            self.sent_again(row, space, piece, tables);
            self.carried
                .insert((piece.stream, piece.offset), (number, piece.end()));
        }
        while self.carried.len() > MAX_CARRIED {
            self.carried.pop_first();
        }
        let forgotten = self.spaces[space as usize].push(Sent {
            number,
            time_ns: row.time_ns,
            length,
            packet_type: row.packet_type,
            content,
            settled: false,
            repeated: false,
        });
        self.bytes_in_flight = (self.bytes_in_flight.saturating_add(length))
            .saturating_sub(forgotten.map_or(0, |packet| packet.length));
        if !self.incomplete {
            tables.transport_metrics.push(TransportMetric {
                bytes_in_flight: Some(self.bytes_in_flight),
                ..metric(row)
            });
        }
    }

    /// Packets that carry what is now sent again count as lost.
    fn sent_again(&mut self, row: &Row<'_>, space: Space, piece: &Piece, tables: &mut Tables) {
        let end = (piece.stream, piece.end());
        while let Some((&place, &(number, last))) = self.carried.range(..end).next_back() {
            if place.0 != piece.stream || last <= piece.offset {
                return;
            }
            self.carried.remove(&place);
            let Some((packet, rule)) = self.spaces[space as usize].unacknowledged(number) else {
                continue;
            };
            if std::mem::replace(&mut packet.repeated, true) {
                continue;
            }
            self.losses.push_back(Lost {
                time_ns: row.time_ns,
                way: row.way,
                space,
                packet: *packet,
                rule: rule.unwrap_or("pto_expired"),
                acknowledged_ns: None,
            });
            if self.losses.len() > MAX_LOSSES {
                self.push_first_loss(row.owner(), tables);
            }
        }
    }

    /// An ACK frame has reached the sender; its ranges go down.
    pub(super) fn acknowledged(
        &mut self,
        row: &Row<'_>,
        space: Space,
        ranges: impl Iterator<Item = (u64, u64)>,
        delay_ns: i64,
        tables: &mut Tables,
    ) {
        let Self {
            spaces,
            carried,
            bytes_in_flight,
            incomplete,
            round_trip,
            losses,
        } = self;
        let packets = &mut spaces[space as usize];
        let (mut largest, mut sent_ns, mut ack_eliciting) = (None, None, false);
        for (first, last) in ranges {
            let largest = *largest.get_or_insert(last);
            packets.acknowledge(first, last, |packet, called_lost| {
                if !called_lost {
                    *bytes_in_flight = bytes_in_flight.saturating_sub(packet.length);
                }
                if packet.repeated {
                    let same = |lost: &&mut Lost| {
                        lost.space == space && lost.packet.number == packet.number
                    };
                    if let Some(lost) = losses.iter_mut().find(same) {
                        lost.acknowledged_ns = Some(row.time_ns);
                    }
                }
                if packet.number == largest {
                    sent_ns = Some(packet.time_ns);
                }
                ack_eliciting |= packet.content.ack_eliciting;
                for piece in packet.content.pieces() {
                    let place = (piece.stream, piece.offset);
                    if carried
                        .get(&place)
                        .is_some_and(|(number, _)| *number == packet.number)
                    {
                        carried.remove(&place);
                    }
                }
            });
        }
        let sample = sent_ns.filter(|_| ack_eliciting);
        if let Some(sent_ns) = sample {
            round_trip.sample(row.time_ns.saturating_sub(sent_ns), delay_ns);
        }
        let sent_before_ns = row.time_ns.saturating_sub(round_trip.loss_delay_ns());
        packets.call_lost(sent_before_ns, |packet| {
            *bytes_in_flight = bytes_in_flight.saturating_sub(packet.length);
        });
        let millis = |ns: i64| sample.map(|_| millis(ns));
        tables.transport_metrics.push(TransportMetric {
            bytes_in_flight: (!*incomplete).then_some(*bytes_in_flight),
            latest_rtt_ms: millis(round_trip.latest),
            min_rtt_ms: millis(round_trip.min),
            smoothed_rtt_ms: millis(round_trip.smoothed),
            rtt_variance_ms: millis(round_trip.variance),
            ..metric(row)
        });
    }

    /// The keys of a space are discarded: nothing of it is in flight any more (RFC 9002 section 6.4).
    pub(super) fn discard(&mut self, space: Space) {
        let packets = std::mem::take(&mut self.spaces[space as usize]);
        self.bytes_in_flight = self
            .bytes_in_flight
            .saturating_sub(packets.outstanding_bytes());
    }

    fn push_first_loss(&mut self, owner: Owner<'_>, tables: &mut Tables) {
        let Some(lost) = self.losses.pop_front() else {
            return;
        };
        tables.losses.push(Loss {
            vantage: owner.vantage,
            connection: owner.connection,
            time_ns: lost.time_ns,
            transport: "quic",
            direction: Some(lost.way.as_str()),
            packet_type: lost.packet.packet_type,
            packet_number: Some(lost.packet.number),
            length_bytes: Some(lost.packet.length),
            sent_ns: Some(lost.packet.time_ns),
            rule: Some(lost.rule),
            acknowledged_ns: lost.acknowledged_ns,
            spurious: Some(lost.acknowledged_ns.is_some()),
            estimate: true,
        });
    }

    /// The capture ends.
    pub(super) fn finish(&mut self, owner: Owner<'_>, tables: &mut Tables) {
        while !self.losses.is_empty() {
            self.push_first_loss(owner, tables);
        }
    }
}

fn metric<'a>(row: &Row<'a>) -> TransportMetric<'a> {
    TransportMetric {
        vantage: row.vantage,
        connection: row.connection,
        time_ns: row.time_ns,
        transport: "quic",
        estimate: true,
        ..TransportMetric::default()
    }
}

#[allow(clippy::cast_precision_loss, reason = "exact up to 100 days")]
fn millis(ns: i64) -> f64 {
    ns as f64 / 1e6
}
