// SPDX-License-Identifier: Apache-2.0
//! Frames: RFC 9000 section 19, DATAGRAM (RFC 9221), `ACK_FREQUENCY` and `IMMEDIATE_ACK`
//! (draft-ietf-quic-ack-frequency), `RESET_STREAM_AT` (draft-ietf-quic-reliable-stream-reset).

mod extension;
mod reading;

use super::ack::Ack;
use super::handshake::Space;
use super::wire::ConnectionId;
pub(super) use extension::Extension;
pub(super) use reading::next;

/// One frame; its data stays in the packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame<'a> {
    /// A run of such frames.
    Padding {
        length: u64,
    },
    Ping,
    Ack(Ack<'a>),
    /// An ACK of packets on one path.
    PathAck {
        path: u64,
        ack: Ack<'a>,
    },
    /// `RESET_STREAM` or `RESET_STREAM_AT`.
    ResetStream {
        id: u64,
        error_code: u64,
        final_size: u64,
        reliable_size: Option<u64>,
    },
    StopSending {
        id: u64,
        error_code: u64,
    },
    Crypto {
        offset: u64,
        data: &'a [u8],
    },
    NewToken {
        length: u64,
    },
    Stream {
        id: u64,
        offset: u64,
        fin: bool,
        data: &'a [u8],
    },
    MaxData(u64),
    MaxStreamData {
        id: u64,
        limit: u64,
    },
    MaxStreams {
        bidirectional: bool,
        limit: u64,
    },
    DataBlocked(u64),
    StreamDataBlocked {
        id: u64,
        limit: u64,
    },
    StreamsBlocked {
        bidirectional: bool,
        limit: u64,
    },
    NewConnectionId {
        sequence: u64,
        retire_prior_to: u64,
        id: ConnectionId,
        reset_token: [u8; 16],
    },
    RetireConnectionId(u64),
    PathChallenge([u8; 8]),
    PathResponse([u8; 8]),
    ConnectionClose {
        application: bool,
        error_code: u64,
        reason: &'a [u8],
    },
    HandshakeDone,
    Datagram {
        length: u64,
    },
    AckFrequency {
        sequence: u64,
    },
    ImmediateAck,
    Extension(Extension),
}

/// Reason why the rest of a packet cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The type, which is none of those above.
    Unknown(u64),
    Malformed,
}

impl Frame<'_> {
    /// qlog's name of the type.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Padding { .. } => "padding",
            Self::Ping => "ping",
            Self::Ack(_) => "ack",
            Self::PathAck { .. } => "path_ack",
            Self::Extension(extension) => extension.name,
            Self::ResetStream {
                reliable_size: None,
                ..
            } => "reset_stream",
            Self::ResetStream { .. } => "reset_stream_at",
            Self::StopSending { .. } => "stop_sending",
            Self::Crypto { .. } => "crypto",
            Self::NewToken { .. } => "new_token",
            Self::Stream { .. } => "stream",
            Self::MaxData(_) => "max_data",
            Self::MaxStreamData { .. } => "max_stream_data",
            Self::MaxStreams { .. } => "max_streams",
            Self::DataBlocked(_) => "data_blocked",
            Self::StreamDataBlocked { .. } => "stream_data_blocked",
            Self::StreamsBlocked { .. } => "streams_blocked",
            Self::NewConnectionId { .. } => "new_connection_id",
            Self::RetireConnectionId(_) => "retire_connection_id",
            Self::PathChallenge(_) => "path_challenge",
            Self::PathResponse(_) => "path_response",
            Self::ConnectionClose { .. } => "connection_close",
            Self::HandshakeDone => "handshake_done",
            Self::Datagram { .. } => "datagram",
            Self::AckFrequency { .. } => "ack_frequency",
            Self::ImmediateAck => "immediate_ack",
        }
    }

    /// True if packets of a number space may hold it (RFC 9000 section 12.4); of 0-RTT packets all
    /// is taken.
    pub(super) fn may_stand_in(&self, space: Space) -> bool {
        let in_handshake = matches!(
            self,
            Self::Padding { .. }
                | Self::Ping
                | Self::Ack(_)
                | Self::Crypto { .. }
                | Self::ConnectionClose {
                    application: false,
                    ..
                }
        );
        in_handshake || space == Space::Application
    }

    /// RFC 9002 section 2.
    pub(super) fn is_ack_eliciting(&self) -> bool {
        match self {
            Self::Padding { .. }
            | Self::Ack(_)
            | Self::PathAck { .. }
            | Self::ConnectionClose { .. } => false,
            Self::Extension(extension) => extension.is_ack_eliciting,
            _ => true,
        }
    }
}
