// SPDX-License-Identifier: Apache-2.0
//! 1-RTT packets of connections whose first packet is not in the capture: the secrets that no connection has asked for
//! are tried on them, and the AEAD's tag proves which one fits.

use super::connection::Connection;
use super::directory::{Candidate, Path};
use super::hashing::HashMap;
use super::header::Version;
use super::trial::{Trial, FAR, NEAR};
use super::wire::ConnectionId;
use super::{Connections, UdpDatagram};
use crate::tables::Tables;
use crate::tls::keylog::{KeyLog, Random};
use crate::{Direction, Severity};

/// Sessions whose secrets are tried.
const MAX_SESSIONS: usize = 256;
/// Paths whose packets are tried, and packets of each.
const MAX_PATHS: usize = 1 << 12;
const MAX_PACKETS: u8 = 6;
/// Attempts at a header for the whole capture: below a second. One in four leads to attempts at a payload.
const MAX_ATTEMPTS: usize = 1 << 20;
/// Number of times that a capture that brings secrets while it is read has them tried.
const MAX_REFRESHES: u8 = 32;
/// Number of keys up to which each is tried with more packet numbers.
const FEW_KEYS: usize = 64;
/// Lengths of connection ids, the usual ones first.
const ID_LENGTHS: [usize; 21] = [
    8, 0, 20, 16, 4, 5, 18, 17, 12, 10, 9, 6, 7, 11, 13, 14, 15, 19, 1, 2, 3,
];

/// One secret with one cipher suite.
struct Key {
    random: Random,
    suite: u16,
    version: Version,
    way: Direction,
    trial: Trial,
}

#[derive(Default)]
pub(super) struct Orphans {
    keys: Vec<Key>,
    /// Secrets in the key log when the keys were made: a capture may bring more while it is read.
    known: Option<usize>,
    refreshes: u8,
    /// Packets that have been tried, by path.
    tried: HashMap<Path, u8>,
    attempts: usize,
}

/// Connection and keys that fit a packet.
struct Found {
    random: Random,
    suite: u16,
    version: Version,
    way: Direction,
    id_bytes: usize,
    number: u64,
}

impl Orphans {
    fn refresh(&mut self, log: &KeyLog, tables: &mut Tables) {
        if self.known == Some(log.sessions()) || self.refreshes >= MAX_REFRESHES {
            return;
        }
        self.known = Some(log.sessions());
        self.refreshes += 1;
        let (sessions, more) = log.unused_traffic(MAX_SESSIONS);
        if more {
            tables.count(
                "too_many_keys_to_try",
                Severity::Notice,
                "only 256 sessions of the key logs are tried on connections whose start is missing: cut the logs to the capture's sessions",
            );
        }
        self.keys.clear();
        for (random, secrets) in sessions {
            for (way, secret) in [Direction::Up, Direction::Down].into_iter().zip(secrets) {
                let suites: &[u16] = if secret.as_bytes().len() == 48 {
                    &[0x1302]
                } else {
                    &[0x1301, 0x1303]
                };
                for version in [Version::V1, Version::V2] {
                    self.keys.extend(suites.iter().filter_map(|&suite| {
                        Some(Key {
                            random,
                            suite,
                            version,
                            way,
                            trial: Trial::new(suite, version, &secret)?,
                        })
                    }));
                }
            }
        }
    }

    /// Try all keys on a packet whose connection id has one of these lengths.
    fn find(&mut self, packet: &[u8], lengths: &[usize], buffer: &mut Vec<u8>) -> Option<Found> {
        let reach = if self.keys.len() > FEW_KEYS {
            NEAR
        } else {
            FAR
        };
        for &id_bytes in lengths {
            for key in &self.keys {
                if self.attempts >= MAX_ATTEMPTS {
                    return None;
                }
                self.attempts += 1;
                if let Some(number) = key.trial.number(packet, 1 + id_bytes, reach, buffer) {
                    return Some(Found {
                        random: key.random,
                        suite: key.suite,
                        version: key.version,
                        way: key.way,
                        id_bytes,
                        number,
                    });
                }
            }
        }
        None
    }

    fn may_try(&mut self, path: Path) -> bool {
        if self.tried.len() >= MAX_PATHS && !self.tried.contains_key(&path) {
            return false;
        }
        let tried = self.tried.entry(path).or_default();
        *tried += u8::from(*tried < u8::MAX);
        *tried <= MAX_PACKETS
    }
}

impl Connections {
    /// True if nothing tells by which secrets this connection goes.
    fn has_no_hello(&mut self, owner: Candidate) -> bool {
        let connection = self.directory.get(owner.index);
        connection.is_some_and(|connection| connection.keyring.random.is_none())
    }

    /// Find the secret of a packet with a short header that no known connection opens; `owner` is the connection that
    /// it belongs to by its addresses or id, if its hello has not been seen. Gives the connection, ready to open it.
    pub(super) fn recognise(
        &mut self,
        datagram: &UdpDatagram<'_>,
        packet: &[u8],
        owner: Option<Candidate>,
        tables: &mut Tables,
    ) -> Option<Candidate> {
        let is_short = packet.first().is_some_and(|first| first & 0xc0 == 0x40);
        if !is_short || datagram.is_cut() {
            return None;
        }
        if let Some(owner) = owner.filter(|owner| !self.has_no_hello(*owner)) {
            let connection = self.directory.get(owner.index)?;
            let id_bytes =
                connection.find_late(packet, owner.way, &ID_LENGTHS, &mut self.buffer)?;
            return Some(Candidate { id_bytes, ..owner });
        }
        self.orphans.refresh(&self.keys, tables);
        if self.orphans.keys.is_empty() || !self.orphans.may_try(datagram.path()) {
            return None;
        }
        let known = owner.map(|owner| [owner.id_bytes]);
        let lengths = known.as_ref().map_or(&ID_LENGTHS[..], |known| known);
        let found = self.orphans.find(packet, lengths, &mut self.buffer)?;
        self.orphans.keys.retain(|key| key.random != found.random);
        let index = match owner.filter(|owner| owner.way == found.way) {
            Some(owner) => owner.index,
            None => self.adopt(datagram, packet, &found, tables),
        };
        let connection = self.directory.get(index)?;
        connection.know(found.random, found.suite, found.version);
        connection.expect_number(found.way, found.number);
        Some(Candidate {
            index,
            way: found.way,
            id_bytes: found.id_bytes,
        })
    }

    /// A connection by the addresses of its packets: the id that its client chose first is not known.
    fn adopt(
        &mut self,
        datagram: &UdpDatagram<'_>,
        packet: &[u8],
        found: &Found,
        tables: &mut Tables,
    ) -> usize {
        let (client, server) = datagram.ends(found.way);
        let mut connection = Connection::late(
            &format!("{client}-{server}"),
            found.version,
            self.vantage,
            self.keys.clone(),
            &self.waiting,
        );
        if let Some(id) = packet.get(1..=found.id_bytes).and_then(ConnectionId::new) {
            connection.peers.learn(id, found.way.reverse().sender());
        }
        let (index, gone) = self.directory.insert(Box::new(connection));
        Self::finish_oldest(gone, tables);
        tables.count(
            "late_connection",
            Severity::DataLoss,
            "connections whose start is not in the capture, opened from there on: what came before is not known",
        );
        index
    }
}
