// SPDX-License-Identifier: Apache-2.0
//! Super-packets are cut into what a network card would send.

mod super_packet;

use link_run::checksum::{complete, PartialChecksum};
use link_run::segment::Segments;
use link_run::vnet::{encode, Offload, Transport};

use super_packet::{Kind, KINDS, TCP_FLAGS_AT};

/// The one's complement sum, written down independently: 0xffff if the checksum within is right.
fn ones_complement(parts: &[&[u8]]) -> u16 {
    let mut bytes: Vec<u8> = parts.concat();
    if bytes.len() % 2 == 1 {
        bytes.push(0);
    }
    bytes.chunks(2).fold(0_u16, |sum, pair| {
        let (sum, carry) = sum.overflowing_add(u16::from_be_bytes([pair[0], pair[1]]));
        sum + u16::from(carry)
    })
}

fn assert_checksums(kind: Kind, packet: &[u8]) {
    let ip = kind.ip_header();
    let length = u32::try_from(packet.len() - ip)
        .expect("short")
        .to_be_bytes();
    let addresses = if kind.ipv6 {
        &packet[8..40]
    } else {
        &packet[12..20]
    };
    assert_eq!(
        ones_complement(&[addresses, &[0, kind.protocol()], &length, &packet[ip..]]),
        0xffff,
        "{kind:?}"
    );
    if !kind.ipv6 {
        assert_eq!(ones_complement(&[&packet[..20]]), 0xffff, "IPv4 header");
    }
}

fn cut(kind: Kind, payload: usize) -> Vec<Vec<u8>> {
    let (packet, offload) = kind.build(payload);
    let segments = Segments::new(&packet, offload).expect("well formed");
    let checksum = segments.checksum().expect("left undone");
    (0..segments.count())
        .map(|number| {
            let mut out = vec![0xaa; 3];
            segments.write(number, &mut out);
            let mut out = out.split_off(3);
            complete(&mut out, checksum);
            out
        })
        .collect()
}

/// All segments but the last have the segment size, their payloads are the super-packet's, and every checksum holds
/// once it is completed.
#[test]
fn segments_make_up_the_super_packet() {
    for kind in KINDS {
        for payload in [1, 999, 1000, 1001, 2000, 8191] {
            let segments = cut(kind, payload);
            assert_eq!(
                segments.len(),
                payload.div_ceil(1000),
                "{kind:?} with {payload} bytes"
            );
            let mut joined = Vec::new();
            for (number, segment) in segments.iter().enumerate() {
                assert_checksums(kind, segment);
                let expected = if number + 1 == segments.len() {
                    payload - number * 1000
                } else {
                    1000
                };
                assert_eq!(segment.len() - kind.headers(), expected);
                joined.extend_from_slice(&segment[kind.headers()..]);
            }
            let (whole, _) = kind.build(payload);
            assert_eq!(joined, whole[kind.headers()..]);
        }
    }
}

/// Lengths and IPv4 identification (which wraps) are each segment's own.
#[test]
fn ip_and_udp_headers_are_each_segments_own() {
    for kind in KINDS {
        for (number, segment) in cut(kind, 2500).iter().enumerate() {
            let ip = kind.ip_header();
            let field = |at: usize| usize::from(u16::from_be_bytes([segment[at], segment[at + 1]]));
            if kind.ipv6 {
                assert_eq!(field(4), segment.len() - 40);
            } else {
                assert_eq!(
                    [field(2), field(4)],
                    [segment.len(), (0xfffe + number) % 0x1_0000]
                );
            }
            if kind.transport == Transport::Udp {
                assert_eq!(field(ip + 4), segment.len() - ip);
            }
        }
    }
}

/// Sequence numbers go on (and wrap), CWR stays on the first segment, PSH and FIN on the last.
#[test]
fn tcp_headers_are_each_segments_own() {
    for kind in &KINDS[..2] {
        let ip = kind.ip_header();
        let segments = cut(*kind, 2500);
        let sequences: Vec<u32> = segments
            .iter()
            .map(|segment| {
                u32::from_be_bytes(segment[ip + 4..ip + 8].try_into().expect("four bytes"))
            })
            .collect();
        assert_eq!(sequences, [0xffff_fc00, 0xffff_ffe8, 0x0000_03d0]);
        let flags: Vec<u8> = segments
            .iter()
            .map(|segment| segment[ip + TCP_FLAGS_AT])
            .collect();
        assert_eq!(flags, [0x90, 0x10, 0x19]);
    }
}

/// A single packet is passed on as it is, and its checksum too.
#[test]
fn a_single_packet_is_untouched() {
    for kind in KINDS {
        let (packet, offload) = kind.build(700);
        let single = Offload {
            segments: None,
            ..offload
        };
        let segments = Segments::new(&packet, single).expect("well formed");
        let mut out = Vec::new();
        segments.write(0, &mut out);
        assert_eq!(
            (segments.count(), segments.checksum(), out),
            (1, offload.checksum, packet)
        );
    }
}

/// Headers that do not fit the packet, or an offload without a checksum to go with it, are refused.
#[test]
fn nonsense_is_refused() {
    for kind in KINDS {
        let (packet, offload) = kind.build(2000);
        assert!(Segments::new(
            &packet,
            Offload {
                checksum: None,
                ..offload
            }
        )
        .is_none());
        assert!(Segments::new(
            &packet,
            Offload {
                segments: Some((kind.transport, 0)),
                ..offload
            }
        )
        .is_none());
        for length in 0..=kind.headers() {
            assert!(
                Segments::new(&packet[..length], offload).is_none(),
                "{kind:?} cut to {length}"
            );
        }
        let late = PartialChecksum {
            start: u16::MAX,
            offset: 6,
        };
        assert!(Segments::new(
            &packet,
            Offload {
                checksum: Some(late),
                ..offload
            }
        )
        .is_none());
    }
}

/// The virtio-net header says the same when it is written and read, whatever link header stands before the packet.
#[test]
fn the_virtio_header_is_read_as_written() {
    let checksum = Some(PartialChecksum {
        start: 40,
        offset: 16,
    });
    for link_header in [0, 14] {
        let header = encode(checksum, link_header);
        assert_eq!(
            Offload::decode(header, link_header),
            Some(Offload {
                checksum,
                segments: None
            })
        );
        assert_eq!(
            Offload::decode(encode(None, link_header), link_header),
            Some(Offload::default())
        );
    }
    let mut header = encode(checksum, 0);
    header[1] = 0x81;
    header[4..6].copy_from_slice(&1448_u16.to_ne_bytes());
    assert_eq!(
        Offload::decode(header, 0),
        Some(Offload {
            checksum,
            segments: Some((Transport::Tcp, 1448))
        })
    );
    header[1] = 3;
    assert_eq!(Offload::decode(header, 0), None, "UFO was never offered");
    assert_eq!(
        Offload::decode(encode(checksum, 0), 41),
        None,
        "a checksum before the packet"
    );
}
