// SPDX-License-Identifier: Apache-2.0
//! IP, TCP and UDP headers: RFC 791, RFC 8200, RFC 9293, RFC 768, and where TLS records start
//! (RFC 8446 section 5.1). What a capture holds too little of stays `None`.

use crate::tcp::TcpOptions;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;

const TLS_APPLICATION_DATA: u8 = 23;
/// The longest record body: 2^14 bytes plus 256 of expansion (RFC 8446 section 5.2), 2,048 in TLS 1.2.
const TLS_MAX_RECORD_BYTES: usize = (1 << 14) + 2048;
/// Extension headers followed before giving up; senders use two or three.
const MAX_EXTENSIONS: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Headers {
    pub version: Option<u8>,
    pub addresses: Option<(IpAddr, IpAddr)>,
    pub ecn: Option<u8>,
    pub protocol: Option<u8>,
    /// Length of the whole IP packet.
    pub size_bytes: u32,
    pub ports: Option<(u16, u16)>,
    /// Length of what TCP or UDP carries.
    pub payload_bytes: Option<u32>,
    pub tcp: Option<Tcp>,
    /// Offset of IP's payload in the packet, unless it is a fragment behind the first.
    pub transport_at: Option<usize>,
    /// Range of the packet in which the captured part of the payload stands.
    pub payload: Range<usize>,
    /// Only a part of what was sent as one packet.
    pub fragment: bool,
    /// The length that UDP's header says cannot be.
    pub bad_udp_length: bool,
    /// TCP's header says that it is shorter than a header is.
    pub bad_tcp_offset: bool,
}

#[derive(Debug)]
pub(super) struct Tcp {
    pub seq: u32,
    /// `None` without the ACK flag.
    pub ack: Option<u32>,
    /// The nine flag bits, FIN lowest.
    pub flags: u16,
    /// True if a record header of type `application_data` stands in the payload, which must start
    /// with a record header.
    pub tls_application_data: Option<bool>,
    /// The window as the header has it, not scaled.
    pub window: u16,
    pub options: TcpOptions,
}

/// The transport layer's part of a packet.
struct Transport<'a> {
    bytes: &'a [u8],
    /// Offset in the packet at which they begin.
    at: usize,
    /// Length as announced by the IP header; at least what was captured of it, less padding.
    length: u32,
    first_fragment: bool,
}

impl Headers {
    /// Read an IP packet that had `original` bytes on the wire, and `packet` of them captured.
    pub(super) fn parse(packet: &[u8], original: u32) -> Self {
        let mut headers = Self {
            size_bytes: original,
            ..Self::default()
        };
        let transport = match packet.first().map(|first| first >> 4) {
            Some(4) => headers.ipv4(packet),
            Some(6) => headers.ipv6(packet),
            _ => None,
        };
        if let Some(transport) = transport.filter(|transport| transport.first_fragment) {
            headers.transport_at = Some(transport.at);
            match headers.protocol {
                Some(TCP) => headers.tcp(&transport),
                Some(UDP) => headers.udp(&transport),
                _ => None,
            };
        }
        headers
    }

