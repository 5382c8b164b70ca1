// SPDX-License-Identifier: Apache-2.0
//! Captures made packet by packet, with keys that are made up.

#![allow(
    clippy::cast_possible_truncation,
    reason = "lengths of what is made here are small"
)]

mod keys;
mod late;
mod segments;
mod told;

use super::header::Version;
use super::sealing::{client_hello, crypto, server_hello, Level, Talk, RANDOM};
use super::*;
use crate::tables::Finished;
use crate::{Direction, End};
use std::net::SocketAddr;
use Direction::{Down, Up};

/// A capture in the making.
struct Capture {
    connections: Connections,
    tables: Tables,
    client: SocketAddr,
    time_ns: i64,
}

const SERVER: &str = "10.0.0.2:443";

impl Capture {
    fn new(keys: KeyLog, vantage: Option<End>) -> Self {
        Self {
            connections: Connections::new(keys, vantage),
            tables: Tables::default(),
            client: "10.0.0.1:50000".parse().unwrap(),
            time_ns: 0,
        }
    }

    fn datagram(&mut self, way: Direction, payload: &[u8]) -> bool {
        self.cut(way, payload, payload.len())
    }

    fn cut(&mut self, way: Direction, payload: &[u8], length_bytes: usize) -> bool {
        let server = SERVER.parse().unwrap();
        let (src, dst) = if way == Up {
            (self.client, server)
        } else {
            (server, self.client)
        };
        self.time_ns += 1_000_000;
        let datagram = UdpDatagram {
            time_ns: self.time_ns,
            src,
            dst,
            payload,
            length_bytes,
            direction: None,
            ip_packet: 0,
            is_alone: false,
        };
        self.connections.datagram(&datagram, &mut self.tables)
    }

    /// The hellos, the server's under the keys of Initial packets.
    fn hellos(&mut self, talk: &Talk) {
        let hello = crypto(0, &client_hello(&talk.random));
        self.datagram(Up, &talk.first().packet(Level::Initial, Up, 0, &hello));
        let hello = crypto(0, &server_hello(talk.suite));
        self.datagram(Down, &talk.packet(Level::Initial, Down, 0, &hello));
    }

    fn finish(mut self) -> Finished {
        self.connections.finish(&mut self.tables);
        self.tables.finish()
    }
}

/// Rows of `packets`, and how many frames they hold.
fn rows(tables: &Finished) -> (usize, usize) {
    (tables.rows("packets"), tables.rows("frames"))
}

const PING: &[u8] = &[1];

#[test]
fn a_client_hello_may_come_in_scrambled_pieces() {
    let talk = Talk::new();
    let first = Talk {
        ids: [talk.ids[0].clone(), talk.initial_dcid.clone()],
        ..Talk::new()
    };
    let hello = client_hello(&RANDOM);
    let mut capture = Capture::new(talk.key_log(), None);
    let later = [crypto(40, &hello[40..]), crypto(10, &hello[10..25])].concat();
    let earlier = [crypto(20, &hello[20..41]), crypto(0, &hello[..12])].concat();
    capture.datagram(Up, &first.packet(Level::Initial, Up, 1, &later));
    capture.datagram(Up, &first.packet(Level::Initial, Up, 0, &earlier));
    capture.datagram(Up, &talk.packet(Level::Early, Up, 0, PING));
    let tables = capture.finish();
    assert_eq!(tables.rows("handshake"), 1);
    assert_eq!(rows(&tables), (3, 6));
}

/// A capture of headers opens small packets alone: what is in flight beside them it cannot tell.
#[test]
fn behind_a_packet_that_was_cut_nothing_tells_what_is_in_flight() {
    let talk = Talk::new();
    let told = |cut: usize| {
        let mut capture = Capture::new(talk.key_log(), Some(End::Server));
        capture.hellos(&talk);
        let large = talk.packet(Level::Application, Down, 0, &[1; 200]);
        capture.cut(Down, &large[..large.len() - cut], large.len());
        capture.datagram(Down, &talk.packet(Level::Application, Down, 1, PING));
        capture.finish().rows("transport_metrics")
    };
    assert_eq!(told(0), told(50) + 2);
}

#[test]
fn connections_are_told_apart_by_their_ids() {
    let mut capture = Capture::new(KeyLog::default(), None);
    let mut talks = Vec::new();
    for (n, id) in [(1, &b""[..]), (2, b""), (3, b"c3")] {
        let talk = Talk {
            initial_dcid: vec![n; 8],
            ids: [id.to_vec(), vec![n + 100; n as usize]],
            random: [n; 32],
            ..Talk::new()
        };
        capture.connections.keys = talk.key_log();
        capture.hellos(&talk);
        talks.push(talk);
    }
    for talk in &talks {
        for way in [Up, Down] {
            capture.datagram(way, &talk.packet(Level::Application, way, 0, PING));
        }
    }
    let tables = capture.finish();
    assert_eq!(rows(&tables), (12, 18));
    assert_eq!(tables.stats.iter().count(), 0);
}

