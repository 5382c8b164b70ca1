// SPDX-License-Identifier: Apache-2.0
//! Numbers of super-packets within a direction.

use crate::packet::Packet;

/// Numbers of super-packets within a direction, in the order of arrival: what is not the model's has none.
#[derive(Clone, Debug, Default)]
pub(super) struct SuperPackets {
    last: Option<u32>,
    next: u32,
}

impl SuperPackets {
    /// The packet with the number of its super-packet, whose others come directly before and after it. One that came by
    /// itself has a number of its own.
    pub(super) fn numbered(&mut self, packet: Packet) -> Packet {
        if packet.super_packet.is_none() || packet.super_packet != self.last {
            self.next = self.next.wrapping_add(1);
        }
        self.last = packet.super_packet;
        Packet {
            super_packet: Some(self.next.wrapping_sub(1)),
            ..packet
        }
    }
}
