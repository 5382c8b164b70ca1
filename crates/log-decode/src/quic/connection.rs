// SPDX-License-Identifier: Apache-2.0
//! One connection: packets are opened, and what their frames say changes what is known of it.

use super::frame::{self, Frame, Stop};
use super::handshake::{Handshake, Space};
use super::header::{Kind, Long, Version};
use super::keyring::{Keyring, Opening, Sealed};
use super::numbers::Numbers;
use super::peers::Peers;
use super::protection::Unprotected;
use super::reassembly::Waiting;
use super::recovery::Recovery;
use super::rows::{delay_us, Row};
use super::sent_packets::{Content, Piece};
use super::streams::Streams;
use super::transport_parameters::TransportParameters;
use super::wire::{hex, ConnectionId};
use crate::http::h3;
use crate::tables::{Packet, Tables};
use crate::tls::handshake::Content as Message;
use crate::tls::keylog::KeyLog;
use crate::tls::{names, Reader};
use crate::{Direction, End, Severity};
use serde_json::json;
use std::rc::Rc;

/// RFC 9000 section 18.2.
const DEFAULT_ACK_DELAY_EXPONENT: u32 = 3;
const DEFAULT_MAX_ACK_DELAY_NS: i64 = 25_000_000;

/// Where a packet stands.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) time_ns: i64,
    pub(super) way: Direction,
    pub(super) ip_packet: u64,
    /// Of the packet, not of the datagram.
    pub(super) length_bytes: u64,
}

/// What an end announced about its ACKs.
#[derive(Clone, Copy)]
struct AckDelay {
    exponent: u32,
    max_ns: i64,
}

pub(super) struct Connection {
    pub(super) name: Rc<str>,
    vantage: Option<End>,
    original_dcid: ConnectionId,
    pub(super) version: Version,
    keyring: Keyring,
    /// By space and direction.
    numbers: [[Numbers; 2]; 3],
    /// By the direction that the end sends.
    ack_delay: [AckDelay; 2],
    handshake: Handshake,
    streams: Streams,
    /// Of the end at which the capture was taken.
    recovery: Recovery,
    pub(super) peers: Peers,
    /// Both hellos are made out.
    hellos: [bool; 2],
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
        let defaults = AckDelay {
            exponent: DEFAULT_ACK_DELAY_EXPONENT,
            max_ns: DEFAULT_MAX_ACK_DELAY_NS,
        };
        Self {
            vantage,
            original_dcid: dcid,
            version,
            keyring,
            numbers: Default::default(),
            ack_delay: [defaults; 2],
            handshake: Handshake::new(waiting),
            streams: Streams::new(h3::Connection::new(name.clone(), vantage), waiting),
            recovery: Recovery::default(),
            peers: Peers::default(),
            hellos: [false; 2],
            name: name.into(),
        }
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

    /// Whether `packet` is a Retry that answers this client.
    pub(super) fn is_retried_by(&self, version: Version, packet: &[u8]) -> bool {
        super::protection::retry_fits(version, &self.original_dcid, packet)
    }

