// SPDX-License-Identifier: Apache-2.0
//! Packets are told apart, kept and put in order.

use link_core::{Content, Ecn, Protocol};
use link_run::calendar::Calendar;
use link_run::checksum::{complete, fill_ipv4_header, PartialChecksum};
use link_run::histogram::Histogram;
use link_run::log::record::{CORRUPTED, DUPLICATE};
use link_run::packet::{
    content, ecn, flow, is_housekeeping, is_ip, mark_ce, protocol as protocol_of,
};
use link_run::pool::{Pool, HEADROOM};

fn ipv4(protocol: u8, rest: &[u8]) -> Vec<u8> {
    let mut packet = vec![
        0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    packet.extend_from_slice(rest);
    packet
}

fn ipv6(next: u8, rest: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; 40];
    packet[0] = 0x60;
    packet[6] = next;
    packet[23] = 1;
    packet[39] = 2;
    packet.extend_from_slice(rest);
    packet
}

/// Neighbour discovery, multicast listeners and IGMP are the hosts' own; pings and all transport belong to the
/// workload.
#[test]
fn housekeeping_is_told_apart() {
    for icmp in [130, 131, 132, 133, 134, 135, 136, 137, 143] {
        assert!(
            is_housekeeping(&ipv6(58, &[icmp, 0, 0, 0])),
            "ICMPv6 {icmp}"
        );
    }
    // A multicast listener report behind a hop-by-hop header with the router alert.
    assert!(is_housekeeping(&ipv6(
        0,
        &[58, 0, 5, 2, 0, 0, 1, 0, 143, 0, 0, 0]
    )));
    assert!(is_housekeeping(&ipv4(2, &[0x16, 0, 0, 0])));
    for packet in [
        ipv6(58, &[128, 0, 0, 0]),
        ipv6(58, &[1, 0, 0, 0]),
        ipv6(17, &[135, 0, 0, 0]),
        ipv6(0, &[17, 0, 5, 2, 0, 0, 1, 0, 143, 0, 0, 0]),
        ipv4(1, &[8, 0, 0, 0]),
        ipv4(6, &[0; 20]),
        ipv4(17, &[135; 8]),
    ] {
        assert!(!is_housekeeping(&packet), "{packet:?}");
    }
}

/// ECN bits are read where RFC 3168 and RFC 8200 put them, whatever stands beside them.
#[test]
fn ecn_bits_are_read() {
    for (bits, expected) in [
        (0, Ecn::NotEct),
        (1, Ecn::Ect1),
        (2, Ecn::Ect0),
        (3, Ecn::Ce),
    ] {
        for beside in [0, 0b1011_1000] {
            let mut packet = ipv4(17, &[0; 8]);
            packet[1] = beside | bits;
            assert_eq!(ecn(&packet), expected);
            let mut packet = ipv6(17, &[0; 8]);
            packet[0] |= beside >> 4;
            packet[1] = beside << 4 | bits << 4;
            assert_eq!(ecn(&packet), expected);
        }
    }
}

/// The types of QUIC's long headers are read by version, whatever the fixed bit says.
#[test]
fn long_headers_are_read() {
    let datagram = |first: u8, version: u32| {
        let mut udp = vec![0; 8];
        udp.push(first);
        udp.extend(version.to_be_bytes());
        udp.extend([8; 30]);
        udp
    };
    for (first, version, expected) in [
        (0xc0, 1, Content::Initial),
        (0x8f, 1, Content::Initial), // fixed bit greased, protected bits set
        (0xd0, 1, Content::Unmarked), // 0-RTT
        (0xe3, 1, Content::Handshake),
        (0xf0, 1, Content::Unmarked), // Retry
        (0x43, 1, Content::Unmarked), // short header
        (0xc0, 0xff00_001d, Content::Initial),
        (0xd0, 0x6b33_43cf, Content::Initial),
        (0xf0, 0x6b33_43cf, Content::Handshake),
        (0xc0, 0x6b33_43cf, Content::Unmarked), // Retry of version 2
        (0xc0, 0, Content::Unmarked),           // Version Negotiation
        (0xc0, 0x1234_5678, Content::Unmarked),
    ] {
        let udp = datagram(first, version);
        assert_eq!(content(&ipv4(17, &udp)), expected, "{first:x} {version:x}");
        assert_eq!(content(&ipv6(17, &udp)), expected, "{first:x} {version:x}");
    }
    let whole = ipv4(17, &datagram(0xc0, 1));
    let mut later = whole.clone();
    later[7] = 1; // the second fragment's offset
    assert_eq!(content(&later), Content::Unmarked);
    // However a packet ends, nothing is read beyond it.
    for length in 0..whole.len() {
        let expected = if length < 33 {
            Content::Unmarked
        } else {
            Content::Initial
        };
        assert_eq!(content(&whole[..length]), expected);
    }
}

