// SPDX-License-Identifier: Apache-2.0
//! Tunnels: what an IP packet carries in place of a transport of its own.
//!
//! Read are IP in IP (RFC 2003, RFC 4213, RFC 2473), GRE (RFC 2784, RFC 2890) and its form for PPP (RFC 2637), ERSPAN
//! (draft-foschiano-erspan), `EtherIP` (RFC 3378), MPLS (RFC 4023, RFC 7510), GRE in UDP (RFC 8086), VXLAN (RFC 7348)
//! and its generic extension, Geneve (RFC 8926) and GTP-U (3GPP TS 29.281). By its port alone nothing in UDP is taken
//! for a tunnel: its header must fit too. All of those headers lack the bit that every QUIC packet has set.

use super::encapsulation::{behind_ethertype, behind_ppp_protocol, by_version, mpls, Inside, Rest};
use super::headers::{self, Headers};

/// Tunnels followed inside each other before giving up.
pub(super) const MAX_DEPTH: usize = 4;
/// Extension headers of GTP-U followed before giving up.
const MAX_GTP_EXTENSIONS: usize = 8;

const ERSPAN_1_OR_2: u16 = 0x88be;
const ERSPAN_3: u16 = 0x22eb;
const ETHERNET_BRIDGED: u16 = 0x6558;
const PPP_IN_GRE: u16 = 0x880b;

/// Content of a tunnel that was recognised.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tunnel<'a> {
    /// The name in findings.
    pub(super) name: &'static str,
    pub(super) inside: Inside<'a>,
}

/// The tunnel that an IP packet with these headers belongs to; `None` if it is no known one.
pub(super) fn of<'a>(headers: &Headers, packet: &'a [u8]) -> Option<Tunnel<'a>> {
    if headers.fragment {
        return None;
    }
    let rest = Rest::of(packet);
    let tunnel = |name, inside: Option<Inside<'a>>| {
        let inside = inside.unwrap_or(Inside::Cut);
        Some(Tunnel { name, inside })
    };
    let behind = rest.skip(headers.transport_at?)?;
    match headers.protocol? {
        4 | 41 => tunnel("ip_in_ip", Some(by_version(behind))),
        47 => tunnel("gre", gre(behind)),
        50 => tunnel("esp", Some(Inside::Hidden(50))),
        // The first four bits are the version, the others are reserved.
        97 => tunnel("etherip", Some(behind_ethertype(behind, 14, 16))),
        108 => tunnel("ipcomp", Some(Inside::Hidden(108))),
        115 => tunnel("l2tp", Some(Inside::Hidden(115))),
        137 => tunnel("mpls", Some(mpls(behind))),
        headers::UDP => {
            let (src, dst) = headers.ports?;
            let payload = rest.skip(headers.payload.start)?;
            in_udp(src, dst, payload, packet.get(headers.payload.clone())?)
        }
        _ => None,
    }
}

/// A tunnel in UDP. Ports of these are the receiver's; of some the answers come from them, too.
fn in_udp<'a>(src: u16, dst: u16, payload: Rest<'a>, bytes: &'a [u8]) -> Option<Tunnel<'a>> {
    const BOTH_WAYS: [u16; 5] = [1701, 2152, 3544, 4500, 51_820];
    by_port(dst, payload, bytes).or_else(|| {
        let answers = BOTH_WAYS.contains(&src);
        answers.then(|| by_port(src, payload, bytes)).flatten()
    })
}

/// A tunnel by its port and by the shape of its header.
fn by_port<'a>(port: u16, payload: Rest<'a>, bytes: &'a [u8]) -> Option<Tunnel<'a>> {
    let hidden = Some(Inside::Hidden(port));
    let (name, inside) = match (port, bytes) {
        // A data message of version 2, which need not tell its length.
        (1701, [flags, version, ..]) if flags & 0xc0 == 0 && version & 15 == 2 => ("l2tp", hidden),
        (2152, [flags, kind, ..]) if flags & 0xf0 == 0x30 => {
            ("gtp_u", gtp_u(*flags, *kind, payload))
        }
        (3544, [first, ..]) if first >> 4 == 6 && is_ip(by_version(payload)) => {
            ("teredo", Some(by_version(payload)))
        }
        // Four zeros are the mark of a key exchange.
        (4500, [first, _, _, _, ..]) if !is_quic(*first) && !bytes.starts_with(&[0; 4]) => {
            ("esp", hidden)
        }
        (4754, [flags, version, ..]) if flags & 0x4f == 0 && version.trailing_zeros() >= 3 => {
            ("gre", gre(payload))
        }
        // The flag that there is a network identifier; Linux took 8472 before there was a number.
        (4789 | 8472, [0x08, _, _, _, _, _, _, 0, ..]) => {
            let frame = payload.skip(8);
            ("vxlan", frame.map(|frame| behind_ethertype(frame, 12, 14)))
        }
        (4790, [flags, 0, 0, next, ..]) if flags & 0xcc == 0x0c => {
            ("vxlan_gpe", vxlan_gpe(*next, payload))
        }
        (6081, [options, flags, ..]) if options >> 6 == 0 && flags.trailing_zeros() >= 6 => {
            ("geneve", geneve(usize::from(options & 0x3f), payload))
        }
        (6635, _) if is_ip(mpls(payload)) => ("mpls", Some(mpls(payload))),
        (37_008, [1, 0 | 1, 0, _, ..]) => ("tzsp", hidden),
        (51_820, [1..=4, 0, 0, 0, ..]) => ("wireguard", hidden),
        _ => return None,
    };
    let inside = inside.unwrap_or(Inside::Cut);
    Some(Tunnel { name, inside })
}

