// SPDX-License-Identifier: Apache-2.0
//! A packet keeps the number of its super-packet from link to link.

mod super_packet;

use link_run::bursts::Bursts;
use link_run::checksum::fill_ipv4_header;
use link_run::packet::identity;
use link_run::segment::Segments;
use link_run::vnet::{Offload, Transport};
use super_packet::{Kind, KINDS, SIZE};

const TCP4: Kind = Kind {
    ipv6: false,
    transport: Transport::Tcp,
};

/// The packets of a super-packet of three, cut up.
fn cut(kind: Kind) -> Vec<Vec<u8>> {
    let (mut packet, offload) = kind.build(3 * usize::from(SIZE));
    if kind.transport == Transport::Udp {
        // QUIC's payloads are encrypted: no two begin alike.
        let from = kind.headers();
        for (number, byte) in packet[from..].iter_mut().enumerate() {
            *byte = u8::try_from((number * number / 7 + number / 251) % 256).expect("a byte");
        }
    }
    pieces(&packet, offload)
}

fn pieces(packet: &[u8], offload: Offload) -> Vec<Vec<u8>> {
    let segments = Segments::new(packet, offload).expect("a super-packet");
    (0..segments.count())
        .map(|number| {
            let mut out = Vec::new();
            segments.write(number, &mut out);
            out
        })
        .collect()
}

/// A router's change to a packet: one hop less, and a checksum to fit.
fn routed(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    if packet[0] >> 4 == 4 {
        packet[8] -= 1;
        fill_ipv4_header(&mut packet);
    } else {
        packet[7] -= 1;
    }
    packet
}

/// Behind a node each packet has the number that it had before, whichever it is and however late it comes.
#[test]
fn a_number_is_kept_behind_a_node() {
    for kind in KINDS {
        let row = Bursts::in_a_row(2);
        let first = row[0].count();
        for packet in cut(kind) {
            row[0].keep(&packet, first);
        }
        let other = row[0].count();
        assert_ne!(first, other);
        for packet in cut(kind).iter().rev() {
            assert_eq!(row[1].kept(&routed(packet)), Some(first), "{kind:?}");
            assert_eq!(row[1].kept(&routed(packet)), None, "it came once");
        }
    }
}

/// Two segments that the node's kernel has joined, and hands over as one, are the packets that they were.
#[test]
fn segments_that_a_kernel_joins_have_the_numbers_that_they_had() {
    let row = Bursts::in_a_row(2);
    let packets = cut(TCP4);
    for (packet, burst) in packets.iter().zip([7, 7, 8]) {
        row[0].keep(packet, burst);
    }
    let (joined, offload) = TCP4.build(3 * usize::from(SIZE));
    let found: Vec<_> = pieces(&routed(&joined), offload)
        .iter()
        .map(|packet| row[1].kept(packet))
        .collect();
    assert_eq!(found, [Some(7), Some(7), Some(8)]);
}

/// A packet that no link has handed on begins its way here, as do all behind a proxy, and on a path of one link.
#[test]
fn a_packet_of_a_proxy_has_no_number_yet() {
    let row = Bursts::in_a_row(2);
    let packet = &cut(TCP4)[0];
    row[0].keep(packet, 1);
    let mut of_proxy = packet.clone();
    of_proxy[21] ^= 1; // another port
    assert_eq!(row[1].kept(&of_proxy), None);
    assert_eq!(row[0].kept(packet), None);
    let alone = Bursts::in_a_row(1);
    alone[0].keep(packet, 1);
    assert_eq!(alone[0].kept(packet), None);
}

/// Numbers differ along the whole path, so that one that is kept is nobody else's.
#[test]
fn links_in_a_row_count_together() {
    let row = Bursts::in_a_row(3);
    let found: Vec<_> = [0, 2, 1, 0].map(|link: usize| row[link].count()).into();
    assert_eq!(found, [0, 1, 2, 3]);
}

/// Packets to a proxy are never asked for: only the newest are kept.
#[test]
fn memory_is_bounded() {
    let row = Bursts::in_a_row(2);
    let packet = &cut(TCP4)[0];
    let numbered = |number: u32| {
        let mut packet = packet.clone();
        packet[24..28].copy_from_slice(&number.to_be_bytes());
        packet
    };
    for number in 0..20_000 {
        row[0].keep(&numbered(number), number);
    }
    assert_eq!(row[1].kept(&numbered(0)), None);
    assert_eq!(row[1].kept(&numbered(19_999)), Some(19_999));
}

/// A retransmission, and an acknowledgment of other bytes, are other packets; what cannot be known again has none.
#[test]
fn packets_are_told_apart() {
    let packets = cut(TCP4);
    assert_ne!(identity(&packets[0]), identity(&packets[1]));
    let mut acknowledges_more = packets[0].clone();
    acknowledges_more[31] ^= 1;
    assert_ne!(identity(&packets[0]), identity(&acknowledges_more));
    let mut fragment = packets[0].clone();
    fragment[6] = 0x20;
    assert_eq!(identity(&fragment), None);
    let mut ping = packets[0].clone();
    ping[9] = 1;
    assert_eq!(identity(&ping), None);
    for short in [0, 1, 20, 27] {
        assert_eq!(identity(&packets[0][..short]), None);
    }
}