/// A SYN is one with and without ACK, and data is what follows the header with its options.
#[test]
fn segments_are_read() {
    let segment = |offset: u8, flags: u8, data: usize| {
        let mut tcp = vec![0; usize::from(offset) * 4 + data];
        (tcp[12], tcp[13]) = (offset << 4, flags);
        tcp
    };
    for (offset, flags, data, syn, payload) in [
        (10, 0x02, 0, true, false),
        (10, 0x12, 0, true, false),
        (8, 0x10, 0, false, false),
        (8, 0x18, 1, false, true),
        (10, 0x02, 20, true, true), // TCP Fast Open
    ] {
        let expected = Content::Segment { syn, payload };
        assert_eq!(content(&ipv4(6, &segment(offset, flags, data))), expected);
        assert_eq!(content(&ipv6(6, &segment(offset, flags, data))), expected);
    }
    assert_eq!(content(&ipv4(6, &[0; 13])), Content::Unmarked);
    assert_eq!(content(&ipv4(1, &[0; 40])), Content::Unmarked);
}

/// TCP and UDP are told apart in both versions of IP, and from anything else.
#[test]
fn transports_are_told_apart() {
    for (number, protocol) in [
        (6, Protocol::Tcp),
        (17, Protocol::Udp),
        (1, Protocol::Other),
    ] {
        assert_eq!(protocol_of(&ipv4(number, &[0; 20])), protocol);
        assert_eq!(protocol_of(&ipv6(number, &[0; 20])), protocol);
    }
    assert_eq!(protocol_of(&[]), Protocol::Other);
}

/// A mark turns nothing over but the ECN bits, and an IPv4 header's checksum is what summing it up gives.
#[test]
fn a_mark_changes_ecn_bits_and_checksum_only() {
    for tos in 0..=255 {
        let mut packet = ipv4(17, &[tos; 8]);
        packet[1] = tos;
        packet[4] = tos.wrapping_mul(7);
        fill_ipv4_header(&mut packet);
        let mut expected = packet.clone();
        expected[1] |= 3;
        fill_ipv4_header(&mut expected);
        mark_ce(&mut packet);
        assert_eq!(packet, expected);
    }
    let mut packet = ipv6(17, &[1, 2, 3]);
    packet[0] |= 0x0b;
    packet[1] = 0b1010_1111;
    let mut expected = packet.clone();
    expected[1] = 0b1011_1111;
    mark_ce(&mut packet);
    assert_eq!(packet, expected);
}

/// Cut at any place, a packet is no cause for a panic.
#[test]
fn short_packets_are_harmless() {
    for whole in [
        ipv4(6, &[1; 20]),
        ipv6(17, &[1; 8]),
        ipv6(0, &[58, 0, 5, 2, 0, 0, 1, 0, 143]),
    ] {
        for length in 0..whole.len() {
            let packet = &whole[..length];
            let _ = (is_housekeeping(packet), flow(packet), ecn(packet));
            mark_ce(&mut packet.to_vec());
            assert_eq!(
                is_ip(packet),
                length >= if whole[0] == 0x45 { 20 } else { 40 }
            );
        }
    }
    assert!(!is_ip(&[0x15; 60]));
}

/// A flow has one number in both directions, and another for other ports or another protocol.
#[test]
fn a_flow_is_the_same_in_both_directions() {
    let mut back = ipv4(17, &[0x01, 0xbb, 0x30, 0x39, 0, 8, 0, 0]);
    back[12..20].copy_from_slice(&[10, 0, 0, 2, 10, 0, 0, 1]);
    let forth = flow(&ipv4(17, &[0x30, 0x39, 0x01, 0xbb, 0, 8, 0, 0]));
    assert_eq!(forth, flow(&back));
    assert_ne!(
        forth,
        flow(&ipv4(17, &[0x30, 0x40, 0x01, 0xbb, 0, 8, 0, 0]))
    );
    assert_ne!(forth, flow(&ipv4(6, &[0x30, 0x39, 0x01, 0xbb, 0, 8, 0, 0])));
}

