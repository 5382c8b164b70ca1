// SPDX-License-Identifier: Apache-2.0
//! Packets whose payloads are the fuzzer's, sealed with keys that the decoder knows.

use super::header::Version;
use super::sealing::{client_hello, crypto, server_hello, Level, Talk};
use super::{Connections, UdpDatagram};
use crate::tables::Tables;
use crate::{Direction, End};

/// Each packet derives its keys anew.
const MAX_UPDATES: usize = 8;

/// Decode what `input` says: a byte about the connection, then for each packet a byte about it, a step of its number, a
/// length and as many bytes of payload.
pub fn packets(input: &[u8], tables: &mut Tables) {
    let Some((&about, mut rest)) = input.split_first() else {
        return;
    };
    let mut talk = Talk {
        suite: 0x1301 + u16::from(about & 3),
        version: [Version::V1, Version::V2][usize::from(about >> 2 & 1)],
        ..Talk::new()
    };
    let vantage = [None, None, Some(End::Client), Some(End::Server)][usize::from(about >> 3 & 3)];
    let mut capture = Capture {
        connections: Connections::new(talk.key_log(), vantage),
        tables,
        time_ns: 0,
    };
    if about & 32 != 0 {
        capture.hellos(&talk);
    }
    let (mut numbers, mut datagram) = ([[0_u32; 2]; 4], Vec::new());
    while let Some((&[how, step, length], left)) = rest.split_first_chunk() {
        let length = usize::from(length) << (how >> 6 & 2);
        let (payload, left) = left.split_at(left.len().min(length));
        rest = left;
        let way = [Direction::Up, Direction::Down][usize::from(how >> 2 & 1)];
        let levels = [
            Level::Initial,
            Level::Early,
            Level::Handshake,
            Level::Application,
        ];
        let level = levels[usize::from(how & 3)];
        if how & 8 != 0 && talk.updates[way as usize] < MAX_UPDATES {
            talk.updates[way as usize] += 1;
        }
        let number = &mut numbers[level as usize][way as usize];
        *number = number.wrapping_add_signed(i8::from_ne_bytes([step]).into());
        datagram.extend(talk.packet(level, way, *number, payload));
        *number = number.wrapping_add(1);
        if how & 16 == 0 {
            capture.datagram(way, u16::from(how & 32), &std::mem::take(&mut datagram));
        }
    }
    capture.connections.finish(capture.tables);
}

struct Capture<'a> {
    connections: Connections,
    tables: &'a mut Tables,
    time_ns: i64,
}

impl Capture<'_> {
    /// The client may come from another port.
    fn datagram(&mut self, way: Direction, port: u16, payload: &[u8]) {
        let (client, server) = (
            ([10, 0, 0, 1], 50_000 + port).into(),
            ([10, 0, 0, 2], 443).into(),
        );
        let (src, dst) = match way {
            Direction::Up => (client, server),
            Direction::Down => (server, client),
        };
        self.time_ns += 1_000_000;
        let datagram = UdpDatagram {
            time_ns: self.time_ns,
            src,
            dst,
            payload,
            length_bytes: payload.len(),
            direction: None,
            ip_packet: 0,
        };
        self.connections.datagram(&datagram, self.tables);
    }

    fn hellos(&mut self, talk: &Talk) {
        let hello = crypto(0, &client_hello(&talk.random));
        let first = talk
            .first()
            .packet(Level::Initial, Direction::Up, 0, &hello);
        self.datagram(Direction::Up, 0, &first);
        let hello = crypto(0, &server_hello(talk.suite));
        let answer = talk.packet(Level::Initial, Direction::Down, 0, &hello);
        self.datagram(Direction::Down, 0, &answer);
    }
}