    /// A Retry: the client starts again with another connection id (RFC 9000 section 17.2.5).
    pub(super) fn retry(&mut self, at: At, long: &Long<'_>, tables: &mut Tables) {
        let name = Rc::clone(&self.name);
        let row = self.row(&name, at, Some(Kind::Retry.as_str()));
        push_packet(&row, at, None, None, tables);
        for version in [Version::V1, Version::V2] {
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
        // RFC 9001 section 4.9.1.
        if space == Space::Handshake && at.way == Direction::Up {
            self.recovery.discard(Space::Initial);
        }
        self.packet(at, long.kind.as_str(), space, header, payload, tables);
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
                Ok(frame) => {
                    content.ack_eliciting |= frame.is_ack_eliciting();
                    content.in_flight |=
                        frame.is_ack_eliciting() || matches!(frame, Frame::Padding { .. });
                    let exponent = match space {
                        Space::Application => self.ack_delay[at.way as usize].exponent,
                        _ => DEFAULT_ACK_DELAY_EXPONENT,
                    };
                    row.frame(&frame, exponent, tables);
                    self.frame(&row, space, &frame, &mut content, tables);
                }
                Err(Stop::Unknown(_)) => {
                    tables.count(
                        "unknown_frame",
                        Severity::DataLoss,
                        "a frame of an extension that is not known: what follows it in its packet cannot be read",
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

    fn frame(
        &mut self,
        row: &Row<'_>,
        space: Space,
        frame: &Frame<'_>,
        content: &mut Content,
        tables: &mut Tables,
    ) {
        match *frame {
            Frame::Crypto { offset, data } => {
                // Ids of streams have 62 bits, so these are free.
                let stream = u64::MAX - space as u64;
                content.add(Piece {
                    stream,
                    offset,
                    length: data.len() as u64,
                });
                for message in self.handshake.crypto(row, space, offset, data, tables) {
                    self.message(row, &message, tables);
                }
            }
            Frame::Stream {
                id,
                offset,
                fin,
                data,
            } => {
                content.add(Piece {
                    stream: id,
                    offset,
                    length: data.len() as u64,
                });
                self.streams.data(row, id, (offset, fin), data, tables);
            }
            Frame::ResetStream { id, error_code, .. } => {
                self.streams.reset(row, id, error_code, tables)
            }
            Frame::StopSending { id, .. } => self.streams.stop_sending(row, id, tables),
            Frame::Ack(ref ack) if self.vantage == Some(row.way.reverse().sender()) => {
                let AckDelay { exponent, max_ns } = self.ack_delay[row.way as usize];
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "casts from floats saturate"
                )]
                let delay_ns = match space {
                    Space::Application => {
                        ((delay_us(ack.delay, exponent) * 1e3) as i64).min(max_ns)
                    }
                    _ => 0,
                };
                self.recovery
                    .acknowledged(row, space, ack.ranges(), delay_ns, tables);
            }
            Frame::NewConnectionId {
                id, reset_token, ..
            } => {
                self.peers.learn(id, row.way.sender());
                self.peers.add_reset_token(reset_token);
            }
            Frame::ConnectionClose {
                application,
                error_code,
                reason,
            } => {
                row.close(application, error_code, reason, tables);
            }
            Frame::HandshakeDone => {
                self.handshake
                    .step(row, "handshake_done", None, None, tables);
                // RFC 9001 section 4.9.2.
                self.recovery.discard(Space::Initial);
                self.recovery.discard(Space::Handshake);
            }
            _ => {}
        }
    }

    fn message(&mut self, row: &Row<'_>, message: &Message, tables: &mut Tables) {
        match message {
            Message::ClientHello(hello) => {
                self.keyring.random.get_or_insert(hello.random);
                if !std::mem::replace(&mut self.hellos[0], true) {
                    row.parameter(
                        "alpn_information.client_alpns",
                        &json!(hello.alpn).to_string(),
                        tables,
                    );
                    self.speaks_http(
                        hello.alpn.is_empty() || hello.alpn.iter().any(|alpn| is_h3(alpn)),
                    );
                    self.announced(row, hello.transport_parameters.as_deref(), tables);
                }
            }
            Message::ServerHello(hello) if !hello.retry_request => {
                self.keyring.choose(hello.cipher_suite);
                row.parameter(
                    "version_information.chosen_version",
                    self.version.as_str(),
                    tables,
                );
                let cipher = names::cipher_suite(hello.cipher_suite);
                row.parameter("parameters_set.server.tls_cipher", &cipher, tables);
                if let Some(group) = hello.group {
                    row.parameter(
                        "parameters_set.server.tls_group",
                        &names::group(group),
                        tables,
                    );
                }
            }
            Message::EncryptedExtensions(extensions) => {
                if !std::mem::replace(&mut self.hellos[1], true) {
                    if let Some(alpn) = &extensions.alpn {
                        row.parameter("alpn_information.chosen_alpn", alpn, tables);
                        self.speaks_http(is_h3(alpn));
                    }
                    self.announced(row, extensions.transport_parameters.as_deref(), tables);
                }
            }
            _ => {}
        }
    }

    fn speaks_http(&mut self, does: bool) {
        if !does {
            self.streams.http = None;
        }
    }

    /// The transport parameters of the end that sent the row's packet.
    fn announced(&mut self, row: &Row<'_>, bytes: Option<&[u8]>, tables: &mut Tables) {
        let sender = row.way.sender();
        let parameters = TransportParameters::parse(bytes.unwrap_or_default(), |name, value| {
            let name = format!("parameters_set.{}.{name}", sender.as_str());
            row.parameter(&name, value, tables);
        });
        let delay = &mut self.ack_delay[row.way as usize];
        if let Some(exponent) = parameters.ack_delay_exponent {
            delay.exponent = exponent;
        }
        if let Some(max_ms) = parameters.max_ack_delay_ms {
            delay.max_ns = i64::try_from(max_ms.saturating_mul(1_000_000)).unwrap_or(i64::MAX);
        }
        for (scope, limit) in [
            ("connection", parameters.initial_max_data),
            ("streams_bidi", parameters.initial_max_streams_bidi),
            ("streams_uni", parameters.initial_max_streams_uni),
        ] {
            if let Some(limit) = limit {
                row.flow_control(true, scope, None, limit, tables);
            }
        }
        if let Some(token) = parameters.stateless_reset_token {
            self.peers.add_reset_token(token);
        }
        if let Some(id) = parameters.preferred_id {
            self.peers.learn(id, sender);
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

/// HTTP/3, its drafts included.
fn is_h3(alpn: &str) -> bool {
    alpn == "h3" || alpn.starts_with("h3-")
}