/// Packets leave in order of their due times, and those of one instant in the order in which they came.
#[test]
fn the_calendar_is_in_order() {
    let mut calendar = Calendar::default();
    let mut expected = Vec::new();
    for slot in 0..5000_u32 {
        let due = u64::from(slot.wrapping_mul(2_654_435_761) % 700 + slot / 4);
        calendar.push(due, slot);
        expected.push((due, slot));
    }
    expected.sort_unstable();
    let mut taken = Vec::new();
    while let Some(first) = calendar.first() {
        assert_eq!(calendar.pop(), Some(first));
        taken.push((first.due_ns, first.slot));
    }
    assert_eq!(taken, expected);
    assert_eq!(calendar.pop(), None);
}

/// Quantiles are exact for small values and within 1/64 for large ones; the largest value is exact.
#[test]
fn quantiles_are_close() {
    let mut histogram = Histogram::default();
    assert_eq!([histogram.quantile(500), histogram.max()], [0, 0]);
    for value in 0..=60 {
        histogram.add(value);
    }
    assert_eq!(
        [histogram.quantile(500), histogram.quantile(1000)],
        [30, 60]
    );
    let mut histogram = Histogram::default();
    for value in 1..=100_000_u64 {
        histogram.add(value * 997);
    }
    for per_mille in [1, 500, 990, 999, 1000] {
        let exact = per_mille * 100 * 997;
        let measured = histogram.quantile(per_mille);
        assert!(
            measured >= exact && measured - exact <= exact / 64,
            "{per_mille}: {measured} for {exact}"
        );
    }
    histogram.add(u64::MAX);
    assert_eq!((histogram.max(), histogram.count()), (u64::MAX, 100_001));
}

/// Corruption completes the checksum and turns over exactly one bit, never one of the first byte.
#[test]
fn corruption_turns_one_bit_over() {
    let partial = PartialChecksum {
        start: 20,
        offset: 6,
    };
    let mut whole = ipv4(17, &[0x30, 0x39, 0x01, 0xbb, 0, 9, 0x15, 0x2b, 77]);
    let before = whole.clone();
    complete(&mut whole, partial);
    assert_ne!(whole, before);
    let mut pool = Pool::new(1500);
    for draw in [0, 1, u64::MAX / 3, u64::MAX / 2, u64::MAX] {
        let number = pool.take();
        let slot = pool.get_mut(number);
        slot.bytes.truncate(HEADROOM);
        slot.bytes.extend_from_slice(&before);
        slot.checksum = Some(partial);
        slot.corrupt(draw);
        let differing: u32 = slot
            .packet()
            .iter()
            .zip(&whole)
            .map(|(a, b)| (a ^ b).count_ones())
            .sum();
        assert_eq!(
            (differing, slot.packet()[0], slot.checksum),
            (1, 0x45, None)
        );
        assert_eq!(slot.record.flags, CORRUPTED);
    }
}

/// A copy is the same packet, marked, in memory of its own; slots are used again.
#[test]
fn the_pool_copies_and_reuses() {
    let mut pool = Pool::new(1500);
    let original = pool.take();
    pool.get_mut(original).bytes.truncate(HEADROOM);
    pool.get_mut(original).bytes.extend_from_slice(&[1, 2, 3]);
    pool.get_mut(original).record.index = 9;
    let copy = pool.copy(original);
    pool.get_mut(original).bytes[HEADROOM] = 7;
    assert_ne!(copy, original);
    assert_eq!(pool.get(copy).packet(), [1, 2, 3]);
    assert_eq!(
        (pool.get(copy).record.index, pool.get(copy).record.flags),
        (9, DUPLICATE)
    );
    pool.give_back(copy);
    assert_eq!(pool.take(), copy);
}

/// All fragments of a datagram are of one flow, whatever bytes stand where a first one has its ports, as in Linux.
#[test]
fn fragments_of_a_datagram_are_one_flow() {
    let fragment = |field: u16, payload: &[u8]| {
        let mut packet = ipv4(17, payload);
        packet[6..8].copy_from_slice(&field.to_be_bytes());
        packet
    };
    let first = flow(&fragment(0x2000, &[0x30, 0x39, 0x01, 0xbb, 0, 8, 0, 0]));
    for (field, payload) in [(0x20b9, [1; 8]), (0x0172, [2; 8])] {
        assert_eq!(flow(&fragment(field, &payload)), first);
    }
    let whole = ipv4(17, &[0x30, 0x39, 0x01, 0xbb, 0, 8, 0, 0]);
    assert_eq!(flow(&fragment(0x4000, &whole[20..])), flow(&whole)); // "don't fragment" is none
    assert_ne!(flow(&whole), first);
}
