// SPDX-License-Identifier: Apache-2.0
//! One connection: packets are opened, and what their frames say changes what is known of it.

use super::effects::AckDelay;
use super::frame::{self, Frame, Stop};
use super::handshake::{Handshake, Space};
use super::header::{Kind, Long, Version};
use super::keyring::{Keyring, Opening, Sealed};
use super::numbers::Numbers;
use super::peers::Peers;
use super::protection::Unprotected;
use super::reassembly::Waiting;
use super::recovery::Recovery;
use super::rows::Row;
use super::sent_packets::Content;
use super::streams::Streams;
use super::trial::FAR;
use super::wire::{hex, ConnectionId};
use crate::http::h3;
use crate::tables::{Packet, Tables};
use crate::tls::keylog::{KeyLog, Random};
use crate::tls::Reader;
use crate::{Direction, End, Severity};
use serde_json::json;
use std::rc::Rc;

/// Packets of a late connection whose numbers are searched for, each way.
const MAX_SEARCHES: u8 = 16;
/// Connection ids that are told, each way.
const MAX_DCIDS: usize = 64;

/// Where a packet stands.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) time_ns: i64,
    pub(super) way: Direction,
    pub(super) ip_packet: u64,
    /// Of the packet, not of the datagram.
    pub(super) length_bytes: u64,
}

pub(super) struct Connection {
    pub(super) name: Rc<str>,
    pub(super) vantage: Option<End>,
    original_dcid: ConnectionId,
    pub(super) version: Version,
    pub(super) keyring: Keyring,
    /// By space and direction.
    numbers: [[Numbers; 2]; 3],
    /// By the direction that the end sends.
    pub(super) ack_delay: [AckDelay; 2],
    pub(super) handshake: Handshake,
    pub(super) streams: Streams,
    /// Of the end at which the capture was taken.
    pub(super) recovery: Recovery,
    pub(super) peers: Peers,
    /// Both hellos are made out.
    pub(super) hellos: [bool; 2],
    /// The version that stands in the table `parameters`.
    pub(super) told_version: Option<Version>,
    /// The id that a Retry gave, until the client has used it: for Initial and 0-RTT packets.
    retried: [Option<ConnectionId>; 2],
    /// Its start is not in the capture.
    is_late: bool,
    /// An end has given connection ids for other paths than the first.
    pub(super) has_paths: bool,
    /// Attempts at a packet number each way that nothing leads to.
    searches: [u8; 2],
    /// What the packets each way have borne so far.
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

    /// What a hello would have told.
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

