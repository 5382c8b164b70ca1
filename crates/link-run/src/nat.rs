// SPDX-License-Identifier: Apache-2.0
//! Translation of the client's ports by its network, which forgets them at an instant or after a silence.
//!
//! As of a NAT that maps each of the client's ports to one of its own, whatever it speaks with (RFC 4787 section 4.1).
//! Addresses stay: routes lead by them. A mapping keeps the client's own port while it is the first one.

use std::collections::{HashMap, HashSet};

use crate::checksum;
use crate::packet::{is_fragment, transport_of, Transport};

/// Ports of mappings that follow a forgotten one; above those that Linux takes for a client.
const FIRST_PORT: u16 = 61_000;

/// Times at which mappings are forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgets {
    /// All of them at this instant of the model's time.
    pub at_ns: Option<u64>,
    /// Each one after a silence that is longer, in both directions.
    pub after_ns: Option<u64>,
}

/// An end of a flow: protocol, address, port.
type End = (u8, Vec<u8>, u16);

#[derive(Clone, Copy, Debug)]
struct Mapping {
    port: u16,
    used_ns: u64,
}

/// The mappings of one link.
#[derive(Debug, Default)]
pub struct Nat {
    forgets: Forgets,
    has_forgotten: bool,
    /// The client's end → the port that others see.
    outward: HashMap<End, Mapping>,
    /// The end that others see → the client's port.
    inward: HashMap<End, u16>,
    /// Ends of the client that had a mapping once.
    known: HashSet<End>,
    next: u16,
}

/// Translation of a packet to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inward {
    /// Packets that pass as they are: neither TCP nor UDP, or fragments.
    Untouched,
    /// Packets to this port.
    To(u16),
    /// Packets without a mapping.
    Unmapped,
}

impl Nat {
    /// Nothing is mapped yet.
    #[must_use]
    pub fn new(forgets: Forgets) -> Self {
        Self {
            forgets,
            ..Self::default()
        }
    }

    /// Begins anew, as the workload does.
    pub fn begin(&mut self) {
        *self = Self::new(self.forgets);
    }

    /// The source port that a packet of the client has behind it at `now_ns`; `None`: it passes as it is.
    pub fn outward(&mut self, packet: &[u8], now_ns: u64) -> Option<u16> {
        let found = translated(packet)?;
        self.forget(now_ns);
        let end = (found.protocol, found.source.to_vec(), found.source_port);
        let expired =
            |mapping: &Mapping, after_ns| now_ns.saturating_sub(mapping.used_ns) > after_ns;
        if let Some(mapping) = self.outward.get_mut(&end) {
            if !self
                .forgets
                .after_ns
                .is_some_and(|after| expired(mapping, after))
            {
                mapping.used_ns = mapping.used_ns.max(now_ns);
                return Some(mapping.port);
            }
            let outside = (end.0, end.1.clone(), mapping.port);
            self.inward.remove(&outside);
        }
        let port = self.free_port(&end);
        self.inward.insert((end.0, end.1.clone(), port), end.2);
        self.known.insert(end.clone());
        self.outward.insert(
            end,
            Mapping {
                port,
                used_ns: now_ns,
            },
        );
        Some(port)
    }

    /// The port of the client that a packet is for at `now_ns`.
    pub fn inward(&mut self, packet: &[u8], now_ns: u64) -> Inward {
        let Some(found) = translated(packet) else {
            return Inward::Untouched;
        };
        self.forget(now_ns);
        let outside = (
            found.protocol,
            found.destination.to_vec(),
            found.destination_port,
        );
        let Some(&port) = self.inward.get(&outside) else {
            return Inward::Unmapped;
        };
        let end = (outside.0, outside.1, port);
        let after_ns = self.forgets.after_ns.unwrap_or(u64::MAX);
        match self.outward.get_mut(&end) {
            Some(mapping) if now_ns.saturating_sub(mapping.used_ns) <= after_ns => {
                mapping.used_ns = mapping.used_ns.max(now_ns);
                Inward::To(port)
            }
            _ => Inward::Unmapped,
        }
    }

    /// Forgets all mappings once it is time to.
    fn forget(&mut self, now_ns: u64) {
        if !self.has_forgotten && self.forgets.at_ns.is_some_and(|at_ns| at_ns <= now_ns) {
            self.has_forgotten = true;
            self.outward.clear();
            self.inward.clear();
        }
    }

    /// The client's own port the first time, then one that is not in use.
    fn free_port(&mut self, end: &End) -> u16 {
        let mut port = end.2;
        let is_first = !self.known.contains(end);
        if is_first && !self.inward.contains_key(end) {
            return port;
        }
        for _ in FIRST_PORT..=u16::MAX {
            port = FIRST_PORT + self.next;
            self.next = (self.next + 1) % (u16::MAX - FIRST_PORT + 1);
            if !self.inward.contains_key(&(end.0, end.1.clone(), port)) {
                break;
            }
        }
        port
    }
}

/// The flow of a packet that is translated.
fn translated(packet: &[u8]) -> Option<Transport<'_>> {
    transport_of(packet).filter(|_| !is_fragment(packet))
}

/// Gives a packet of TCP or UDP another source port.
pub fn set_source_port(packet: &mut [u8], port: u16, whole_checksum: bool) {
    set_port(packet, 0, port, whole_checksum);
}

/// Gives a packet of TCP or UDP another destination port.
pub fn set_destination_port(packet: &mut [u8], port: u16, whole_checksum: bool) {
    set_port(packet, 2, port, whole_checksum);
}

/// Writes a port, and corrects the checksum over it (RFC 1624), unless that is left to do: so far it has the sum of the
/// pseudo-header alone. A datagram without a checksum (RFC 768) stays without.
fn set_port(packet: &mut [u8], place: usize, port: u16, whole_checksum: bool) {
    let Some(Transport {
        start, is_udp: udp, ..
    }) = transport_of(packet)
    else {
        return;
    };
    let at = start + place;
    let before = u16::from_be_bytes([packet[at], packet[at + 1]]);
    packet[at..at + 2].copy_from_slice(&port.to_be_bytes());
    let field = start + if udp { 6 } else { 16 };
    let Some(field) = packet.get_mut(field..field + 2).filter(|_| whole_checksum) else {
        return;
    };
    if udp && field == [0, 0] {
        return;
    }
    checksum::update(field, before, port);
    if udp && field == [0, 0] {
        field.copy_from_slice(&[0xff, 0xff]);
    }
}
