// SPDX-License-Identifier: Apache-2.0
//! Packets that are lost because of their size: a hop behind whose MTU they do not fit, and which says nothing.

use crate::packet::Packet;
use crate::random::Chance;
use crate::units::{Bytes, Nanos};

/// Packets above a size are dropped, all or some of them, and no ICMP message says so: a black hole of path MTU
/// discovery (RFC 2923 section 2.1) where it is all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oversize {
    /// Largest IP packet that always passes.
    pub above: Bytes,
    /// Probability with which a larger one is dropped.
    pub chance: Chance,
    /// The instant from which on they are.
    pub from: Nanos,
}

impl Oversize {
    /// True if a packet that is here at `t` is larger than what always passes.
    pub(super) fn concerns(&self, t: Nanos, packet: &Packet) -> bool {
        self.above < packet.size && self.from <= t
    }
}
