// SPDX-License-Identifier: Apache-2.0
//! Every tunnel, byte by byte, and what is left alone.

use super::*;

const INNER: [u8; 24] = [
    0x45, 0, 0, 24, 0, 0, 0, 0, 64, 1, 0, 0, 10, 9, 8, 7, 10, 9, 8, 6, 1, 2, 3, 4,
];

fn ip4(protocol: u8, behind: &[u8]) -> Vec<u8> {
    let total = u16::try_from(20 + behind.len()).unwrap().to_be_bytes();
    let mut packet = vec![0x45, 0, total[0], total[1], 0, 0, 0, 0, 64, protocol, 0, 0];
    packet.extend([192, 0, 2, 1, 192, 0, 2, 2]);
    packet.extend(behind);
    packet
}

fn ip6(protocol: u8, behind: &[u8]) -> Vec<u8> {
    let length = u16::try_from(behind.len()).unwrap().to_be_bytes();
    let mut packet = vec![0x60, 0, 0, 0, length[0], length[1], protocol, 64];
    packet.extend([0xfd; 32]);
    packet.extend(behind);
    packet
}

fn udp4(src: u16, dst: u16, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + payload.len()).unwrap();
    let header = [src, dst, length, 0].map(u16::to_be_bytes).concat();
    ip4(17, &[&header, payload].concat())
}

fn ethernet(kind: [u8; 2], behind: &[u8]) -> Vec<u8> {
    [&[0; 12], &kind[..], behind].concat()
}

fn found(packet: &[u8]) -> Option<Tunnel<'_>> {
    let headers = Headers::parse(packet, u32::try_from(packet.len()).unwrap());
    of(&headers, packet)
}

/// Every tunnel with what may stand in its header gives the inner packet, and where it begins; cut anywhere before it,
/// none gives another one.
#[test]
#[allow(clippy::too_many_lines, reason = "each tunnel is a few of them")]
fn the_inner_packet_is_found() {
    let frame = ethernet([8, 0], &INNER);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("ip_in_ip", ip4(4, &INNER)),
        ("ip_in_ip", ip6(4, &INNER)),
        ("gre", ip4(47, &[&[0, 0, 8, 0][..], &INNER].concat())),
        (
            "gre",
            ip6(47, &[&[0xb0, 0, 8, 0][..], &[1; 12], &INNER].concat()),
        ),
        (
            "gre",
            ip4(47, &[&[0x20, 0, 0x65, 0x58][..], &[1; 4], &frame].concat()),
        ),
        ("gre", ip4(47, &[&[0, 0, 0x88, 0xbe][..], &frame].concat())),
        (
            "gre",
            ip4(
                47,
                &[&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1][..], &[0x10; 8], &frame].concat(),
            ),
        ),
        (
            "gre",
            ip4(
                47,
                &[&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1][..], &[0x20; 12], &frame].concat(),
            ),
        ),
        (
            "gre",
            ip4(
                47,
                &[&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1][..], &[0x21; 20], &frame].concat(),
            ),
        ),
        (
            "gre",
            ip4(47, &[&[0, 0, 0x88, 0x47, 0, 1, 1, 64][..], &INNER].concat()),
        ),
        (
            "gre",
            ip4(
                47,
                &[
                    &[0x30, 0x81, 0x88, 0x0b][..],
                    &[0; 12],
                    &[0xff, 3, 0, 0x21],
                    &INNER,
                ]
                .concat(),
            ),
        ),
        ("etherip", ip4(97, &[&[0x30, 0][..], &frame].concat())),
        ("mpls", ip4(137, &[&[0, 1, 1, 64][..], &INNER].concat())),
        (
            "vxlan",
            udp4(
                50_000,
                4789,
                &[&[8, 0, 0, 0, 0, 0, 7, 0][..], &frame].concat(),
            ),
        ),
        (
            "vxlan_gpe",
            udp4(
                50_000,
                4790,
                &[&[12, 0, 0, 1, 0, 0, 7, 0][..], &INNER].concat(),
            ),
        ),
        (
            "geneve",
            udp4(
                50_000,
                6081,
                &[&[2, 0, 0x65, 0x58, 0, 0, 7, 0][..], &[9; 8], &frame].concat(),
            ),
        ),
        (
            "gtp_u",
            udp4(
                2152,
                2152,
                &[&[0x30, 255, 0, 24, 0, 0, 0, 1][..], &INNER].concat(),
            ),
        ),
        (
            "gtp_u",
            udp4(
                2152,
                50_000,
                &[
                    &[0x34, 255, 0, 36, 0, 0, 0, 1, 0, 0, 0, 0x85][..],
                    &[1, 0, 9, 0x40],
                    &[1, 0, 9, 0],
                    &INNER,
                ]
                .concat(),
            ),
        ),
        (
            "gre",
            udp4(50_000, 4754, &[&[0, 0, 8, 0][..], &INNER].concat()),
        ),
        (
            "mpls",
            udp4(50_000, 6635, &[&[0, 1, 1, 64][..], &INNER].concat()),
        ),
    ];
    for (name, packet) in &cases {
        let before = u32::try_from(packet.len() - INNER.len()).unwrap();
        let expected = Tunnel {
            name,
            inside: Inside::Ip(&INNER, before),
        };
        assert_eq!(found(packet), Some(expected), "{name} {packet:x?}");
        for cut in 0..packet.len() - INNER.len() {
            let inside = found(&packet[..cut]).map(|tunnel| tunnel.inside);
            assert!(
                !matches!(inside, Some(Inside::Ip(..))),
                "{name} cut at {cut}"
            );
        }
    }
}

/// Tunnels that are not opened are named, and what only shares their port is no tunnel.
#[test]
fn what_is_not_opened_is_named() {
    let hidden = [
        ("esp", ip4(50, &[1; 20])),
        ("esp", udp4(4500, 4500, &[1; 20])),
        ("ipcomp", ip4(108, &[1; 20])),
        ("l2tp", ip6(115, &[1; 20])),
        ("l2tp", udp4(1701, 1701, &[2, 2, 0, 1, 0, 1])),
        ("gre", ip4(47, &[0x40, 0, 8, 0, 0, 0, 0, 0])),
        ("gre", ip4(47, &[0, 0, 0x88, 0x3e, 1, 2, 3, 4])),
        ("wireguard", udp4(40_000, 51_820, &[4, 0, 0, 0, 1])),
        ("tzsp", udp4(40_000, 37_008, &[1, 0, 0, 1, 1])),
        (
            "gtp_u",
            udp4(2152, 2152, &[0x30, 255, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0]),
        ),
    ];
    for (name, packet) in &hidden {
        let tunnel = found(packet).unwrap();
        assert_eq!(tunnel.name, *name);
        assert!(matches!(tunnel.inside, Inside::Hidden(_)), "{name}");
    }
    for packet in [
        udp4(2152, 2152, &[0x32, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0]),
        ip4(47, &[0x20, 0x01, 0x88, 0x0b, 0, 0, 0, 0]),
    ] {
        assert_eq!(found(&packet).unwrap().inside, Inside::Other);
    }
    for port in [
        1701, 2152, 3544, 4500, 4754, 4789, 4790, 6081, 6635, 8472, 37_008, 51_820,
    ] {
        for first in [0x40, 0x5f, 0xc0, 0xff] {
            let quic = [first; 1200];
            assert_eq!(found(&udp4(40_000, port, &quic)), None, "{port} {first:x}");
        }
    }
    assert_eq!(found(&ip4(6, &[0; 40])), None);
}
