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
        version: [Version::V1, Version::V2, Version::V1, Version::Draft(29)]
            [usize::from(about >> 2 & 1 | about >> 5 & 2)],
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
        // 0-RTT and 1-RTT share a space.
        let space = [0, 3, 2, 3][level as usize];
        let number = &mut numbers[space][way as usize];
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
            is_alone: false,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Finished;

    /// The hellos, and on every level and way a packet with frames.
    fn conversation() -> Vec<u8> {
        // PING, ACK, CRYPTO, STREAM, NEW_CONNECTION_ID, MAX_DATA.
        let frames = [
            &[
                1, 2, 9, 1, 1, 2, 1, 0, 6, 0, 2, 8, 8, 0x0a, 4, 1, 8, 0x10, 1,
            ][..],
            &[0x18, 1, 0, 1, 5],
            &[0; 16],
        ]
        .concat();
        let length = u8::try_from(frames.len()).unwrap();
        let packets = (0..8).map(|how| [&[how, 1, length][..], &frames].concat());
        [vec![16 | 32]]
            .into_iter()
            .chain(packets)
            .flatten()
            .collect()
    }

    fn decoded(input: &[u8]) -> Finished {
        let mut tables = Tables::default();
        packets(input, &mut tables);
        tables.finish()
    }

    /// Packets that the fuzzer says to open are opened and read; without 0-RTT of the server, which
    /// there is not.
    #[test]
    fn packets_are_opened() {
        let finished = decoded(&conversation());
        assert_eq!(finished.rows("packets"), 2 + 8);
        assert_eq!(finished.stats.get("malformed_frame"), 0);
        let opened = finished
            .table("frames")
            .map(|table| table.lines(&["frame_type"]));
        let opened = opened.unwrap_or_default();
        let pings = opened.iter().filter(|frame| *frame == "ping").count();
        assert_eq!(pings, 7, "{opened:?}");
    }

    /// Any byte behind the keys may be any other.
    #[test]
    fn damage_is_survived() {
        let conversation = conversation();
        for at in 0..conversation.len() {
            for value in [0, 0x3f, 0x40, 0xff] {
                let mut damaged = conversation.clone();
                damaged[at] = value;
                decoded(&damaged);
            }
        }
    }
}