    fn ipv4<'a>(&mut self, packet: &'a [u8]) -> Option<Transport<'a>> {
        self.version = Some(4);
        let header = packet.get(..20)?;
        let header_bytes = usize::from(header[0] & 15) * 4;
        let total = u32::from(be16(header, 2)?);
        // 0 in a super-packet that the sender's own machine captured before segmentation.
        self.size_bytes = if total == 0 { self.size_bytes } else { total };
        self.ecn = Some(header[1] & 3);
        self.protocol = Some(header[9]);
        let [src, dst] = [12, 16]
            .map(|at| Ipv4Addr::from([header[at], header[at + 1], header[at + 2], header[at + 3]]));
        self.addresses = Some((src.into(), dst.into()));
        let fragment = be16(header, 6)?;
        // More fragments, or an offset.
        self.fragment = fragment & 0x3fff != 0;
        self.transport(packet, header_bytes, fragment << 3 == 0)
    }

    fn ipv6<'a>(&mut self, packet: &'a [u8]) -> Option<Transport<'a>> {
        self.version = Some(6);
        let header = packet.get(..40)?;
        let payload = u32::from(be16(header, 4)?);
        self.size_bytes = if payload == 0 {
            self.size_bytes
        } else {
            payload + 40
        };
        self.ecn = Some((header[1] >> 4) & 3);
        let address = |at| {
            <[u8; 16]>::try_from(&header[at..at + 16])
                .ok()
                .map(|octets| Ipv6Addr::from(octets).into())
        };
        self.addresses = Some((address(8)?, address(24)?));
        let (mut next, mut at, mut first_fragment) = (header[6], 40, true);
        for _ in 0..MAX_EXTENSIONS {
            let length = |unit, plus| Some((usize::from(*packet.get(at + 1)?) + plus) * unit);
            let bytes = match next {
                // Hop-by-hop, routing, destination options, mobility, HIP, shim6: RFC 8200 section 4, IANA's registry.
                0 | 43 | 60 | 135 | 139 | 140 => length(8, 1)?,
                44 => {
                    let fragment = be16(packet, at + 2)?;
                    self.fragment |= fragment & 0xfff9 != 0;
                    first_fragment &= fragment >> 3 == 0;
                    8
                }
                // Authentication header: in units of four bytes, less two.
                51 => length(4, 2)?,
                _ => break,
            };
            next = *packet.get(at)?;
            at += bytes;
        }
        self.protocol = Some(next);
        self.transport(packet, at, first_fragment)
    }

    fn transport<'a>(
        &self,
        packet: &'a [u8],
        header_bytes: usize,
        first_fragment: bool,
    ) -> Option<Transport<'a>> {
        let length = self
            .size_bytes
            .checked_sub(u32::try_from(header_bytes).ok()?)?;
        let bytes = packet.get(header_bytes..)?;
        // Ethernet pads short frames.
        let bytes = &bytes[..bytes.len().min(length as usize)];
        Some(Transport {
            bytes,
            at: header_bytes,
            length,
            first_fragment,
        })
    }

    fn udp(&mut self, transport: &Transport<'_>) -> Option<()> {
        self.ports = Some((be16(transport.bytes, 0)?, be16(transport.bytes, 2)?));
        let length = match u32::from(be16(transport.bytes, 4)?) {
            // A jumbogram, whose length 16 bits cannot hold (RFC 2675 section 4).
            0 if transport.length > u16::MAX.into() => transport.length,
            // The first fragment has the length of the whole datagram.
            length if self.fragment => length.min(transport.length),
            length => length,
        };
        self.bad_udp_length = !(8..=transport.length).contains(&length);
        if !self.bad_udp_length {
            // What IP carries behind it are UDP's options (RFC 9868) or of no meaning.
            let captured = transport.bytes.len().min(length as usize);
            self.payload_bytes = length.checked_sub(8);
            self.payload = transport.at + captured.min(8)..transport.at + captured;
        }
        Some(())
    }

    fn tcp(&mut self, transport: &Transport<'_>) -> Option<()> {
        let header = transport.bytes;
        self.ports = Some((be16(header, 0)?, be16(header, 2)?));
        let offset_and_flags = be16(header, 12)?;
        let header_bytes = usize::from(offset_and_flags >> 12) * 4;
        self.bad_tcp_offset = header_bytes < 20;
        if self.bad_tcp_offset {
            return None;
        }
        let flags = offset_and_flags & 0x1ff;
        self.payload_bytes = transport
            .length
            .checked_sub(u32::try_from(header_bytes).ok()?);
        let payload = header.get(header_bytes..).unwrap_or_default();
        self.payload = transport.at + header.len() - payload.len()..transport.at + header.len();
        self.tcp = Some(Tcp {
            seq: be32(header, 4)?,
            ack: be32(header, 8).filter(|_| flags & 0x10 != 0),
            flags,
            window: be16(header, 14)?,
            tls_application_data: tls_application_data(payload),
            options: TcpOptions::parse(header.get(20..header_bytes).unwrap_or_default()),
        });
        Some(())
    }
}

/// Walk the TLS records of one segment; `None` if the payload does not start with a record header.
fn tls_application_data(payload: &[u8]) -> Option<bool> {
    let mut rest = payload;
    let mut any = false;
    let mut records = 0;
    while let Some(&[kind, 3, minor, high, low]) = rest.first_chunk::<5>() {
        let length = usize::from(u16::from_be_bytes([high, low]));
        if !(20..=24).contains(&kind) || minor > 4 || length > TLS_MAX_RECORD_BYTES {
            break;
        }
        records += 1;
        any |= kind == TLS_APPLICATION_DATA;
        rest = rest.get(5 + length..).unwrap_or_default();
    }
    (records > 0).then_some(any)
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
