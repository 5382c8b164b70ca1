// SPDX-License-Identifier: Apache-2.0
//! UDP datagrams, as a capture tells them.

use super::connection::At;
use super::directory::Path;
use crate::Direction;
use std::net::SocketAddr;

/// Port on which QUIC is expected even without having seen how the connection began.
const HTTPS_PORT: u16 = 443;

/// Content of one UDP datagram of a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UdpDatagram<'a> {
    pub(crate) time_ns: i64,
    pub(crate) src: SocketAddr,
    pub(crate) dst: SocketAddr,
    /// The part of the payload that was captured.
    pub(crate) payload: &'a [u8],
    /// Length of the payload on the wire.
    pub(crate) length_bytes: usize,
    /// The direction as the capture tells it; where it does not, the connection's first packet does.
    pub(crate) direction: Option<Direction>,
    /// `number` in the table `ip_packets`.
    pub(crate) ip_packet: u64,
    /// True where the capture holds each datagram in a record of its own, as the link's do.
    pub(crate) is_alone: bool,
}

impl UdpDatagram<'_> {
    pub(super) fn at(&self, way: Direction, length_bytes: usize) -> At {
        At {
            time_ns: self.time_ns,
            way,
            ip_packet: self.ip_packet,
            length_bytes: length_bytes as u64,
        }
    }

    pub(super) fn path(&self) -> Path {
        Path(self.src, self.dst)
    }

    /// The way it went, for want of anything better: servers have the lower ports.
    pub(super) fn likely_way(&self) -> Direction {
        let by_port = if self.dst.port() <= self.src.port() {
            Direction::Up
        } else {
            Direction::Down
        };
        self.direction.unwrap_or(by_port)
    }

    pub(super) fn ends(&self, way: Direction) -> (SocketAddr, SocketAddr) {
        match way {
            Direction::Up => (self.src, self.dst),
            Direction::Down => (self.dst, self.src),
        }
    }

    pub(super) fn is_https(&self) -> bool {
        self.src.port() == HTTPS_PORT || self.dst.port() == HTTPS_PORT
    }

    pub(super) fn is_cut(&self) -> bool {
        self.payload.len() < self.length_bytes
    }
}
