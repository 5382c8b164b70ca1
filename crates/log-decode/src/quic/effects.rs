// SPDX-License-Identifier: Apache-2.0
//! Effects of a packet's frames on what is known of its connection.

use super::connection::Connection;
use super::frame::Frame;
use super::handshake::Space;
use super::rows::{delay_us, Row};
use super::sent_packets::{Content, Piece};
use super::transport_parameters::TransportParameters;
use crate::tables::Tables;
use crate::tls::handshake::Content as Message;
use crate::tls::names;
use crate::{Direction, Severity};
use serde_json::json;

/// Announcement of an end about its ACKs (RFC 9000 section 18.2).
#[derive(Clone, Copy)]
pub(super) struct AckDelay {
    pub(super) exponent: u32,
    max_ns: i64,
}

impl Default for AckDelay {
    fn default() -> Self {
        Self {
            exponent: 3,
            max_ns: 25_000_000,
        }
    }
}

impl Connection {
    /// Unit of the delay of ACKs that go `way`.
    pub(super) fn ack_delay(&self, space: Space, way: Direction) -> AckDelay {
        match space {
            Space::Application => self.ack_delay[way as usize],
            // Sent before the parameters are known, and not to be relied on (RFC 9002 section 5.3).
            Space::Initial | Space::Handshake => AckDelay {
                max_ns: 0,
                ..AckDelay::default()
            },
        }
    }

    pub(super) fn frame(
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
                self.streams.reset(row, id, error_code, tables);
            }
            Frame::StopSending { id, .. } => self.streams.stop_sending(row, id, tables),
            Frame::Ack(ref ack) | Frame::PathAck { path: 0, ref ack }
                if self.vantage == Some(row.way.reverse().sender()) =>
            {
                let AckDelay { exponent, max_ns } = self.ack_delay(space, row.way);
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "casts from floats saturate"
                )]
                let delay_ns = (delay_us(ack.delay, exponent) * 1e3) as i64;
                let delay_ns = delay_ns.min(max_ns);
                self.recovery
                    .acknowledged(row, space, ack.ranges(), delay_ns, tables);
            }
            Frame::NewConnectionId {
                id, reset_token, ..
            } => {
                self.peers.learn(id, row.way.sender());
                self.peers.add_reset_token(reset_token);
            }
            Frame::Extension(extension) => {
                if let Some((id, reset_token)) = extension.id {
                    self.has_paths = true;
                    self.peers.learn(id, row.way.sender());
                    self.peers.add_reset_token(reset_token);
                }
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
            Message::ClientHello(hello) if !self.hellos[0] => {
                self.hellos[0] = true;
                self.keyring.random = Some(hello.random);
                self.tell_version(row, tables);
                let alpns = json!(hello.alpn).to_string();
                row.parameter("alpn_information.client_alpns", &alpns, tables);
                self.speaks_http(
                    hello.alpn.is_empty() || hello.alpn.iter().any(|alpn| is_h3(alpn)),
                );
                self.announced(row, hello.transport_parameters.as_deref(), tables);
            }
            Message::ServerHello(hello) if !hello.retry_request => {
                self.keyring.choose(hello.cipher_suite);
                self.tell_version(row, tables);
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
            Message::EncryptedExtensions(extensions) if !self.hellos[1] => {
                self.hellos[1] = true;
                if let Some(alpn) = &extensions.alpn {
                    row.parameter("alpn_information.chosen_alpn", alpn, tables);
                    self.speaks_http(is_h3(alpn));
                }
                self.announced(row, extensions.transport_parameters.as_deref(), tables);
            }
            _ => {}
        }
    }

    /// The version that is spoken: the client's choice first, and the server's where that is another.
    fn tell_version(&mut self, row: &Row<'_>, tables: &mut Tables) {
        if self.told_version.replace(self.version) != Some(self.version) {
            let version = self.version.as_str();
            row.parameter("version_information.chosen_version", version, tables);
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
        tables.stats.add(
            "malformed_transport_parameter",
            parameters.malformed,
            Severity::Notice,
            "transport parameters whose values are not what they must be, or whose list is cut: they are in no table",
        );
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
}

/// HTTP/3, its drafts included.
fn is_h3(alpn: &str) -> bool {
    alpn == "h3" || alpn.starts_with("h3-")
}
