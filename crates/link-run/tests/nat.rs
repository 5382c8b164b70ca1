// SPDX-License-Identifier: Apache-2.0
//! Translation of the client's ports: which one a packet gets, and its checksum behind it.

use link_run::checksum::{fold, pseudo_header, sum};
use link_run::nat::{set_destination_port, set_source_port, Forgets, Inward, Nat};

const CLIENT: u8 = 1;
const SERVER: u8 = 2;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// A packet with a checksum that is right.
fn packet(protocol: u8, version: u8, ends: [(u8, u16); 2]) -> Vec<u8> {
    let mut packet = if version == 4 {
        let mut header = vec![0x45, 0, 0, 61, 0, 0, 0x40, 0, 64, protocol, 0, 0];
        for (host, _) in ends {
            header.extend([10, 77, 0, host]);
        }
        header
    } else {
        let mut header = vec![0x60, 0, 0, 0, 0, 41, protocol, 64];
        for (host, _) in ends {
            header.extend([0xfd, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]);
        }
        header
    };
    let start = packet.len();
    for (_, port) in ends {
        packet.extend(port.to_be_bytes());
    }
    packet.extend([0, 41]);
    packet.resize(start + 41, 0x5a);
    let field = start + checksum_at(protocol);
    packet[field..field + 2].fill(0);
    let pseudo = pseudo_header(&packet, protocol, 41);
    let checksum = !fold(sum(u64::from(pseudo), &packet[start..]));
    packet[field..field + 2].copy_from_slice(&checksum.to_be_bytes());
    packet
}

fn checksum_at(protocol: u8) -> usize {
    if protocol == UDP {
        6
    } else {
        16
    }
}

fn up(port: u16) -> Vec<u8> {
    packet(UDP, 4, [(CLIENT, port), (SERVER, 443)])
}

fn down(port: u16) -> Vec<u8> {
    packet(UDP, 4, [(SERVER, 443), (CLIENT, port)])
}

/// The client's own port at first; all get another one at the instant, and what is sent to the old one is lost.
#[test]
fn mappings_are_forgotten_at_an_instant() {
    let mut nat = Nat::new(Forgets {
        at_ns: Some(1_000),
        after_ns: None,
    });
    assert_eq!(nat.inward(&down(5_000), 0), Inward::Unmapped);
    assert_eq!(nat.outward(&up(5_000), 10), Some(5_000));
    assert_eq!(nat.inward(&down(5_000), 999), Inward::To(5_000));
    assert_eq!(nat.inward(&down(5_000), 1_000), Inward::Unmapped);
    assert_eq!(nat.outward(&up(5_000), 1_010), Some(61_000));
    assert_eq!(nat.inward(&down(61_000), 1_020), Inward::To(5_000));
    assert_eq!(nat.inward(&down(5_000), 1_020), Inward::Unmapped);
    // It happens once; a flow that is new keeps its port.
    assert_eq!(nat.outward(&up(5_000), 9_000), Some(61_000));
    assert_eq!(nat.outward(&up(5_001), 9_000), Some(5_001));
    let tcp = packet(TCP, 4, [(CLIENT, 5_000), (SERVER, 443)]);
    assert_eq!(nat.outward(&tcp, 9_000), Some(5_000), "of another protocol");
    nat.begin();
    assert_eq!(nat.outward(&up(5_000), 0), Some(5_000));
}

/// A silence is one of both directions, and is counted for each flow.
#[test]
fn a_mapping_is_forgotten_after_a_silence() {
    let mut nat = Nat::new(Forgets {
        at_ns: None,
        after_ns: Some(100),
    });
    assert_eq!(nat.outward(&up(5_000), 0), Some(5_000));
    assert_eq!(nat.outward(&up(6_000), 0), Some(6_000));
    assert_eq!(nat.inward(&down(5_000), 100), Inward::To(5_000));
    assert_eq!(nat.outward(&up(5_000), 200), Some(5_000));
    assert_eq!(nat.inward(&down(6_000), 101), Inward::Unmapped);
    assert_eq!(nat.outward(&up(6_000), 150), Some(61_000));
    assert_eq!(nat.inward(&down(6_000), 150), Inward::Unmapped);
    assert_eq!(nat.outward(&up(5_000), 301), Some(61_001));
}

/// ICMP passes as it is, and so do fragments, which show no ports.
#[test]
fn what_has_no_ports_is_untouched() {
    let mut nat = Nat::new(Forgets::default());
    let mut fragment = down(5_000);
    fragment[6] = 0x20;
    for packet in [packet(1, 4, [(SERVER, 0), (CLIENT, 0)]), fragment] {
        assert_eq!(nat.inward(&packet, 0), Inward::Untouched);
        assert_eq!(nat.outward(&packet, 0), None);
    }
}

/// The packet equals one that was sent from that port, or to it, over both versions of IP.
#[test]
fn checksums_stay_right() {
    for protocol in [TCP, UDP] {
        for version in [4, 6] {
            for port in [0, 1, 443, 50_001, 61_000, 65_535] {
                let mut source = packet(protocol, version, [(CLIENT, 50_000), (SERVER, 443)]);
                set_source_port(&mut source, port, true);
                let wanted = packet(protocol, version, [(CLIENT, port), (SERVER, 443)]);
                assert_eq!(source, wanted, "{protocol} {version} {port}");
                let mut destination = packet(protocol, version, [(SERVER, 443), (CLIENT, 61_000)]);
                set_destination_port(&mut destination, port, true);
                let wanted = packet(protocol, version, [(SERVER, 443), (CLIENT, port)]);
                assert_eq!(destination, wanted, "{protocol} {version} {port}");
            }
        }
    }
}

/// One that is left to the network card has the sum of the pseudo-header, which has no ports; a datagram without stays so.
#[test]
fn checksums_that_are_not_there_stay_as_they_are() {
    let mut left = up(50_000);
    set_source_port(&mut left, 61_000, false);
    assert_eq!(left[26..28], up(50_000)[26..28]);
    assert_eq!(left[20..22], 61_000_u16.to_be_bytes());
    let mut without = up(50_000);
    without[26..28].fill(0);
    set_source_port(&mut without, 61_000, true);
    assert_eq!(without[26..28], [0, 0]);
}
