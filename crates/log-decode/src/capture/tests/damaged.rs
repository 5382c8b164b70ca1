// SPDX-License-Identifier: Apache-2.0
//! Packets that the link damaged on the way.

use super::*;

/// A UDP datagram of three bytes over IPv4 or IPv6, with its checksums.
fn datagram(version: u8) -> Vec<u8> {
    let udp = |checksum: [u8; 2]| [&[0, 80, 1, 187, 0, 11], &checksum[..], &[1, 2, 3]].concat();
    if version == 4 {
        let header = [
            0x45, 0, 0, 31, 0, 0, 0, 0, 64, 17, 0x66, 0xcc, 10, 0, 0, 1, 10, 0, 0, 2,
        ];
        return [&header[..], &udp([0xe5, 0xc8])].concat();
    }
    let mut header = vec![0x60, 0, 0, 0, 0, 11, 17, 64];
    header.extend([[0; 15].as_slice(), &[1]].concat());
    header.extend([[0; 15].as_slice(), &[2]].concat());
    [header, udp([0xf9, 0xc8])].concat()
}

/// Number of packets of a capture at the client that were taken for damaged.
fn damaged(flags: u8, ip: &[u8], by_link: bool) -> u64 {
    let ours = option(1, b"quiclab clock_offset_ns=0");
    let body = [
        &[101, 0, 0, 0, 0, 0, 0, 0][..],
        &option(9, &[9]),
        if by_link { &ours } else { &[] },
        &[0; 4],
    ];
    let interface = block(INTERFACE_DESCRIPTION, &body.concat());
    let options = [option(2, &[flags, 0, 0, 0]), option(5, &[0; 8])].concat();
    let file = [section(), interface, packet(0, 7, ip, &options)].concat();
    let capture = decoded(&file, Some(End::Client)).unwrap();
    assert_eq!(capture.rows("ip_packets"), 1);
    capture.stats.get("damaged_packet")
}

const INBOUND: u8 = 1;
const OUTBOUND: u8 = 2;

/// Any flipped bit behind the IP version is found by some checksum; IPv6 protects its addresses and lengths alone.
#[test]
fn a_flipped_bit_is_found() {
    for version in [4, 6] {
        let whole = datagram(version);
        assert_eq!(damaged(INBOUND, &whole, true), 0);
        let first = if version == 4 { 1 } else { 8 };
        for at in first..whole.len() {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[at] ^= 1 << bit;
                assert_eq!(damaged(INBOUND, &changed, true), 1, "byte {at} bit {bit}");
            }
        }
    }
}

/// Packets that are not from the link, or leave this end, have checksums that may be nobody's.
#[test]
fn only_what_the_link_delivers_is_asked_for_its_checksum() {
    let mut changed = datagram(4);
    changed[30] ^= 1;
    assert_eq!(damaged(OUTBOUND, &changed, true), 0);
    assert_eq!(damaged(INBOUND, &changed, false), 0);
}

/// The sum of the pseudo-header, which a sender on the same machine leaves, and UDP's zero are no damage.
#[test]
fn a_checksum_that_is_left_to_do_is_no_damage() {
    for field in [[0x14, 0x1f], [0, 0]] {
        let mut partial = datagram(4);
        partial[26..28].copy_from_slice(&field);
        assert_eq!(damaged(INBOUND, &partial, true), 0);
    }
}
