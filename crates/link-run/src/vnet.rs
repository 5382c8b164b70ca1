// SPDX-License-Identifier: Apache-2.0
//! `struct virtio_net_hdr`: what the kernel left undone on a packet that it hands over, and what we leave undone.

use crate::checksum::PartialChecksum;

/// Length of the header.
pub const LENGTH: usize = 10;

const NEEDS_CSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
const GSO_ECN: u8 = 0x80;

/// Transport of a super-packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// One TCP segment that is to be cut up.
    Tcp,
    /// Several UDP datagrams behind one header.
    Udp,
}

/// Work that is left to do on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    /// The checksum that is still to be completed.
    pub checksum: Option<PartialChecksum>,
    /// The segmentation that is still to be done: into payloads of this many bytes.
    pub segments: Option<(Transport, u16)>,
}

impl Offload {
    /// Reads the header before a packet whose IP header starts `link_header` bytes into the frame. `None` if it asks
    /// for what we never offered.
    #[must_use]
    pub fn decode(header: [u8; LENGTH], link_header: u16) -> Option<Self> {
        let [flags, gso, _, _, size_low, size_high, start_low, start_high, offset_low, offset_high] =
            header;
        let checksum = if flags & NEEDS_CSUM == 0 {
            None
        } else {
            Some(PartialChecksum {
                start: u16::from_ne_bytes([start_low, start_high]).checked_sub(link_header)?,
                offset: u16::from_ne_bytes([offset_low, offset_high]),
            })
        };
        let transport = match gso & !GSO_ECN {
            GSO_NONE => None,
            GSO_TCPV4 | GSO_TCPV6 => Some(Transport::Tcp),
            GSO_UDP_L4 => Some(Transport::Udp),
            _ => return None,
        };
        let size = u16::from_ne_bytes([size_low, size_high]);
        Some(Self {
            checksum,
            segments: transport.map(|transport| (transport, size)),
        })
    }
}

/// The header before a single packet of so many bytes, which the kernel need not spread over pages.
#[must_use]
pub fn encode(checksum: Option<PartialChecksum>, link_header: u16) -> [u8; LENGTH] {
    let mut header = [0; LENGTH];
    if let Some(PartialChecksum { start, offset }) = checksum {
        header[0] = NEEDS_CSUM;
        header[6..8].copy_from_slice(&(start + link_header).to_ne_bytes());
        header[8..10].copy_from_slice(&offset.to_ne_bytes());
    }
    header
}

/// Work that is left to do on a super-packet.
#[derive(Clone, Copy, Debug)]
pub struct Super {
    /// True if its IP version is 6.
    pub ipv6: bool,
    /// Transport that it is made of.
    pub transport: Transport,
    /// Length of its headers, from the IP header on.
    pub headers: u16,
    /// Bytes of payload in each packet.
    pub payload: u16,
    /// The checksum of each packet.
    pub checksum: PartialChecksum,
}

/// The header before a super-packet.
#[must_use]
pub fn encode_super(whole: &Super, link_header: u16) -> [u8; LENGTH] {
    let mut header = encode(Some(whole.checksum), link_header);
    header[1] = match (whole.transport, whole.ipv6) {
        (Transport::Tcp, false) => GSO_TCPV4,
        (Transport::Tcp, true) => GSO_TCPV6,
        (Transport::Udp, _) => GSO_UDP_L4,
    };
    header[2..4].copy_from_slice(&(whole.headers + link_header).to_ne_bytes());
    header[4..6].copy_from_slice(&whole.payload.to_ne_bytes());
    header
}
