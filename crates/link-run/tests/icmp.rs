// SPDX-License-Identifier: Apache-2.0
//! Messages to the sender of a packet that is too big, byte for byte.

use link_run::checksum::{fold, pseudo_header, sum};
use link_run::icmp::too_big;

const CLIENT: [u8; 4] = [10, 77, 0, 1];
const SERVER: [u8; 4] = [10, 77, 0, 2];

/// An IPv4 packet of TCP from the client to the server with "don't fragment".
fn segment(length: u16) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend(length.to_be_bytes());
    packet.extend([0x12, 0x34, 0x40, 0, 64, 6, 0xbe, 0xef]);
    packet.extend(CLIENT);
    packet.extend(SERVER);
    packet.extend([0xc3, 0x50, 0x01, 0xbb, 1, 2, 3, 4]);
    packet.resize(length.into(), 0xaa);
    packet
}

fn datagram_v6(length: u16) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend((length - 40).to_be_bytes());
    packet.extend([17, 64]);
    for last in [1, 2] {
        packet.extend([0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
    }
    packet.extend([0xc3, 0x50, 0x01, 0xbb]);
    packet.resize(length.into(), 0xbb);
    packet
}

/// RFC 792 and RFC 1191: type 3, code 4, next-hop MTU 1300, the header and as much as 576 bytes hold.
#[test]
fn fragmentation_needed() {
    let packet = segment(1_400);
    let message = too_big(&packet, 1_300).expect("a message");
    assert_eq!(message.len(), 576);
    assert_eq!(message[..10], [0x45, 0xc0, 0x02, 0x40, 0, 0, 0, 0, 64, 1]);
    assert_eq!(message[12..16], SERVER);
    assert_eq!(message[16..20], CLIENT);
    assert_eq!(message[20..22], [3, 4]);
    assert_eq!(message[24..28], [0, 0, 0x05, 0x14]);
    assert_eq!(message[28..], packet[..548]);
    // A header, or a message, that holds its checksum adds up to ones (RFC 1071).
    assert_eq!(fold(sum(0, &message[..20])), 0xffff);
    assert_eq!(fold(sum(0, &message[20..])), 0xffff);
    assert_eq!(message[10..12], [0x63, 0x61]);
}

/// RFC 4443: type 2, the MTU in 32 bits, and as much as 1280 bytes hold; the checksum has the pseudo-header.
#[test]
fn packet_too_big() {
    let packet = datagram_v6(1_400);
    let message = too_big(&packet, 1_280).expect("a message");
    assert_eq!(message.len(), 1_280);
    assert_eq!(message[..8], [0x60, 0, 0, 0, 0x04, 0xd8, 58, 64]);
    assert_eq!(message[8..24], packet[24..40]);
    assert_eq!(message[24..40], packet[8..24]);
    assert_eq!(message[40..42], [2, 0]);
    assert_eq!(message[44..48], [0, 0, 0x05, 0x00]);
    assert_eq!(message[48..], packet[..1_232]);
    let pseudo = pseudo_header(&message, 58, 1_240);
    assert_eq!(fold(sum(u64::from(pseudo), &message[40..])), 0xffff);
}

/// A short packet is quoted whole, and an odd one has its checksum too.
#[test]
fn short_packets_are_quoted_whole() {
    let packet = segment(101);
    let message = too_big(&packet, 68).expect("a message");
    assert_eq!(message.len(), 129);
    assert_eq!(message[28..], packet[..]);
    assert_eq!(fold(sum(0, &message[20..])), 0xffff);
}

/// Errors are not answered by errors, nor is what has no single sender or receiver, nor a later fragment.
#[test]
fn what_is_not_answered() {
    let with = |changes: &[(usize, u8)]| {
        let mut packet = segment(1_400);
        for &(place, byte) in changes {
            packet[place] = byte;
        }
        too_big(&packet, 1_300)
    };
    assert!(with(&[]).is_some());
    assert!(with(&[(9, 1), (20, 8)]).is_some(), "an echo request");
    for icmp_type in [3, 4, 5, 11, 12] {
        assert_eq!(with(&[(9, 1), (20, icmp_type)]), None);
    }
    assert_eq!(with(&[(16, 224)]), None);
    assert_eq!(with(&[(12, 0)]), None);
    assert_eq!(with(&[(6, 0x20), (7, 1)]), None);
    let with = |changes: &[(usize, u8)]| {
        let mut packet = datagram_v6(1_400);
        for &(place, byte) in changes {
            packet[place] = byte;
        }
        too_big(&packet, 1_280)
    };
    assert!(with(&[(6, 58), (40, 128)]).is_some());
    assert_eq!(with(&[(6, 58), (40, 1)]), None);
    assert_eq!(with(&[(24, 0xff)]), None);
    assert_eq!(too_big(&[0x45, 0], 1_300), None);
    assert_eq!(too_big(&[], 1_300), None);
}
