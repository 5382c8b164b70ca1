// SPDX-License-Identifier: Apache-2.0
//! QUIC v1 (RFC 9000, RFC 9001) and v2 (RFC 9369) in captures, decrypted with the secrets of a key log.

use crate::tables::Tables;
use crate::tls::keylog::KeyLog;
use crate::{Direction, End};
use std::net::SocketAddr;

/// What one UDP datagram of a capture carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UdpDatagram<'a> {
    pub(crate) time_ns: i64,
    pub(crate) src: SocketAddr,
    pub(crate) dst: SocketAddr,
    /// As much of the payload as was captured.
    pub(crate) payload: &'a [u8],
    /// Length of the payload on the wire.
    pub(crate) length_bytes: usize,
    /// As the capture tells it; where it does not, the connection's first packet does.
    pub(crate) direction: Option<Direction>,
    /// `number` in the table `ip_packets`.
    pub(crate) ip_packet: u64,
}

/// All connections of one capture.
pub(crate) struct Connections {
    keys: KeyLog,
    vantage: Option<End>,
}

impl Connections {
    /// Nothing seen yet of a capture taken at `vantage`.
    pub(crate) fn new(keys: KeyLog, vantage: Option<End>) -> Self {
        Self { keys, vantage }
    }

    /// Take a datagram in the order of the capture; whether it was taken for QUIC.
    ///
    /// A datagram that the link dropped stands only in its sender's capture: it is taken as sent, like any other.
    pub(crate) fn datagram(&mut self, datagram: &UdpDatagram<'_>, tables: &mut Tables) -> bool {
        let _ = (datagram, tables, &self.keys, self.vantage);
        false
    }

    /// The capture ends: write what is known of streams, losses and requests.
    pub(crate) fn finish(&mut self, tables: &mut Tables) {
        let _ = (tables, self.vantage);
    }
}
