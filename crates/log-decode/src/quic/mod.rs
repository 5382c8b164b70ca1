// SPDX-License-Identifier: Apache-2.0
//! QUIC v1 (RFC 9000, RFC 9001) and v2 (RFC 9369) in captures, decrypted with the secrets of a key log.
//!
//! A datagram is cut into packets ([`header`]), the [`directory`] says to which [`connection`] each may belong, the
//! [`keyring`] opens it, and what its frames say goes to the tables, the reassembly of its streams ([`streams`]) and the
//! estimates of its sender's recovery ([`recovery`]).

mod ack;
mod connection;
mod datagram;
mod directory;
mod effects;
mod frame;
mod handshake;
mod header;
mod keyring;
mod numbers;
mod peers;
mod protection;
mod reassembly;
mod recovery;
mod round_trip;
mod rows;
mod sent_packets;
mod streams;
mod transport_parameters;
mod unopened;
mod wire;

use crate::tables::Tables;
use crate::tls::keylog::KeyLog;
use crate::{Direction, End, Severity};
use connection::{At, Connection};
pub(crate) use datagram::UdpDatagram;
use directory::{Candidate, Directory};
use header::{Header, Kind, Long};
use keyring::Opening;
use protection::Unprotected;
use reassembly::Waiting;
use wire::ConnectionId;

/// All connections of one capture.
pub(crate) struct Connections {
    keys: KeyLog,
    vantage: Option<End>,
    directory: Directory,
    waiting: Waiting,
    /// The packet that is being opened.
    buffer: Vec<u8>,
}

impl Connections {
    /// Nothing seen yet of a capture taken at `vantage`.
    pub(crate) fn new(keys: KeyLog, vantage: Option<End>) -> Self {
        Self {
            keys,
            vantage,
            directory: Directory::default(),
            waiting: Waiting::default(),
            buffer: Vec::new(),
        }
    }

    /// Take a datagram in the order of the capture; whether it was taken for QUIC.
    ///
    /// A datagram that the link dropped stands only in its sender's capture: it is taken as sent, like any other.
    pub(crate) fn datagram(&mut self, datagram: &UdpDatagram<'_>, tables: &mut Tables) -> bool {
        let mut offset = 0;
        while let Some(bytes) = datagram
            .payload
            .get(offset..)
            .filter(|rest| !rest.is_empty())
        {
            let taken = match Header::parse(bytes) {
                Some(Header::Long(long)) => Some(self.long(datagram, &long, bytes, tables)),
                Some(Header::Short) => self.short(datagram, offset, bytes, tables),
                Some(Header::VersionNegotiation {
                    dcid,
                    scid,
                    versions,
                }) => self.version_negotiation(datagram, &dcid, &scid, versions, tables),
                Some(Header::OtherVersion { version, dcid }) => {
                    self.other_version(datagram, version, &dcid, tables)
                }
                None => None,
            };
            match taken {
                Some(bytes) => offset += bytes,
                None if offset > 0 => {
                    tables.count(
                        "trailing_bytes",
                        Severity::Info,
                        "bytes behind the last packet of a datagram that are no packet: some senders pad like this",
                    );
                    return true;
                }
                None => return false,
            }
        }
        offset > 0
    }

