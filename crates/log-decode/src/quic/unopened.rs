// SPDX-License-Identifier: Apache-2.0
//! Packets that stay closed: only the header can be told.

use super::connection::push_packet;
use super::directory::{Candidate, Path};
use super::keyring::Opening;
use super::rows::Row;
use super::wire::{hex, ConnectionId};
use super::{Connections, UdpDatagram};
use crate::tables::{Parameter, Tables};
use crate::tls::names;
use crate::{Direction, End, Severity};
use std::rc::Rc;

impl Connections {
    /// The row of a packet that was not opened; without an owner its addresses stand for the connection.
    pub(super) fn unopened(
        &mut self,
        datagram: &UdpDatagram<'_>,
        owner: Option<Candidate>,
        packet_type: Option<&'static str>,
        length_bytes: usize,
        tables: &mut Tables,
    ) {
        let way = owner.map_or_else(|| datagram.likely_way(), |owner| owner.way);
        let connection = owner.and_then(|owner| self.directory.get(owner.index));
        let name = connection.map_or_else(
            || {
                let (client, server) = datagram.ends(way);
                format!("{client}-{server}").into()
            },
            |connection| Rc::clone(&connection.name),
        );
        self.push(datagram, &name, way, packet_type, length_bytes, tables);
    }

    fn push(
        &self,
        datagram: &UdpDatagram<'_>,
        name: &str,
        way: Direction,
        packet_type: Option<&'static str>,
        length_bytes: usize,
        tables: &mut Tables,
    ) {
        let row = Row {
            vantage: self.vantage.map(End::as_str),
            connection: Some(name),
            time_ns: datagram.time_ns,
            event: way.event(self.vantage),
            way,
            packet_type,
            packet_number: None,
        };
        push_packet(&row, datagram.at(way, length_bytes), None, None, tables);
    }

    /// A Version Negotiation packet answers the client's first one, whose Destination Connection ID is its source.
    pub(super) fn version_negotiation(
        &mut self,
        datagram: &UdpDatagram<'_>,
        dcid: &ConnectionId,
        scid: &ConnectionId,
        versions: &[u8],
        tables: &mut Tables,
    ) -> Option<usize> {
        let path = datagram.path();
        let known = self
            .directory
            .by_long(dcid, path)
            .iter()
            .find(|known| known.way == Direction::Down);
        let length = datagram.payload.len();
        if let Some(connection) = known.and_then(|known| self.directory.get(known.index)) {
            connection.version_negotiation(datagram.at(Direction::Down, length), versions, tables);
        } else if datagram.is_https() && versions.len() % 4 == 0 {
            let name = hex(scid.as_bytes());
            self.push(
                datagram,
                &name,
                Direction::Down,
                Some("version_negotiation"),
                length,
                tables,
            );
        } else {
            return None;
        }
        Some(length)
    }

    /// A packet of a version that cannot be opened.
    pub(super) fn other_version(
        &mut self,
        datagram: &UdpDatagram<'_>,
        version: u32,
        dcid: &ConnectionId,
        tables: &mut Tables,
    ) -> Option<usize> {
        // Versions of drafts, and those that ask for Version Negotiation (RFC 9000 section 15).
        let is_registered = version >> 8 == 0x00ff_0000 || version & 0x0f0f_0f0f == 0x0a0a_0a0a;
        if !is_registered && !datagram.is_https() {
            return None;
        }
        let length = datagram.payload.len();
        let (name, way) = (hex(dcid.as_bytes()), datagram.likely_way());
        self.push(datagram, &name, way, None, length, tables);
        if version & 0x0f0f_0f0f == 0x0a0a_0a0a {
            tables.count(
                "reserved_version",
                Severity::Info,
                "packets of a version that does not exist: they ask for Version Negotiation",
            );
            return Some(length);
        }
        let Path(src, dst) = datagram.path();
        if self.closed_versions.len() < MAX_CLOSED {
            self.closed_versions.insert(Path(dst, src), version);
            let known = self.closed_versions.insert(Path(src, dst), version);
            if known != Some(version) {
                tables.parameters.push(Parameter {
                    vantage: self.vantage.map(End::as_str),
                    connection: Some(&name),
                    time_ns: datagram.time_ns,
                    name: "version_information.chosen_version",
                    value: &format!("{version:08x}"),
                });
            }
        }
        count_version(version, tables);
        Some(length)
    }

    /// True if a packet between these addresses stays closed because of its version.
    pub(super) fn count_closed_version(&self, path: Path, tables: &mut Tables) -> bool {
        let version = self.closed_versions.get(&path);
        version.is_some_and(|&version| {
            count_version(version, tables);
            true
        })
    }
}

/// Pairs of addresses that are remembered.
const MAX_CLOSED: usize = 1 << 12;

fn count_version(version: u32, tables: &mut Tables) {
    tables.stats.count(
        format!("unknown_version:{version:08x}"),
        Severity::DataLoss,
        "packets of other versions of QUIC than 1, 2 and the drafts from 29 to 34 stay closed",
    );
}

/// Count why a packet was not opened; no `opening`: it was not tried.
pub(super) fn count(
    opening: Option<Opening>,
    is_cut: bool,
    is_malformed: bool,
    tables: &mut Tables,
) {
    let (name, severity, advice) = match opening {
        _ if is_cut => (
            "cut_packet",
            Severity::DataLoss,
            "the capture holds too little of a packet to open it: capture whole packets",
        ),
        _ if is_malformed => (
            "malformed_packet",
            Severity::DataLoss,
            "a packet is longer than its datagram",
        ),
        None => (
            "no_first_packet",
            Severity::DataLoss,
            "the capture lacks the start of a connection: only headers of its packets can be told",
        ),
        Some(Opening::NoKeys) => (
            "missing_keys",
            Severity::DataLoss,
            "no secret for these packets: give the key log (SSLKEYLOGFILE) of one of the two programs",
        ),
        Some(Opening::NoEarlyKeys) => (
            "missing_early_keys",
            Severity::DataLoss,
            "the key log has no CLIENT_EARLY_TRAFFIC_SECRET, which some programs never write: 0-RTT data stays closed",
        ),
        Some(Opening::NoSuite(suite)) => {
            let suite = suite.map(names::cipher_suite).unwrap_or_default();
            tables.stats.count(
                format!("unsupported_cipher:{suite}"),
                Severity::DataLoss,
                "packets under a cipher suite that cannot be opened: only their headers can be told",
            );
            return;
        }
        Some(Opening::Failed { proven: false }) => (
            "wrong_keys",
            Severity::DataLoss,
            "the key log has secrets for this connection, and they do not fit: is it the one of this capture?",
        ),
        Some(Opening::Failed { proven: true } | Opening::Opened { .. }) => (
            "undecryptable_packet",
            Severity::Notice,
            "a packet does not open with keys that fit others: damaged on the way, or not of this connection",
        ),
    };
    tables.count(name, severity, advice);
}
