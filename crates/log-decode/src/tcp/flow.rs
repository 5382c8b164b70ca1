// SPDX-License-Identifier: Apache-2.0
//! One connection: every segment becomes rows, and its bytes go to what TCP carries.

mod bytes;
mod client;

use super::rows::Rows;
use super::segment::{Segment, CWR, ECE, FIN, RST, SYN};
use super::stray::is_stray;
use super::undecided::{self, Undecided};
use super::way::Way;
use crate::tables::{HandshakeStep, Packet, Tables};
use crate::tls::keylog::KeyLog;
use crate::tls::layer::Layer;
use crate::tls::RoundTrips;
use crate::{Direction, End, Severity};
use std::net::SocketAddr;

#[derive(Debug)]
pub(super) struct Flow {
    name: String,
    client: SocketAddr,
    /// Packets that wait until the client can be told.
    undecided: Option<Box<Undecided>>,
    sequel: u32,
    vantage: Option<End>,
    keys: KeyLog,
    up: Way,
    down: Way,
    /// Both ends have sent their SYN and the client has not acknowledged the server's yet.
    opening: bool,
    trips: RoundTrips,
    layer: Layer,
}

impl Flow {
    /// The connection that `first` belongs to; `sequel` counts those between the same ports before it.
    pub(super) fn new(
        first: &Segment<'_>,
        vantage: Option<End>,
        keys: KeyLog,
        sequel: u32,
    ) -> Self {
        let client = undecided::client(first);
        let mut flow = Self {
            layer: Layer::new("", vantage, keys.clone()),
            name: String::new(),
            client: first.src,
            undecided: client.is_none().then(Box::default),
            sequel,
            vantage,
            keys,
            up: Way::default(),
            down: Way::default(),
            opening: false,
            trips: RoundTrips::default(),
        };
        if let Some(client) = client {
            flow.decide(client, first);
        }
        flow
    }

    /// True if `segment` begins another connection between the same ports.
    pub(super) fn is_succeeded_by(&self, segment: &Segment<'_>) -> bool {
        if !segment.has(SYN) || segment.ack.is_some() {
            return false;
        }
        if let Some(waiting) = &self.undecided {
            return !waiting.begins_with(segment.src, segment.seq);
        }
        let (way, back) = if segment.src == self.client {
            (&self.up, &self.down)
        } else {
            (&self.down, &self.up)
        };
        way.is_another_start(segment.seq) || way.is_unseen() && !back.has_begun()
    }

    fn take(&mut self, segment: &Segment<'_>, tables: &mut Tables) {
        let direction = if segment.src == self.client {
            Direction::Up
        } else {
            Direction::Down
        };
        let (way, back) = match direction {
            Direction::Up => (&mut self.up, &mut self.down),
            Direction::Down => (&mut self.down, &mut self.up),
        };
        let rows = Rows {
            vantage: self.vantage,
            connection: &self.name,
            direction,
            time_ns: segment.time_ns,
        };
        if is_stray(segment, way, back) {
            if segment.has(SYN) {
                way.remember_rival(segment.seq);
            }
            return self.stray(segment, direction, tables);
        }
        if segment.has(SYN) && way.is_begun_anew(segment.seq) {
            *way = Way::default();
            self.layer.finish(tables);
            self.layer = Layer::new(&self.name, self.vantage, self.keys.clone());
        }
        if let Some(ack) = segment.ack {
            back.choose(ack);
        }
        let number = way.place(segment.seq, segment.has(SYN));
        let data = number + u64::from(segment.has(SYN));
        let data_end = data + u64::from(segment.length);
        let end = data_end + u64::from(segment.has(FIN));
        // A probe of a connection that is idle repeats one byte that has been acknowledged (RFC 9293 section 3.8.4).
        let keep_alive = segment.length == 1
            && segment.flags & (SYN | FIN | RST) == 0
            && end == way.next
            && way.acknowledged >= end;
        let arrival = way.see(number, end);
        let again = arrival.again && !keep_alive;
        tables.packets.push(Packet {
            vantage: self.vantage.map(End::as_str),
            connection: Some(&self.name),
            time_ns: segment.time_ns,
            transport: "tcp",
            event: rows.event(),
            direction: Some(direction.as_str()),
            packet_number: Some(number),
            length_bytes: Some(segment.length.into()),
            ip_packet: Some(segment.ip_packet),
            retransmission: Some(again),
            ..Packet::default()
        });
        let step = match (segment.has(SYN), segment.ack.is_some()) {
            (true, false) => Some("syn"),
            (true, true) => Some("syn_ack"),
            (false, true) if self.opening && direction == Direction::Up => Some("ack"),
            _ => None,
        };
        if let Some(step) = step {
            self.opening = step == "syn_ack";
            if segment.has(SYN) {
                way.window_scale = segment.options.window_scale;
                way.sack_permitted = segment.options.sack_permitted;
            }
            let detail = segment.has(SYN).then(|| syn_detail(segment));
            tables.handshake.push(HandshakeStep {
                vantage: self.vantage.map(End::as_str),
                connection: Some(&self.name),
                time_ns: segment.time_ns,
                transport: "tcp",
                direction: Some(direction.as_str()),
                step,
                round_trip: Some(self.trips.of(direction)),
                length_bytes: Some(segment.length.into()),
                detail: detail.as_deref(),
            });
        }
        let sack = way.sack_permitted && back.sack_permitted;
        if again {
            rows.sent_again(segment, (number, end), sack, way, tables);
        } else if arrival.new && end > number {
            let expired = way.outstanding.sent(number, end, segment.time_ns, sack);
            way.largest = way.largest.max(u64::from(segment.length));
            rows.expired(expired, tables);
        }
        if end > number {
            rows.sent(way, tables);
        }
        if let Some(ack) = segment.ack {
            let ack = back.place(ack, false);
            rows.acknowledgment(segment, number, ack, way, back, tables);
        }
        self.hand_on(segment, direction, data, data_end, tables);
    }

