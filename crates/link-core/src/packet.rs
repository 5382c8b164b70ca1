// SPDX-License-Identifier: Apache-2.0
//! The model's view of a packet.

use crate::units::Bytes;

/// The two ECN bits of an IP header (RFC 3168 section 5, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The sender wants drops, not marks.
    #[default]
    NotEct,
    /// ECN-capable, ECT(0).
    Ect0,
    /// ECN-capable, ECT(1): to be marked as L4S.
    Ect1,
    /// Marked on the way already.
    Ce,
}

impl Ecn {
    /// True if a mark may stand in the place of a drop.
    #[must_use]
    pub fn is_capable(self) -> bool {
        self != Self::NotEct
    }
}

/// The transport that a packet belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// TCP packets.
    Tcp,
    /// UDP packets, and so QUIC.
    Udp,
    /// Anything else.
    #[default]
    Other,
}

/// Content of a packet, as a link sees it that has no keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// Nothing that can be addressed.
    #[default]
    Unmarked,
    /// A UDP datagram that begins with an Initial packet of QUIC (RFC 9000 section 17.2.2).
    Initial,
    /// A UDP datagram that begins with a Handshake packet of QUIC (RFC 9000 section 17.2.4).
    Handshake,
    /// A TCP segment.
    Segment {
        /// True if a connection is asked for, or granted (SYN, SYN-ACK).
        syn: bool,
        /// True if there is data behind the header.
        payload: bool,
    },
}

/// A packet, as far as it matters to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Length of the IP packet.
    pub size: Bytes,
    /// A hash of addresses, ports and protocol: fair queueing tells flows apart by it.
    pub flow: u32,
    /// The ECN bits.
    pub ecn: Ecn,
    /// The transport.
    pub protocol: Protocol,
    /// Content that it shows.
    pub content: Content,
    /// True if a router may cut it: IPv4 without "don't fragment" (RFC 791).
    pub fragmentable: bool,
    /// True if the network's address translation has no mapping for it.
    pub unmapped: bool,
    /// Number of the super-packet that it was cut from; `None` of a packet that came by itself.
    pub super_packet: Option<u32>,
}

impl Packet {
    /// Size in bytes from which on a packet counts as one of data: acknowledgments, requests and probes are smaller.
    pub const LARGE: Bytes = Bytes(600);

    /// True if this is a packet of data by its size.
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.size >= Self::LARGE
    }
}

/// A packet with nothing but a size.
impl From<Bytes> for Packet {
    fn from(size: Bytes) -> Self {
        Self {
            size,
            ..Self::default()
        }
    }
}
