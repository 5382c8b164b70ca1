// SPDX-License-Identifier: Apache-2.0
//! Super-packets as the kernel hands them over, of both transports over both versions of IP.

use link_run::checksum::PartialChecksum;
use link_run::vnet::{Offload, Transport};

pub const SIZE: u16 = 1000;
pub const TCP_FLAGS_AT: usize = 13;

/// Kind of super-packet to build.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub ipv6: bool,
    pub transport: Transport,
}

pub const KINDS: [Kind; 4] = [
    Kind {
        ipv6: false,
        transport: Transport::Tcp,
    },
    Kind {
        ipv6: true,
        transport: Transport::Tcp,
    },
    Kind {
        ipv6: false,
        transport: Transport::Udp,
    },
    Kind {
        ipv6: true,
        transport: Transport::Udp,
    },
];

impl Kind {
    pub fn ip_header(self) -> usize {
        if self.ipv6 {
            40
        } else {
            20
        }
    }

    /// TCP with 12 bytes of options, as with timestamps.
    pub fn headers(self) -> usize {
        self.ip_header()
            + if self.transport == Transport::Tcp {
                32
            } else {
                8
            }
    }

    pub fn protocol(self) -> u8 {
        if self.transport == Transport::Tcp {
            6
        } else {
            17
        }
    }

    /// A super-packet as the kernel hands it over: checksum left undone, lengths of the whole.
    pub fn build(self, payload: usize) -> (Vec<u8>, Offload) {
        let length = self.headers() + payload;
        let ip = self.ip_header();
        let mut packet = vec![0; length];
        if self.ipv6 {
            packet[0] = 0x60;
            packet[4..6].copy_from_slice(&u16::try_from(length - 40).expect("short").to_be_bytes());
            packet[6] = self.protocol();
            packet[7] = 64;
            packet[8..24].copy_from_slice(&[0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
            packet[24..40].copy_from_slice(&[0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        } else {
            packet[0] = 0x45;
            packet[2..4].copy_from_slice(&u16::try_from(length).expect("short").to_be_bytes());
            packet[4..6].copy_from_slice(&0xfffe_u16.to_be_bytes());
            packet[6] = 0x40;
            packet[8..10].copy_from_slice(&[64, self.protocol()]);
            packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        }
        packet[ip..ip + 4].copy_from_slice(&[0x30, 0x39, 0x01, 0xbb]);
        let offset = if self.transport == Transport::Tcp {
            packet[ip + 4..ip + 8].copy_from_slice(&0xffff_fc00_u32.to_be_bytes());
            packet[ip + 12] = 8 << 4;
            packet[ip + TCP_FLAGS_AT] = 0x80 | 0x10 | 0x08 | 0x01; // CWR, ACK, PSH, FIN
            16
        } else {
            packet[ip + 4..ip + 6]
                .copy_from_slice(&u16::try_from(length - ip).expect("short").to_be_bytes());
            6
        };
        for (i, byte) in packet[self.headers()..].iter_mut().enumerate() {
            *byte = u8::try_from(i % 251).expect("small");
        }
        let checksum = PartialChecksum {
            start: u16::try_from(ip).expect("small"),
            offset,
        };
        (
            packet,
            Offload {
                checksum: Some(checksum),
                segments: Some((self.transport, SIZE)),
            },
        )
    }
}