#[test]
fn a_new_id_and_a_new_address_are_followed() {
    let mut talk = Talk::new();
    let mut capture = Capture::new(talk.key_log(), Some(End::Server));
    capture.hellos(&talk);
    let id = b"a longer id";
    let frame = [&[0x18, 1, 0, id.len() as u8][..], id, &[5; 16]].concat();
    capture.datagram(Down, &talk.packet(Level::Application, Down, 0, &frame));
    talk.ids[1] = id.to_vec();
    capture.client = "10.0.0.9:1234".parse().unwrap();
    capture.datagram(Up, &talk.packet(Level::Application, Up, 0, PING));
    capture.datagram(Down, &[&[0x40; 30][..], &[5; 16]].concat());
    let tables = capture.finish();
    assert_eq!(rows(&tables), (5, 5));
    let parameters = tables.table("parameters").unwrap();
    let names = parameters.lines(&["name", "value"]);
    assert_eq!(
        names[names.len() - 2..],
        [
            "tuple_assigned.client|10.0.0.9:1234",
            "connection_id_updated.server|61206c6f6e676572206964"
        ]
    );
    assert_eq!(
        tables.stats.iter().count(),
        0,
        "the last one is a stateless reset"
    );
}

#[test]
fn a_capture_may_start_in_mid_connection() {
    let talk = Talk::new();
    let mut capture = Capture::new(talk.key_log(), None);
    assert!(capture.datagram(Up, &talk.packet(Level::Handshake, Up, 3, PING)));
    assert!(capture.datagram(Up, &talk.packet(Level::Application, Up, 3, PING)));
    let tables = capture.finish();
    assert_eq!(
        (rows(&tables), tables.stats.get("no_first_packet")),
        ((2, 2), 1)
    );
}

#[test]
fn a_packet_that_comes_twice_counts_once() {
    let talk = Talk::new();
    let mut capture = Capture::new(talk.key_log(), Some(End::Client));
    capture.hellos(&talk);
    let packet = talk.packet(Level::Application, Down, 0, PING);
    capture.datagram(Down, &packet);
    capture.datagram(Down, &packet);
    assert_eq!(rows(&capture.finish()), (4, 4));
}

#[test]
fn data_sent_again_is_a_loss_and_spurious_once_acknowledged() {
    let talk = Talk::new();
    let mut capture = Capture::new(talk.key_log(), Some(End::Server));
    capture.hellos(&talk);
    let stream = |offset| [0x0e, 3, offset, 2, b'a', b'b'];
    for (number, offset) in [(0, 0), (1, 2), (2, 4), (3, 6), (4, 8)] {
        capture.datagram(
            Down,
            &talk.packet(Level::Application, Down, number, &stream(offset)),
        );
    }
    // 2 to 4: the packet threshold calls 0 and 1 lost.
    capture.datagram(
        Up,
        &talk.packet(Level::Application, Up, 0, &[2, 4, 0, 0, 2]),
    );
    capture.datagram(Down, &talk.packet(Level::Application, Down, 5, &stream(0)));
    capture.datagram(Down, &talk.packet(Level::Application, Down, 6, &stream(2)));
    capture.datagram(
        Up,
        &talk.packet(Level::Application, Up, 1, &[2, 6, 0, 2, 1, 0, 2, 0, 0]),
    );
    let tables = capture.finish();
    assert_eq!(tables.rows("losses"), 2);
    assert_eq!(tables.rows("streams"), 1);
}

#[test]
fn other_datagrams_are_left_alone() {
    let mut capture = Capture::new(KeyLog::default(), None);
    assert!(!capture.datagram(Up, &[]));
    assert!(!capture.datagram(Up, &[0x17; 40]));
    capture.client.set_port(443);
    assert!(!capture.datagram(Up, &[0x17; 40]));
    assert_eq!(rows(&capture.finish()), (0, 0));
}

#[test]
fn version_negotiation_names_the_connection_by_the_clients_choice() {
    let mut capture = Capture::new(KeyLog::default(), None);
    let unknown = [
        &[0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8][..],
        b"original",
        &[1, 9],
        &[0; 1200],
    ]
    .concat();
    assert!(capture.datagram(Up, &unknown));
    let answer = [&[0x80, 0, 0, 0, 0, 1, 9, 8][..], b"original", &[0, 0, 0, 1]].concat();
    assert!(capture.datagram(Down, &answer));
    let tables = capture.finish();
    assert_eq!(
        (rows(&tables), tables.stats.get("reserved_version")),
        ((2, 0), 1)
    );
}

/// Every cut and every flipped byte of every datagram of a connection.
#[test]
fn nothing_that_is_damaged_is_more_than_counted() {
    let talk = Talk::new();
    let packets = [
        (Down, talk.packet(Level::Handshake, Down, 0, PING)),
        (
            Up,
            talk.packet(Level::Application, Up, 0, &[0x0b, 0, 1, b'x']),
        ),
        (Up, talk.packet(Level::Initial, Up, 1, PING)),
    ];
    for (way, packet) in packets {
        let mut capture = Capture::new(talk.key_log(), Some(End::Client));
        capture.hellos(&talk);
        for cut in 0..packet.len() {
            capture.datagram(way, &packet[..cut]);
            capture.cut(way, &packet[..cut], packet.len());
        }
        for at in 0..packet.len() {
            for value in [0, 0x3f, 0x7f, 0x80, 0xff] {
                let mut packet = packet.clone();
                packet[at] ^= value;
                capture.datagram(way, &packet);
            }
        }
        capture.datagram(way, &packet);
        capture.finish();
    }
}
