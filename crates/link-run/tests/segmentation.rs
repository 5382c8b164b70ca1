// SPDX-License-Identifier: Apache-2.0
//! Super-packets are cut into what a network card would send.

use link_run::checksum::{complete, PartialChecksum};
use link_run::log::record::MARKED;
use link_run::pool::{Pool, HEADROOM};
use link_run::segment::Segments;
use link_run::train;
use link_run::vnet::{encode, encode_super, Offload, Transport};

const SIZE: u16 = 1000;
const TCP_FLAGS_AT: usize = 13;

/// Which super-packet to build.
#[derive(Clone, Copy, Debug)]
struct Kind {
    ipv6: bool,
    transport: Transport,
}

const KINDS: [Kind; 4] = [
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
    fn ip_header(self) -> usize {
        if self.ipv6 {
            40
        } else {
            20
        }
    }

    /// TCP with 12 bytes of options, as with timestamps.
    fn headers(self) -> usize {
        self.ip_header()
            + if self.transport == Transport::Tcp {
                32
            } else {
                8
            }
    }

    fn protocol(self) -> u8 {
        if self.transport == Transport::Tcp {
            6
        } else {
            17
        }
    }

    /// A super-packet as the kernel hands it over: checksum left undone, lengths of the whole.
    fn build(self, payload: usize) -> (Vec<u8>, Offload) {
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

/// A pool with the segments of a super-packet, as the link keeps them.
fn segments_in_pool(packet: &[u8], offload: Offload) -> (Pool, Vec<u32>) {
    let segments = Segments::new(packet, offload).expect("a super-packet");
    let mut pool = Pool::new(1500);
    let slots = (0..segments.count())
        .map(|number| {
            let slot = pool.take();
            let entry = pool.get_mut(slot);
            entry.bytes.clear();
            entry.bytes.resize(HEADROOM, 0);
            segments.write(number, &mut entry.bytes);
            entry.checksum = segments.checksum();
            entry.headers = segments.headers();
            entry.record.index = u32::try_from(number).expect("few");
            slot
        })
        .collect();
    (pool, slots)
}

/// Whichever neighbours are put together for the way to the kernel: cut again, they are what they were, bit by bit.
#[test]
fn a_train_is_cut_into_what_it_was_made_of() {
    for kind in KINDS {
        let (packet, offload) = kind.build(4 * usize::from(SIZE) + 300);
        let (pool, slots) = segments_in_pool(&packet, offload);
        for train in [&slots[..], &slots[1..3], &slots[2..], &slots[..2]] {
            let mut frame = Vec::new();
            let whole = train::head(&pool, train, &mut frame).expect("segments");
            for slot in train {
                frame.extend_from_slice(&pool.get(*slot).packet()[usize::from(whole.headers)..]);
            }
            let offload = Offload::decode(encode_super(&whole, 14), 14).expect("understood");
            let again = Segments::new(&frame[HEADROOM..], offload).expect("a super-packet");
            assert_eq!(again.count(), train.len());
            for (number, slot) in train.iter().enumerate() {
                let mut out = Vec::new();
                again.write(number, &mut out);
                assert_eq!(out, pool.get(*slot).packet(), "{kind:?} {number}");
            }
        }
    }
}

/// A train goes on only with the very next segment, whole and untouched, and ends behind a short one.
#[test]
fn a_train_has_no_gaps() {
    let (packet, offload) = KINDS[0].build(3 * usize::from(SIZE) + 300);
    let (mut pool, slots) = segments_in_pool(&packet, offload);
    let continues = |pool: &Pool, last: usize, next: usize| {
        let [first, last, next] = [0, last, next].map(|at| pool.get(slots[at]));
        train::continues(first, last, next)
    };
    assert!(continues(&pool, 0, 1) && continues(&pool, 2, 3));
    assert!(!continues(&pool, 0, 2), "one is missing");
    assert!(!continues(&pool, 1, 1), "a copy");
    pool.get_mut(slots[1]).record.flags = MARKED;
    assert!(!continues(&pool, 0, 1), "the headers would lose the mark");
    pool.get_mut(slots[0]).record.flags = MARKED;
    assert!(continues(&pool, 0, 1), "marked alike");
    pool.get_mut(slots[1]).record.source_burst = 1;
    assert!(!continues(&pool, 0, 1), "of another super-packet");
    pool.get_mut(slots[2]).corrupt(5);
    assert!(!continues(&pool, 1, 2), "corrupted");
    let mut short = pool.get(slots[3]).bytes.clone();
    short.extend_from_slice(&[0; 100]);
    pool.get_mut(slots[0]).bytes.truncate(short.len() - 50);
    assert!(!continues(&pool, 0, 1), "longer than the first");
}
