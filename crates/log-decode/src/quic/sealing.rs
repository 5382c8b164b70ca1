// SPDX-License-Identifier: Apache-2.0
//! Two ends that talk QUIC, as far as tests and fuzzing need a capture of them.

#![allow(
    clippy::cast_possible_truncation,
    reason = "lengths of what is made here are small"
)]

use super::header::Version;
use super::protection::{next_secret, PacketKeys, PayloadKey};
use super::wire::{hex, ConnectionId};
use crate::tls::keylog::{KeyLog, Secret};
use crate::tls::suite::Suite;
use crate::{Direction, Stats};

pub(super) const RANDOM: [u8; 32] = [7; 32];

/// A connection whose secrets are made up: each client random, level and direction has a byte of its own.
pub(super) struct Talk {
    pub(super) version: Version,
    /// Connection id that Initial keys follow from.
    pub(super) initial_dcid: Vec<u8>,
    /// The connection ids of client and server.
    pub(super) ids: [Vec<u8>; 2],
    pub(super) suite: u16,
    pub(super) random: [u8; 32],
    /// Key updates so far, by direction.
    pub(super) updates: [usize; 2],
    /// Number of bytes of packet numbers that are sent.
    pub(super) number_bytes: usize,
    /// The token of Initial packets.
    pub(super) token: Vec<u8>,
}

#[derive(Clone, Copy)]
pub(super) enum Level {
    Initial,
    Early,
    Handshake,
    Application,
}

impl Talk {
    pub(super) fn new() -> Self {
        Self {
            version: Version::V1,
            initial_dcid: b"original".to_vec(),
            ids: [b"client".to_vec(), b"server01".to_vec()],
            suite: 0x1301,
            random: RANDOM,
            updates: [0; 2],
            number_bytes: 4,
            token: Vec::new(),
        }
    }

    /// Sealing of the client's first packet: the server's connection id is not known yet.
    pub(super) fn first(&self) -> Self {
        Self {
            ids: [self.ids[0].clone(), self.initial_dcid.clone()],
            initial_dcid: self.initial_dcid.clone(),
            version: self.version,
            token: self.token.clone(),
            ..Self::new()
        }
    }

    fn secret(&self, level: Level, way: Direction) -> Vec<u8> {
        let byte = self.random[0] * 16 + level as u8 * 2 + way as u8;
        vec![byte; Suite::of(self.suite).unwrap().hash_bytes]
    }

    fn keys(&self, level: Level, way: Direction) -> PacketKeys {
        if matches!(level, Level::Initial) {
            let dcid = ConnectionId::new(&self.initial_dcid).unwrap();
            return PacketKeys::initial(self.version, &dcid, way).unwrap();
        }
        let suite = Suite::of(self.suite).unwrap();
        let mut secret = Secret::new(&self.secret(level, way)).unwrap();
        let mut keys = PacketKeys::new(suite, self.version, &secret).unwrap();
        if matches!(level, Level::Application) {
            for _ in 0..self.updates[way as usize] {
                secret = next_secret(suite, self.version, &secret).unwrap();
                keys.payload = PayloadKey::new(suite, self.version, &secret).unwrap();
            }
        }
        keys
    }

    /// A packet with the frames in `payload`.
    pub(super) fn packet(
        &self,
        level: Level,
        way: Direction,
        number: u32,
        payload: &[u8],
    ) -> Vec<u8> {
        let [client, server] = &self.ids;
        let (dcid, scid) = match way {
            Direction::Up => (server, client),
            Direction::Down => (client, server),
        };
        let number_bits = self.number_bytes as u8 - 1;
        let mut payload = payload.to_vec();
        payload.resize(payload.len().max(4), 0);
        let mut packet = if matches!(level, Level::Application) {
            let phase = (self.updates[way as usize] % 2) as u8 * 4;
            [&[0x40 | number_bits | phase][..], dcid].concat()
        } else {
            let (kind, version) = match self.version {
                Version::V1 => (level as u8, [0, 0, 0, 1]),
                Version::Draft(number) => (level as u8, [0xff, 0, 0, number]),
                Version::V2 => (level as u8 + 1, [0x6b, 0x33, 0x43, 0xcf]),
            };
            let first = 0xc0 | number_bits | kind << 4;
            let ids = [&[dcid.len() as u8][..], dcid, &[scid.len() as u8], scid].concat();
            let token = if matches!(level, Level::Initial) {
                [&[self.token.len() as u8][..], &self.token].concat()
            } else {
                Vec::new()
            };
            let length = (payload.len() + self.number_bytes + 16) as u16 | 0x4000;
            [&[first][..], &version, &ids, &token, &length.to_be_bytes()].concat()
        };
        let number_at = packet.len();
        packet.extend(&number.to_be_bytes()[4 - self.number_bytes..]);
        let keys = self.keys(level, way);
        keys.payload.seal(number.into(), &packet, &mut payload);
        packet.extend(payload);
        keys.header
            .protect(&mut packet, number_at, self.number_bytes);
        packet
    }

    /// The key log of it.
    pub(super) fn key_log(&self) -> KeyLog {
        let log = KeyLog::default();
        let line = |label: &str, level, way| {
            format!(
                "{label} {} {}\n",
                hex(&self.random),
                hex(&self.secret(level, way))
            )
        };
        let text = [
            line("CLIENT_EARLY_TRAFFIC_SECRET", Level::Early, Direction::Up),
            line(
                "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
                Level::Handshake,
                Direction::Up,
            ),
            line(
                "SERVER_HANDSHAKE_TRAFFIC_SECRET",
                Level::Handshake,
                Direction::Down,
            ),
            line("CLIENT_TRAFFIC_SECRET_0", Level::Application, Direction::Up),
            line(
                "SERVER_TRAFFIC_SECRET_0",
                Level::Application,
                Direction::Down,
            ),
        ];
        log.read(&mut text.concat().as_bytes(), &mut Stats::default())
            .unwrap();
        log
    }
}

/// A `ClientHello` with the ALPN h3 and no more than decoding needs.
pub(super) fn client_hello(random: &[u8; 32]) -> Vec<u8> {
    let alpn = [0, 16, 0, 5, 0, 3, 2, b'h', b'3'];
    let body = [
        &[3, 3][..],
        random,
        &[0, 0, 2, 0x13, 1, 1, 0, 0, alpn.len() as u8],
        &alpn,
    ]
    .concat();
    [&[1, 0, 0, body.len() as u8][..], &body].concat()
}

pub(super) fn server_hello(suite: u16) -> Vec<u8> {
    let body = [
        &[3, 3][..],
        &[9; 32],
        &[0],
        &suite.to_be_bytes(),
        &[0, 0, 0],
    ]
    .concat();
    [&[2, 0, 0, body.len() as u8][..], &body].concat()
}

/// A CRYPTO frame.
pub(super) fn crypto(offset: u8, data: &[u8]) -> Vec<u8> {
    [&[6, offset & 0x3f, 0x40, data.len() as u8][..], data].concat()
}
