// SPDX-License-Identifier: Apache-2.0
//! Segments of one super-packet, put together again for the way to the kernel, which cuts them as they were.

use crate::checksum::pseudo_header;
use crate::log::record::MARKED;
use crate::pool::{Pool, Slot, HEADROOM};
use crate::segment::{put_u16, Headers, TCP_FIN_PSH};
use crate::vnet::{Super, Transport};

/// Most packets in a train: what a kernel takes of UDP.
pub const LONGEST: usize = 64;

/// True if `next` is the segment that came right behind `last`, and both may go in one train that
/// begins with `first`.
#[must_use]
pub fn continues(first: &Slot, last: &Slot, next: &Slot) -> bool {
    next.headers.is_some()
        && next.headers == first.headers
        && next.checksum.is_some()
        && next.checksum == first.checksum
        && next.record.source_burst == last.record.source_burst
        && next.record.index == last.record.index.wrapping_add(1)
        && last.bytes.len() == first.bytes.len()
        && next.bytes.len() <= first.bytes.len()
        && (next.record.flags ^ first.record.flags) & MARKED == 0
}

/// Beginning of a train: [`HEADROOM`] free bytes and the headers of the whole, and what is left to
/// do on it. `None` if these are no segments.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a train is no longer than the super-packet that it was"
)]
pub fn head(pool: &Pool, train: &[u32], out: &mut Vec<u8>) -> Option<Super> {
    let (first, last) = (pool.get(*train.first()?), pool.get(*train.last()?));
    let Headers { transport, length } = first.headers?;
    let checksum = first.checksum?;
    let payload = first.packet().len() - length;
    let whole = length + payload * (train.len() - 1) + (last.packet().len() - length);
    out.clear();
    out.extend_from_slice(&first.bytes[..HEADROOM + length]);
    let packet = &mut out[HEADROOM..];
    let start = usize::from(checksum.start);
    let ipv6 = packet[0] >> 4 == 6;
    if ipv6 {
        put_u16(packet, 4, (whole - 40) as u16);
    } else {
        put_u16(packet, 2, whole as u16);
        crate::checksum::fill_ipv4_header(packet);
    }
    let protocol = match transport {
        Transport::Tcp => {
            packet[start + 13] |= last.packet()[start + 13] & TCP_FIN_PSH;
            6
        }
        Transport::Udp => {
            put_u16(packet, start + 4, (whole - start) as u16);
            17
        }
    };
    let sum = pseudo_header(packet, protocol, (whole - start) as u32);
    put_u16(packet, start + usize::from(checksum.offset), sum);
    Some(Super {
        ipv6,
        transport,
        headers: length as u16,
        payload: payload as u16,
        checksum,
    })
}
