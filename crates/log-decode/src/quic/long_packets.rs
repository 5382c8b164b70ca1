// SPDX-License-Identifier: Apache-2.0
//! Packets with a long header: Initial, which may begin a connection, 0-RTT, Handshake and Retry.

use super::connection::Connection;
use super::directory::Candidate;
use super::header::{Kind, Long};
use super::keyring::Opening;
use super::{unopened, Connections, UdpDatagram};
use crate::tables::Tables;
use crate::{Direction, End, Severity};

impl Connections {
    /// Gives the bytes that the packet takes.
    pub(super) fn long(
        &mut self,
        datagram: &UdpDatagram<'_>,
        long: &Long<'_>,
        bytes: &[u8],
        tables: &mut Tables,
    ) -> usize {
        let candidates = self.directory.by_long(&long.dcid, datagram.path());
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
        if opening.is_none() && self.count_closed_version(datagram.path(), tables) {
            return end.clamp(1, bytes.len());
        }
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
        Self::finish_oldest(gone, tables);
        let candidate = Candidate {
            index,
            way,
            id_bytes: 0,
        };
        let at = datagram.at(way, packet.len());
        self.opened(candidate, datagram, at, Some(long), (header, end), tables);
        true
    }

    /// A connection had to go for a new one.
    pub(super) fn finish_oldest(gone: Option<Box<Connection>>, tables: &mut Tables) {
        if let Some(mut gone) = gone {
            gone.finish(tables);
            tables.count(
                "too_many_connections",
                Severity::DataLoss,
                "more connections than are followed at a time: late packets of the oldest are not opened",
            );
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
}