fn is_ip(inside: Inside<'_>) -> bool {
    matches!(inside, Inside::Ip(..))
}

/// The fixed bit (RFC 9000 section 17).
fn is_quic(first: u8) -> bool {
    first & 0x40 != 0
}

/// `None` if the packet ends before what its header announces.
fn gre(rest: Rest<'_>) -> Option<Inside<'_>> {
    let (flags, protocol) = (rest.u16(0)?, rest.u16(2)?);
    let has = |bit: u16| usize::from(flags & bit != 0) * 4;
    match flags & 7 {
        0 if flags & 0x4000 != 0 => Some(Inside::Hidden(protocol)), // Source routes, which nobody sends.
        0 => {
            let sequence = has(0x1000);
            let rest = rest.skip(4 + has(0x8000) + has(0x2000) + sequence)?;
            Some(match protocol {
                ETHERNET_BRIDGED => behind_ethertype(rest, 12, 14),
                // The first type has no header of its own, and no sequence number.
                ERSPAN_1_OR_2 if sequence == 0 => behind_ethertype(rest, 12, 14),
                ERSPAN_1_OR_2 => behind_ethertype(rest.skip(8)?, 12, 14),
                ERSPAN_3 => erspan_3(rest)?,
                _ => by_ethertype(protocol, rest),
            })
        }
        // The high half of the key is the length of what follows, which an acknowledgment alone lacks.
        1 if protocol == PPP_IN_GRE && flags & 0x1000 == 0 => Some(Inside::Other),
        1 if protocol == PPP_IN_GRE => {
            let rest = rest.skip(12 + has(0x0080))?;
            Some(match rest.bytes() {
                [0xff, 3, ..] => behind_ppp_protocol(rest.skip(2)?),
                _ => behind_ppp_protocol(rest),
            })
        }
        _ => Some(Inside::Hidden(protocol)),
    }
}

/// Twelve bytes, and eight more where the last bit of them says so.
fn erspan_3(rest: Rest<'_>) -> Option<Inside<'_>> {
    let optional = usize::from(rest.u16(10)? & 1) * 8;
    Some(behind_ethertype(rest.skip(12 + optional)?, 12, 14))
}

fn vxlan_gpe(next: u8, payload: Rest<'_>) -> Option<Inside<'_>> {
    let rest = payload.skip(8)?;
    Some(match next {
        1 | 2 => by_version(rest),
        3 => behind_ethertype(rest, 12, 14),
        5 => mpls(rest),
        other => Inside::Hidden(other.into()),
    })
}

fn geneve(option_words: usize, payload: Rest<'_>) -> Option<Inside<'_>> {
    let protocol = payload.u16(2)?;
    let rest = payload.skip(8 + option_words * 4)?;
    Some(match protocol {
        ETHERNET_BRIDGED => behind_ethertype(rest, 12, 14),
        _ => by_ethertype(protocol, rest),
    })
}

/// Only one kind of message carries what users send.
fn gtp_u(flags: u8, kind: u8, payload: Rest<'_>) -> Option<Inside<'_>> {
    const USER_DATA: u8 = 255;
    if kind != USER_DATA {
        return Some(Inside::Other);
    }
    let mut rest = payload.skip(8)?;
    if flags & 7 != 0 {
        // Sequence number, N-PDU number, and the type of the first extension header.
        let mut next = u16::from(*rest.bytes().get(3)?);
        rest = rest.skip(4)?;
        if flags & 4 != 0 {
            for _ in 0..MAX_GTP_EXTENSIONS {
                if next == 0 {
                    break;
                }
                let length = usize::from(*rest.bytes().first()?) * 4;
                next = u16::from(*rest.bytes().get(length.checked_sub(1)?)?);
                rest = rest.skip(length)?;
            }
            if next != 0 {
                return Some(Inside::Hidden(next));
            }
        }
    }
    Some(match by_version(rest) {
        // Frames or data without a form: sessions of their own kind.
        Inside::Other => Inside::Hidden(kind.into()),
        inside => inside,
    })
}

/// Content behind a header that says an `EtherType` and nothing more.
fn by_ethertype(protocol: u16, rest: Rest<'_>) -> Inside<'_> {
    match protocol {
        0x0800 | 0x86dd => by_version(rest),
        0x8847 | 0x8848 => mpls(rest),
        // ARP, CDP, keep-alives, Cisco's discovery, LLDP, spanning trees.
        0 | 0x0806 | 0x2000 | 0x88cc | 0x010b | 0x8035 => Inside::Other,
        protocol => Inside::Hidden(protocol),
    }
}

#[cfg(test)]
mod tests;
