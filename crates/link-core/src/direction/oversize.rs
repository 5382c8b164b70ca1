// SPDX-License-Identifier: Apache-2.0
//! Packets that are lost because of their size: a hop whose MTU they exceed, and which says so or says nothing.

use super::Direction;
use crate::packet::Packet;
use crate::random::Chance;
use crate::units::{Bytes, Nanos};
use crate::verdict::DropReason;

/// Packets above a size are dropped, all or some of them. Where no ICMP message says so, it is a black hole of path MTU
/// discovery (RFC 2923 section 2.1) if it is all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oversize {
    /// Largest IP packet that always passes.
    pub above: Bytes,
    /// Probability with which a larger one is dropped.
    pub chance: Chance,
    /// The instant from which on they are.
    pub from: Nanos,
    /// True if their sender is told, as by a router. A packet that may be fragmented passes then: a router would cut it.
    pub told: bool,
}

impl Oversize {
    /// True if a packet that is here at `t` is larger than what always passes.
    pub(super) fn concerns(&self, t: Nanos, packet: &Packet) -> bool {
        self.above < packet.size && self.from <= t && !(self.told && packet.fragmentable)
    }
    /// The reason for which such a packet is dropped.
    pub(super) fn reason(&self) -> DropReason {
        if self.told {
            DropReason::TooBig
        } else {
            DropReason::Oversize
        }
    }
}

impl Direction {
    /// The largest IP packet that always passes at `t`; `None` where every size does.
    #[must_use]
    pub fn largest_at(&self, t: Nanos) -> Option<Bytes> {
        self.oversize
            .in_force(t)
            .as_ref()
            .map(|oversize| oversize.above)
    }
}
