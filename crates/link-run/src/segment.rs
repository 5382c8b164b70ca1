// SPDX-License-Identifier: Apache-2.0
//! Cuts super-packets into the packets that a network card would send.

use crate::checksum::{fill_ipv4_header, pseudo_header, PartialChecksum};
use crate::vnet::{Offload, Transport};

pub(crate) const TCP_FIN_PSH: u8 = 0x01 | 0x08;
const TCP_CWR: u8 = 0x80;
const UDP_HEADER: usize = 8;

/// A packet from the kernel, to be had in pieces.
#[derive(Debug)]
pub struct Segments<'a> {
    packet: &'a [u8],
    checksum: Option<PartialChecksum>,
    cut: Option<Cut>,
}

/// The headers that all packets of a super-packet begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The last header.
    pub transport: Transport,
    /// Length of all headers.
    pub length: usize,
}

#[derive(Clone, Copy, Debug)]
struct Cut {
    transport: Transport,
    checksum: PartialChecksum,
    headers: usize,
    payload: usize,
}

impl<'a> Segments<'a> {
    /// `packet` starts at the IP header. `None` if headers and offload do not fit each other.
    #[must_use]
    pub fn new(packet: &'a [u8], offload: Offload) -> Option<Self> {
        let Offload { checksum, segments } = offload;
        let cut = match segments {
            None => None,
            Some((transport, payload)) => {
                let checksum = checksum?;
                let start = usize::from(checksum.start);
                let headers = match transport {
                    Transport::Tcp => start + usize::from(packet.get(start + 12)? >> 4) * 4,
                    Transport::Udp => start + UDP_HEADER,
                };
                let fits = start >= 20
                    && payload > 0
                    && headers < packet.len()
                    && headers >= start + UDP_HEADER;
                fits.then_some(())?;
                Some(Cut {
                    transport,
                    checksum,
                    headers,
                    payload: payload.into(),
                })
            }
        };
        Some(Self {
            packet,
            checksum,
            cut,
        })
    }

    /// Number of packets.
    #[must_use]
    pub fn count(&self) -> usize {
        self.cut.map_or(1, |cut| {
            (self.packet.len() - cut.headers).div_ceil(cut.payload)
        })
    }

    /// The checksum that is left to do on each.
    #[must_use]
    pub fn checksum(&self) -> Option<PartialChecksum> {
        self.checksum
    }

    /// The headers of each, if there is something to cut.
    #[must_use]
    pub fn headers(&self) -> Option<Headers> {
        self.cut.map(|cut| Headers {
            transport: cut.transport,
            length: cut.headers,
        })
    }

    /// Appends packet `number` to `out`.
    pub fn write(&self, number: usize, out: &mut Vec<u8>) {
        let Some(cut) = self.cut else {
            out.extend_from_slice(self.packet);
            return;
        };
        let from = cut.headers + number * cut.payload;
        let to = (from + cut.payload).min(self.packet.len());
        let start = out.len();
        out.extend_from_slice(&self.packet[..cut.headers]);
        out.extend_from_slice(&self.packet[from..to]);
        cut.fix_headers(&mut out[start..], number, to == self.packet.len());
    }
}

impl Cut {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "no packet is above 64 KiB, and counters wrap as on the wire"
    )]
    fn fix_headers(&self, packet: &mut [u8], number: usize, last: bool) {
        let length = packet.len();
        let transport = usize::from(self.checksum.start);
        let transport_length = length - transport;
        if packet[0] >> 4 == 4 {
            add_u16(packet, 4, number as u16);
            put_u16(packet, 2, length as u16);
            fill_ipv4_header(packet);
        } else {
            put_u16(packet, 4, (length - 40) as u16);
        }
        let protocol = match self.transport {
            Transport::Tcp => {
                let sequence = u32::from_be_bytes([
                    packet[transport + 4],
                    packet[transport + 5],
                    packet[transport + 6],
                    packet[transport + 7],
                ]);
                let sequence = sequence.wrapping_add((number * self.payload) as u32);
                packet[transport + 4..transport + 8].copy_from_slice(&sequence.to_be_bytes());
                let flags = &mut packet[transport + 13];
                if !last {
                    *flags &= !TCP_FIN_PSH;
                }
                if number > 0 {
                    *flags &= !TCP_CWR;
                }
                6
            }
            Transport::Udp => {
                put_u16(packet, transport + 4, transport_length as u16);
                17
            }
        };
        let field = transport + usize::from(self.checksum.offset);
        if field + 2 <= self.headers {
            put_u16(
                packet,
                field,
                pseudo_header(packet, protocol, transport_length as u32),
            );
        }
    }
}

pub(crate) fn put_u16(packet: &mut [u8], at: usize, value: u16) {
    packet[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn add_u16(packet: &mut [u8], at: usize, value: u16) {
    let sum = u16::from_be_bytes([packet[at], packet[at + 1]]).wrapping_add(value);
    put_u16(packet, at, sum);
}