    /// Gives the bytes that the packet takes.
    fn long(
        &mut self,
        datagram: &UdpDatagram<'_>,
        long: &Long<'_>,
        bytes: &[u8],
        tables: &mut Tables,
    ) -> usize {
        let candidates = self
            .directory
            .by_long(&long.dcid, (datagram.src, datagram.dst));
        if long.kind == Kind::Retry {
            self.retry(datagram, long, bytes, candidates.iter(), tables);
            return bytes.len();
        }
        let mut failed = None;
        if let Some(packet) = bytes.get(..long.end) {
            for candidate in candidates.iter() {
                let Candidate { index, way, .. } = candidate;
                let Some(connection) = self.directory.get(index) else {
                    continue;
                };
                match connection.open_long(long, packet, way, &mut self.buffer) {
                    Opening::Opened { header, end } => {
                        let at = datagram.at(way, packet.len());
                        self.opened(candidate, datagram, at, Some(long), (header, end), tables);
                        return long.end;
                    }
                    opening => {
                        failed.get_or_insert((candidate, opening));
                    }
                }
            }
            if long.kind == Kind::Initial && self.first(datagram, long, packet, tables) {
                return long.end;
            }
        }
        let name = long.kind.as_str();
        let end = long
            .end
            .min(bytes.len() + datagram.length_bytes.saturating_sub(datagram.payload.len()));
        let opening = bytes
            .get(..long.end)
            .and(failed.map(|(_, opening)| opening));
        let owner = failed
            .map(|(candidate, _)| candidate)
            .or(candidates.iter().next());
        self.unopened(datagram, owner, Some(name), end, tables);
        unopened::count(
            opening,
            datagram.is_cut() && long.end > bytes.len(),
            long.end > bytes.len(),
            tables,
        );
        end.clamp(1, bytes.len())
    }

    /// Try an Initial as the first packet of a connection.
    fn first(
        &mut self,
        datagram: &UdpDatagram<'_>,
        long: &Long<'_>,
        packet: &[u8],
        tables: &mut Tables,
    ) -> bool {
        let (keys, waiting) = (self.keys.clone(), &self.waiting);
        let mut connection = Connection::new(long.version, long.dcid, self.vantage, keys, waiting);
        let way = Direction::Up;
        let Opening::Opened { header, end } =
            connection.open_long(long, packet, way, &mut self.buffer)
        else {
            return false;
        };
        connection.peers.learn(long.dcid, End::Server);
        let (index, gone) = self.directory.insert(Box::new(connection));
        if let Some(mut gone) = gone {
            gone.finish(tables);
            tables.count(
                "too_many_connections",
                Severity::Notice,
                "more connections than are followed at a time: what comes late of the oldest is not opened",
            );
        }
        let candidate = Candidate {
            index,
            way,
            id_bytes: 0,
        };
        let at = datagram.at(way, packet.len());
        self.opened(candidate, datagram, at, Some(long), (header, end), tables);
        true
    }

    /// A packet was opened: it belongs to `candidate` indeed.
    fn opened(
        &mut self,
        candidate: Candidate,
        datagram: &UdpDatagram<'_>,
        at: At,
        long: Option<&Long<'_>>,
        (header, end): (Unprotected, usize),
        tables: &mut Tables,
    ) {
        let Candidate { index, way, .. } = candidate;
        let Some(connection) = self.directory.get(index) else {
            return;
        };
        let (client, server) = datagram.ends(way);
        let known = connection.peers.paths.last().copied();
        let new_path = connection.peers.add_path(client, server);
        if new_path {
            let event = if known.is_some() {
                "tuple_assigned"
            } else {
                "connection_started"
            };
            for (end, address, known) in [
                ("client", client, known.map(|(client, _)| client)),
                ("server", server, known.map(|(_, server)| server)),
            ] {
                if known != Some(address) {
                    connection.note_path(
                        at,
                        &format!("{event}.{end}"),
                        &address.to_string(),
                        tables,
                    );
                }
            }
        }
        let payload = self.buffer.get(header.payload_at..end).unwrap_or_default();
        match long {
            Some(long) => connection.long(at, long, header, payload, tables),
            None => connection.short(at, header, payload, tables),
        }
        self.directory.update(index);
        if new_path {
            self.directory.add_path(client, server, index);
        }
    }

