// SPDX-License-Identifier: Apache-2.0
//! TCP's part of one packet of a capture.

use super::TcpOptions;
use crate::Direction;
use std::net::SocketAddr;

pub(super) const FIN: u16 = 1;
pub(super) const SYN: u16 = 2;
pub(super) const RST: u16 = 4;
pub(super) const ECE: u16 = 0x40;
pub(super) const CWR: u16 = 0x80;

/// One segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    pub(crate) time_ns: i64,
    pub(crate) src: SocketAddr,
    pub(crate) dst: SocketAddr,
    pub(crate) seq: u32,
    /// `None` without the ACK flag.
    pub(crate) ack: Option<u32>,
    /// The nine flag bits, FIN lowest.
    pub(crate) flags: u16,
    /// The window as the header has it.
    pub(crate) window: u16,
    pub(crate) options: &'a TcpOptions,
    /// The part of the payload that was captured.
    pub(crate) payload: &'a [u8],
    /// Length of the payload on the wire.
    pub(crate) length: u32,
    /// The direction as the capture tells it; where it does not, the connection does.
    pub(crate) direction: Option<Direction>,
    /// `number` in the table `ip_packets`.
    pub(crate) ip_packet: u64,
}

impl Segment<'_> {
    pub(super) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}
