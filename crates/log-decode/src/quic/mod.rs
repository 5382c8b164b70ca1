// SPDX-License-Identifier: Apache-2.0
//! QUIC v1 (RFC 9000, RFC 9001) and v2 (RFC 9369) in captures, decrypted with the secrets of a key log.
//!
//! A datagram is cut into packets ([`header`]), the [`directory`] says to which [`connection`] each may belong, the
//! [`keyring`] opens it, and what its frames say goes to the tables, the reassembly of its streams ([`streams`]) and
//! the estimates of its sender's recovery ([`recovery`]).

mod ack;
mod connection;
mod datagram;
mod directory;
mod effects;
mod frame;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod handshake;
mod hashing;
mod header;
mod keyring;
mod long_packets;
mod numbers;
mod orphans;
mod peers;
mod protection;
mod reassembly;
mod recovery;
mod round_trip;
mod rows;
#[cfg(any(test, fuzzing))]
mod sealing;
mod segments;
mod sent_packets;
mod short_packets;
mod streams;
mod transport_parameters;
mod trial;
mod unopened;
mod wire;

use crate::tables::Tables;
use crate::tls::keylog::KeyLog;
use crate::{End, Severity};
use connection::At;
pub(crate) use datagram::UdpDatagram;
use directory::{Candidate, Directory, Path};
use hashing::HashMap;
use header::{Header, Long};
use orphans::Orphans;
use protection::Unprotected;
use reassembly::Waiting;
use segments::Segments;
use wire::ConnectionId;

/// Zeros behind a packet that are padding for certain.
const MIN_PADDING: usize = 8;

/// All connections of one capture.
pub(crate) struct Connections {
    keys: KeyLog,
    vantage: Option<End>,
    directory: Directory,
    waiting: Waiting,
    orphans: Orphans,
    segments: Segments,
    /// Pairs of addresses between which a version is spoken that is not opened.
    closed_versions: HashMap<Path, u32>,
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
            orphans: Orphans::default(),
            segments: Segments::default(),
            closed_versions: HashMap::default(),
            buffer: Vec::new(),
        }
    }

    /// Take a record in the order of the capture, which holds a datagram or several; whether it was taken for QUIC.
    ///
    /// A datagram that the link dropped stands only in its sender's capture: it is taken as sent, like any other.
    pub(crate) fn datagram(&mut self, record: &UdpDatagram<'_>, tables: &mut Tables) -> bool {
        let mut offset = 0;
        self.segments.start(record);
        while offset < record.payload.len() {
            let datagram = &self.segments.part(record, offset);
            let Some(bytes) = datagram.payload.get(offset..) else {
                break;
            };
            // No packet begins like that: what stands behind is another datagram's.
            let padding = bytes.iter().take_while(|&&byte| byte == 0).count();
            if offset > 0 && padding >= MIN_PADDING {
                trailing_bytes(tables);
                offset += padding;
                continue;
            }
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
                    trailing_bytes(tables);
                    if self.segments.size.is_none() {
                        return true;
                    }
                    offset = datagram.payload.len();
                }
                None => return false,
            }
        }
        self.uncaptured_segments(record, tables);
        offset > 0
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
        let dcid = match long {
            Some(long) => Some(long.dcid),
            None => (self.buffer.get(1..=candidate.id_bytes)).and_then(ConnectionId::new),
        };
        connection.note_dcid(at, dcid.unwrap_or_default(), tables);
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

    /// The capture ends: write what is known of streams, losses and requests.
    pub(crate) fn finish(&mut self, tables: &mut Tables) {
        for mut connection in self.directory.drain() {
            connection.finish(tables);
        }
    }
}

fn trailing_bytes(tables: &mut Tables) {
    tables.count(
        "trailing_bytes",
        Severity::Info,
        "bytes behind the last packet of a datagram that are no packet: some senders pad like this",
    );
}

#[cfg(test)]
mod tests;