    /// A segment of another connection has nothing but its row.
    fn stray(&self, segment: &Segment<'_>, direction: Direction, tables: &mut Tables) {
        tables.packets.push(Packet {
            vantage: self.vantage.map(End::as_str),
            connection: Some(&self.name),
            time_ns: segment.time_ns,
            transport: "tcp",
            event: direction.event(self.vantage),
            direction: Some(direction.as_str()),
            length_bytes: Some(segment.length.into()),
            ip_packet: Some(segment.ip_packet),
            retransmission: Some(false),
            ..Packet::default()
        });
        tables.count(
            "stray_segment",
            Severity::Notice,
            "segments with numbers of another TCP connection between the same ports: they have no packet_number",
        );
    }

    /// Memory that grows with what is unanswered.
    pub(super) fn held_bytes(&self) -> usize {
        let undecided = self.undecided.as_ref().map_or(0, |all| all.held_bytes());
        self.up.held_bytes() + self.down.held_bytes() + self.layer.held_bytes() + undecided
    }

    /// Give back that memory, and with it what would have been told of it.
    pub(super) fn shed(&mut self, tables: &mut Tables) {
        self.stop_waiting(tables);
        for direction in [Direction::Up, Direction::Down] {
            self.layer.gap(direction, 0, tables);
        }
        for way in [&mut self.up, &mut self.down] {
            way.stream.forget();
            way.outstanding.forget();
        }
    }

    /// The capture ends, or another connection takes the ports.
    pub(super) fn finish(&mut self, tables: &mut Tables) {
        self.stop_waiting(tables);
        self.layer.finish(tables);
        for (direction, way) in [
            (Direction::Up, &mut self.up),
            (Direction::Down, &mut self.down),
        ] {
            let rows = Rows {
                vantage: self.vantage,
                connection: &self.name,
                direction,
                time_ns: 0,
            };
            rows.tell_flight(way, tables);
            way.again.finish(rows.owner(direction), tables);
        }
    }
}

/// Announcements of one end; `ecn`: it asks for ECN, or agrees to it (RFC 3168 section 6.1.1).
fn syn_detail(segment: &Segment<'_>) -> String {
    let options = segment.options;
    let wanted = if segment.ack.is_some() {
        ECE
    } else {
        ECE | CWR
    };
    serde_json::json!({
        "mss": options.mss,
        "window_scale": options.window_scale,
        "sack_permitted": options.sack_permitted,
        "timestamps": options.timestamps.is_some(),
        "ecn": segment.flags & (ECE | CWR) == wanted,
        "window": segment.window,
    })
    .to_string()
}