    fn retry(
        &mut self,
        datagram: &UdpDatagram<'_>,
        long: &Long<'_>,
        packet: &[u8],
        candidates: impl Iterator<Item = Candidate>,
        tables: &mut Tables,
    ) {
        let mut owner = None;
        for candidate in candidates.filter(|candidate| candidate.way == Direction::Down) {
            owner.get_or_insert(candidate);
            let Some(connection) = self.directory.get(candidate.index) else {
                continue;
            };
            if connection.is_retried_by(long.version, packet) {
                connection.retry(datagram.at(Direction::Down, packet.len()), long, tables);
                self.directory.update(candidate.index);
                return;
            }
        }
        self.unopened(
            datagram,
            owner,
            Some(long.kind.as_str()),
            packet.len(),
            tables,
        );
        tables.count(
            "stray_retry",
            Severity::Notice,
            "a Retry whose integrity tag fits no client's first packet in the capture",
        );
    }

    /// Open a packet with a short header as one of `candidates`; what fails first is kept in `failed`.
    fn try_short(
        &mut self,
        datagram: &UdpDatagram<'_>,
        packet: &[u8],
        candidates: impl Iterator<Item = Candidate>,
        failed: &mut Option<(Candidate, Opening)>,
        tables: &mut Tables,
    ) -> bool {
        for candidate in candidates.filter(|_| !datagram.is_cut()) {
            let Candidate {
                index,
                way,
                id_bytes,
            } = candidate;
            let Some(connection) = self.directory.get(index) else {
                continue;
            };
            match connection.open_short(packet, id_bytes, way, &mut self.buffer) {
                Opening::Opened { header, end } => {
                    if let Some(id) = packet.get(1..=id_bytes).and_then(ConnectionId::new) {
                        connection.peers.learn(id, way.reverse().sender());
                    }
                    let at = datagram.at(way, packet.len());
                    self.opened(candidate, datagram, at, None, (header, end), tables);
                    return true;
                }
                opening => {
                    failed.get_or_insert((candidate, opening));
                }
            }
        }
        false
    }

    /// `None` if it is no QUIC.
    fn short(
        &mut self,
        datagram: &UdpDatagram<'_>,
        offset: usize,
        packet: &[u8],
        tables: &mut Tables,
    ) -> Option<usize> {
        let mut failed = None;
        let by_id = self.directory.by_short(packet);
        if self.try_short(datagram, packet, by_id.iter(), &mut failed, tables) {
            return Some(packet.len());
        }
        let by_path = self.directory.by_path((datagram.src, datagram.dst));
        if self.try_short(datagram, packet, by_path.iter(), &mut failed, tables) {
            return Some(packet.len());
        }
        let likeliest = by_id.iter().chain(by_path.iter()).next();
        let owner = failed.map_or(likeliest, |(candidate, _)| Some(candidate));
        // Known connections may do without the fixed bit (RFC 9287), but some senders pad with zeros behind packets.
        let has_fixed_bit = packet.first().is_some_and(|first| first & 0x40 != 0);
        let is_padding = offset > 0 && packet.iter().all(|&byte| byte == 0);
        let is_stray = owner.is_none() && (!has_fixed_bit || offset == 0 && !datagram.is_https());
        if is_padding || is_stray {
            return None;
        }
        let length = datagram
            .length_bytes
            .saturating_sub(offset)
            .max(packet.len());
        let is_reset = owner
            .and_then(|owner| self.directory.get(owner.index))
            .is_some_and(|connection| connection.peers.is_stateless_reset(packet));
        if is_reset {
            self.unopened(datagram, owner, Some("stateless_reset"), length, tables);
        } else {
            self.unopened(datagram, owner, Some("1RTT"), length, tables);
            unopened::count(
                failed.map(|(_, opening)| opening),
                datagram.is_cut(),
                false,
                tables,
            );
        }
        Some(packet.len())
    }

    /// The capture ends: write what is known of streams, losses and requests.
    pub(crate) fn finish(&mut self, tables: &mut Tables) {
        for mut connection in self.directory.drain() {
            connection.finish(tables);
        }
    }
}

#[cfg(test)]
mod tests;
