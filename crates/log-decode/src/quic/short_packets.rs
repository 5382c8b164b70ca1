// SPDX-License-Identifier: Apache-2.0
//! Packets with a short header: 1-RTT, and stateless resets that look like them.

use super::directory::Candidate;
use super::keyring::Opening;
use super::wire::ConnectionId;
use super::{unopened, Connections, UdpDatagram};
use crate::tables::Tables;
use crate::Severity;

impl Connections {
    /// Open a packet as one of `candidates`, which may have been found by its connection id; what fails first is kept
    /// in `failed`.
    fn try_short(
        &mut self,
        datagram: &UdpDatagram<'_>,
        packet: &[u8],
        candidates: impl Iterator<Item = Candidate>,
        by_id: bool,
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
                    let id = packet.get(1..=id_bytes).and_then(ConnectionId::new);
                    if let Some(id) = id.filter(|_| !by_id) {
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
    pub(super) fn short(
        &mut self,
        datagram: &UdpDatagram<'_>,
        offset: usize,
        packet: &[u8],
        tables: &mut Tables,
    ) -> Option<usize> {
        let mut failed = None;
        let by_id = self.directory.by_short(packet);
        if self.try_short(datagram, packet, by_id.iter(), true, &mut failed, tables) {
            return Some(packet.len());
        }
        let by_path = self.directory.by_path(datagram.path());
        let others = by_path.iter().filter(|other| !by_id.contains(*other));
        if self.try_short(datagram, packet, others, false, &mut failed, tables) {
            return Some(packet.len());
        }
        if !matches!(failed, Some((_, Opening::Failed { proven: true }))) {
            let owner = failed.map(|(owner, _)| owner);
            let found = self.recognise(datagram, packet, owner, tables).into_iter();
            if self.try_short(datagram, packet, found, false, &mut failed, tables) {
                return Some(packet.len());
            }
        }
        let likeliest = by_id.iter().chain(by_path.iter()).next();
        let owner = failed.map_or(likeliest, |(candidate, _)| Some(candidate));
        let has_keys = matches!(failed, Some((_, Opening::Failed { .. })));
        if self.find_segments(datagram, offset, owner, has_keys, tables) {
            let first = self.segments.part(datagram, offset);
            let packet = first.payload.get(offset..).unwrap_or_default();
            return self.short(&first, offset, packet, tables);
        }
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
            let cut = owner.filter(|_| datagram.is_cut());
            if let Some(connection) = cut.and_then(|owner| self.directory.get(owner.index)) {
                connection.recovery.miss();
            }
            if owner.is_none() && self.count_closed_version(datagram.path(), tables) {
                return Some(packet.len());
            }
            let is_proven = matches!(failed, Some((_, Opening::Failed { proven: true })));
            let connection = owner.and_then(|owner| self.directory.get(owner.index));
            if is_proven && connection.is_some_and(|connection| connection.has_paths) {
                tables.count(
                    "other_paths",
                    Severity::DataLoss,
                    "packets of connections over several paths that stay closed: only those of the first path are opened",
                );
                return Some(packet.len());
            }
            unopened::count(
                failed.map(|(_, opening)| opening),
                datagram.is_cut(),
                false,
                tables,
            );
        }
        Some(packet.len())
    }
}
