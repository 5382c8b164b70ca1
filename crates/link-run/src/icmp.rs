// SPDX-License-Identifier: Apache-2.0
//! ICMP messages of a router to the sender of a packet that is too big for the next hop.

use crate::checksum::{fill_ipv4_header, fold, pseudo_header, sum};
use crate::packet::{is_later_fragment, protocol_number};

const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
const HEADER: usize = 8;
/// Longest message over IPv4 (RFC 1812).
const LONGEST: usize = 576;
/// Longest message over IPv6: that fits everywhere (RFC 4443).
const LONGEST_V6: usize = 1280;
const TTL: u8 = 64;
/// Internetwork control (RFC 1812).
const PRECEDENCE: u8 = 0xc0;

/// The message that an IP packet is larger than `mtu` bytes: "fragmentation needed and DF set" (RFC 792, RFC 1191) or
/// "packet too big" (RFC 4443, RFC 8201), with as much of the packet as it may hold. It comes from the packet's
/// destination, as a link has no address of its own. `None` of a packet that no such message may answer: an ICMP error
/// (RFC 1122, RFC 4443), a later fragment, one that is not from or to a single host.
#[must_use]
pub fn too_big(packet: &[u8], mtu: u16) -> Option<Vec<u8>> {
    if is_later_fragment(packet) {
        return None;
    }
    match packet.first()? >> 4 {
        4 => too_big_v4(packet, mtu),
        6 => too_big_v6(packet, mtu),
        _ => None,
    }
}

fn too_big_v4(packet: &[u8], mtu: u16) -> Option<Vec<u8>> {
    let source: [u8; 4] = packet.get(12..16)?.try_into().ok()?;
    let destination: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
    let is_host = |address: [u8; 4]| (1..224).contains(&address[0]);
    let body = packet.get(usize::from(packet[0] & 15) * 4..)?;
    // Destination unreachable, source quench, redirect, time exceeded, parameter problem.
    let is_error = packet[9] == ICMP && matches!(body.first(), None | Some(3 | 4 | 5 | 11 | 12));
    if is_error || !is_host(source) || !is_host(destination) {
        return None;
    }
    let quoted = &packet[..packet.len().min(LONGEST - 20 - HEADER)];
    let length = u16::try_from(20 + HEADER + quoted.len()).ok()?;
    let mut message = vec![0; 20];
    message[0] = 0x45;
    message[1] = PRECEDENCE;
    message[2..4].copy_from_slice(&length.to_be_bytes());
    message[8] = TTL;
    message[9] = ICMP;
    message[12..16].copy_from_slice(&destination);
    message[16..20].copy_from_slice(&source);
    fill_ipv4_header(&mut message);
    let [high, low] = mtu.to_be_bytes();
    message.extend([3, 4, 0, 0, 0, 0, high, low]);
    message.extend_from_slice(quoted);
    let checksum = !fold(sum(0, &message[20..]));
    message[22..24].copy_from_slice(&checksum.to_be_bytes());
    Some(message)
}

fn too_big_v6(packet: &[u8], mtu: u16) -> Option<Vec<u8>> {
    let source: [u8; 16] = packet.get(8..24)?.try_into().ok()?;
    let destination: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
    let is_error = protocol_number(packet)? == ICMPV6 && *packet.get(40)? < 128;
    // To a multicast address such a message may be sent, but it has no host to come from here.
    if is_error || source == [0; 16] || source[0] == 0xff || destination[0] == 0xff {
        return None;
    }
    let quoted = &packet[..packet.len().min(LONGEST_V6 - 40 - HEADER)];
    let length = HEADER + quoted.len();
    let mut message = vec![0; 40];
    message[0] = 0x60;
    message[4..6].copy_from_slice(&u16::try_from(length).ok()?.to_be_bytes());
    message[6] = ICMPV6;
    message[7] = TTL;
    message[8..24].copy_from_slice(&destination);
    message[24..40].copy_from_slice(&source);
    message.extend([2, 0, 0, 0]);
    message.extend(u32::from(mtu).to_be_bytes());
    message.extend_from_slice(quoted);
    let pseudo = pseudo_header(&message, ICMPV6, u32::try_from(length).ok()?);
    let checksum = !fold(sum(u64::from(pseudo), &message[40..]));
    message[42..44].copy_from_slice(&checksum.to_be_bytes());
    Some(message)
}
