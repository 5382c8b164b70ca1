// SPDX-License-Identifier: Apache-2.0
//! One connection: what is known of it, and the packets that belong to it.

mod opening;
mod packets;
mod starting_again;

use super::effects::AckDelay;
use super::handshake::{Handshake, Space};
use super::header::{Kind, Version};
use super::keyring::Keyring;
use super::numbers::Numbers;
use super::peers::Peers;
use super::reassembly::Waiting;
use super::recovery::Recovery;
use super::rows::{Owner, Row};
use super::streams::Streams;
use super::wire::{hex, ConnectionId};
use crate::http::h3;
use crate::tables::{Packet, Tables};
use crate::tls::keylog::{KeyLog, Random};
use crate::{Direction, End};
use std::rc::Rc;

/// Connection ids that are told, each way.
const MAX_DCIDS: usize = 64;

/// Position of a packet.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) time_ns: i64,
    pub(super) way: Direction,
    pub(super) ip_packet: u64,
    /// Length of the packet, not of the datagram.
    pub(super) length_bytes: u64,
}

pub(super) struct Connection {
    pub(super) name: Rc<str>,
    pub(super) vantage: Option<End>,
    original_dcid: ConnectionId,
    pub(super) version: Version,
    pub(super) keyring: Keyring,
    /// Packet numbers by space and direction.
    numbers: [[Numbers; 2]; 3],
    /// ACK delays by the direction in which the end sends.
    pub(super) ack_delay: [AckDelay; 2],
    pub(super) handshake: Handshake,
    pub(super) streams: Streams,
    /// Recovery of the end at which the capture was taken.
    pub(super) recovery: Recovery,
    pub(super) peers: Peers,
    /// Both hellos are made out.
    pub(super) hellos: [bool; 2],
    /// The version that stands in the table `parameters`.
    pub(super) told_version: Option<Version>,
    /// The id that a Retry gave, until the client has used it: for Initial and 0-RTT packets.
    retried: [Option<ConnectionId>; 2],
    /// True if its start is missing from the capture.
    is_late: bool,
    /// True if an end has given connection ids for other paths than the first.
    pub(super) has_paths: bool,
    /// Attempts at a packet number each way that nothing leads to.
    searches: [u8; 2],
    /// Connection ids that the packets each way have borne so far.
    dcids: [Vec<ConnectionId>; 2],
}

impl Connection {
    /// The connection whose client chose `dcid` for its first packet.
    pub(super) fn new(
        version: Version,
        dcid: ConnectionId,
        vantage: Option<End>,
        keys: KeyLog,
        waiting: &Waiting,
    ) -> Self {
        let name = hex(dcid.as_bytes());
        let mut keyring = Keyring::new(keys);
        keyring.add_initial(version, &dcid);
        Self {
            vantage,
            original_dcid: dcid,
            version,
            keyring,
            numbers: Default::default(),
            ack_delay: [AckDelay::default(); 2],
            handshake: Handshake::new(waiting),
            streams: Streams::new(h3::Connection::new(name.clone(), vantage), waiting),
            recovery: Recovery::default(),
            peers: Peers::default(),
            hellos: [false; 2],
            told_version: None,
            retried: [None; 2],
            is_late: false,
            has_paths: false,
            searches: [0; 2],
            dcids: Default::default(),
            name: name.into(),
        }
    }

    /// A connection that the capture shows from later on; its addresses are its name.
    pub(super) fn late(
        name: &str,
        version: Version,
        vantage: Option<End>,
        keys: KeyLog,
        waiting: &Waiting,
    ) -> Self {
        let mut late = Self::new(version, ConnectionId::default(), vantage, keys, waiting);
        late.name = name.into();
        late.streams = Streams::new(h3::Connection::new(name.to_owned(), vantage), waiting);
        late.is_late = true;
        late
    }

    /// Takes what a hello would have told.
    pub(super) fn know(&mut self, random: Random, suite: u16, version: Version) {
        self.keyring.random = Some(random);
        self.keyring.choose(suite);
        self.version = version;
        self.is_late = true;
    }

    /// The next 1-RTT packet that goes `way` has about this number.
    pub(super) fn expect_number(&mut self, way: Direction, number: u64) {
        self.numbers[Space::Application as usize][way as usize].expect(number);
    }

    fn row<'a>(&self, name: &'a str, at: At, packet_type: Option<&'static str>) -> Row<'a> {
        Row {
            vantage: self.vantage.map(End::as_str),
            connection: Some(name),
            time_ns: at.time_ns,
            event: at.way.event(self.vantage),
            way: at.way,
            packet_type,
            packet_number: None,
        }
    }

    /// The Destination Connection ID that a packet bears: told where the sender takes another one than before.
    pub(super) fn note_dcid(&mut self, at: At, dcid: ConnectionId, tables: &mut Tables) {
        let borne = &mut self.dcids[at.way as usize];
        if borne.contains(&dcid) || borne.len() >= MAX_DCIDS {
            return;
        }
        borne.push(dcid);
        if borne.len() > 1 {
            let end = at.way.reverse().sender().as_str();
            let name = format!("connection_id_updated.{end}");
            self.note_path(at, &name, &hex(dcid.as_bytes()), tables);
        }
    }

    /// The addresses of a packet of it that was opened.
    pub(super) fn note_path(&self, at: At, name: &str, value: &str, tables: &mut Tables) {
        self.row(&self.name, at, None)
            .parameter(name, value, tables);
    }

    /// The capture ends.
    pub(super) fn finish(&mut self, tables: &mut Tables) {
        let owner = Owner {
            vantage: self.vantage.map(End::as_str),
            connection: Some(&self.name),
        };
        self.recovery.finish(owner, tables);
        self.streams.finish(owner, tables);
    }
}

/// A row of the table `packets`.
pub(super) fn push_packet(
    row: &Row<'_>,
    at: At,
    key_phase: Option<bool>,
    trigger: Option<&str>,
    tables: &mut Tables,
) {
    tables.packets.push(Packet {
        vantage: row.vantage,
        connection: row.connection,
        time_ns: row.time_ns,
        transport: "quic",
        event: row.event,
        direction: Some(row.way.as_str()),
        packet_type: row.packet_type,
        packet_number: row.packet_number,
        length_bytes: Some(at.length_bytes),
        ip_packet: Some(at.ip_packet),
        key_phase,
        trigger,
        ..Packet::default()
    });
}

fn space_of(kind: Kind) -> Space {
    match kind {
        Kind::Initial | Kind::Retry => Space::Initial,
        Kind::Handshake => Space::Handshake,
        Kind::ZeroRtt => Space::Application,
    }
}