    fn sealed<'b>(
        &self,
        bytes: &'b [u8],
        number_at: usize,
        way: Direction,
        space: Space,
    ) -> Sealed<'b> {
        Sealed {
            bytes,
            number_at,
            direction: way,
            largest: self.numbers[space as usize][way as usize].largest(),
        }
    }

    /// Open a packet with a long header into `buffer`; `bytes` end where it ends.
    pub(super) fn open_long(
        &mut self,
        long: &Long<'_>,
        bytes: &[u8],
        way: Direction,
        buffer: &mut Vec<u8>,
    ) -> Opening {
        if long.kind == Kind::Initial {
            // Another version than the client's first: compatible version negotiation (RFC 9368 section 2.3).
            self.keyring.add_initial(long.version, &self.original_dcid);
        }
        let sealed = self.sealed(bytes, long.number_at, way, space_of(long.kind));
        self.keyring.open_long(long, sealed, buffer)
    }

    /// Open a packet with a short header into `buffer`.
    pub(super) fn open_short(
        &mut self,
        bytes: &[u8],
        id_bytes: usize,
        way: Direction,
        buffer: &mut Vec<u8>,
    ) -> Opening {
        let sealed = self.sealed(bytes, 1 + id_bytes, way, Space::Application);
        self.keyring.open_short(self.version, sealed, buffer)
    }

    /// The length of the connection id in a packet that goes `way`, where neither that nor its number can be told because the
    /// start is not in the capture.
    pub(super) fn find_late(
        &mut self,
        packet: &[u8],
        way: Direction,
        lengths: &[usize],
        buffer: &mut Vec<u8>,
    ) -> Option<usize> {
        let largest = self.numbers[Space::Application as usize][way as usize].largest();
        let searches = &mut self.searches[way as usize];
        if !self.is_late || largest.is_some() || *searches >= MAX_SEARCHES {
            return None;
        }
        *searches += 1;
        let trial = self.keyring.trial(self.version, way)?;
        let (id_bytes, number) = lengths.iter().find_map(|&id_bytes| {
            let number = trial.number(packet, 1 + id_bytes, FAR, buffer)?;
            Some((id_bytes, number))
        })?;
        self.expect_number(way, number);
        Some(id_bytes)
    }

    /// Whether `packet` is a Retry that answers this client.
    pub(super) fn is_retried_by(&self, version: Version, packet: &[u8]) -> bool {
        super::protection::retry_fits(version, &self.original_dcid, packet)
    }

    /// A Retry: the client starts again with another connection id (RFC 9000 section 17.2.5).
    pub(super) fn retry(&mut self, at: At, long: &Long<'_>, tables: &mut Tables) {
        let name = Rc::clone(&self.name);
        let row = self.row(&name, at, Some(Kind::Retry.as_str()));
        push_packet(&row, at, None, None, tables);
        self.retried = [Some(long.scid); 2];
        for version in [long.version, Version::V1, Version::V2] {
            self.keyring.add_initial(version, &long.scid);
        }
        self.peers.learn(long.scid, End::Server);
        let token_bytes = long
            .token
            .len()
            .saturating_sub(super::protection::TAG_BYTES);
        let detail = format!("{{\"token_bytes\":{token_bytes}}}");
        self.handshake
            .step(&row, "retry", Some(at.length_bytes), Some(&detail), tables);
    }

    /// A Version Negotiation packet.
    pub(super) fn version_negotiation(&mut self, at: At, versions: &[u8], tables: &mut Tables) {
        let name = Rc::clone(&self.name);
        let row = self.row(&name, at, Some("version_negotiation"));
        push_packet(&row, at, None, None, tables);
        let versions: Vec<_> = versions.chunks_exact(4).take(32).map(hex).collect();
        let versions = json!(versions).to_string();
        row.parameter("version_information.server_versions", &versions, tables);
        self.handshake.step(
            &row,
            "version_negotiation",
            Some(at.length_bytes),
            None,
            tables,
        );
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

    /// A packet with a long header has been opened.
    pub(super) fn long(
        &mut self,
        at: At,
        long: &Long<'_>,
        header: Unprotected,
        payload: &[u8],
        tables: &mut Tables,
    ) {
        let space = space_of(long.kind);
        // The server's word decides, in the end (RFC 9368 section 2.3).
        if at.way == Direction::Down && long.kind != Kind::ZeroRtt {
            self.version = long.version;
        }
        self.peers.learn(long.scid, at.way.sender());
        if at.way == Direction::Up {
            self.handshake.token_bytes = long.token.len();
            self.after_retry(long, space, header.number, tables);
        }
        // RFC 9001 section 4.9.1.
        if space == Space::Handshake && at.way == Direction::Up {
            self.recovery.discard(Space::Initial);
        }
        self.packet(at, long.kind.as_str(), space, header, payload, tables);
    }

    /// A client must not start its packet numbers again after a Retry (RFC 9000 section 17.2.5.3), and some do.
    fn after_retry(&mut self, long: &Long<'_>, space: Space, number: u64, tables: &mut Tables) {
        let Some(retried) = self
            .retried
            .get_mut(usize::from(long.kind == Kind::ZeroRtt))
        else {
            return;
        };
        if long.kind == Kind::Handshake || *retried != Some(long.dcid) {
            return;
        }
        *retried = None;
        let numbers = &mut self.numbers[space as usize][Direction::Up as usize];
        if numbers.largest().is_some_and(|largest| number <= largest) {
            *numbers = Numbers::default();
            self.recovery.discard(space);
            tables.count(
                "packet_numbers_restarted",
                Severity::Notice,
                "clients that count packets anew after a Retry (RFC 9000 section 17.2.5.3 forbids it): numbers come twice",
            );
        }
    }

    /// A packet with a short header has been opened.
    pub(super) fn short(
        &mut self,
        at: At,
        header: Unprotected,
        payload: &[u8],
        tables: &mut Tables,
    ) {
        self.packet(at, "1RTT", Space::Application, header, payload, tables);
    }

    fn packet(
        &mut self,
        at: At,
        packet_type: &'static str,
        space: Space,
        header: Unprotected,
        payload: &[u8],
        tables: &mut Tables,
    ) {
        let name = Rc::clone(&self.name);
        let mut row = self.row(&name, at, Some(packet_type));
        row.packet_number = Some(header.number);
        let key_phase = (packet_type == "1RTT").then_some(header.first & 4 != 0);
        if !self.numbers[space as usize][at.way as usize].insert(header.number) {
            row.event = "dropped";
            push_packet(&row, at, key_phase, Some("duplicate"), tables);
            return;
        }
        push_packet(&row, at, key_phase, None, tables);
        let mut content = Content::default();
        let mut reader = Reader::new(payload);
        while !reader.is_empty() {
            match frame::next(&mut reader) {
                Ok(frame) if !frame.may_stand_in(space) => {
                    tables.count(
                        "forbidden_frame",
                        Severity::DataLoss,
                        "frames that packets of their kind must not hold: they and what follows them in their packets are not read",
                    );
                    break;
                }
                Ok(frame) => {
                    content.ack_eliciting |= frame.is_ack_eliciting();
                    content.in_flight |=
                        frame.is_ack_eliciting() || matches!(frame, Frame::Padding { .. });
                    let ack_delay = self.ack_delay(space, at.way);
                    row.frame(&frame, ack_delay.exponent, tables);
                    self.frame(&row, space, &frame, &mut content, tables);
                }
                Err(Stop::Unknown(kind)) => {
                    tables.stats.count(
                        format!("unknown_frame:0x{kind:x}"),
                        Severity::DataLoss,
                        "frames of an extension that is not known, by their type: they and what follows them in their packets are not read",
                    );
                    break;
                }
                Err(Stop::Malformed) => {
                    tables.count(
                        "malformed_frame",
                        Severity::DataLoss,
                        "a frame contradicts its own lengths: what follows it in its packet cannot be read",
                    );
                    break;
                }
            }
        }
        if self.vantage == Some(at.way.sender()) {
            self.recovery
                .sent(&row, space, at.length_bytes, content, tables);
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
        let name = Rc::clone(&self.name);
        let at = At {
            time_ns: 0,
            way: match self.vantage {
                Some(End::Server) => Direction::Down,
                _ => Direction::Up,
            },
            ip_packet: 0,
            length_bytes: 0,
        };
        let row = self.row(&name, at, None);
        self.recovery.finish(&row, tables);
        self.streams.finish(&row, tables);
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
