// SPDX-License-Identifier: Apache-2.0
//! Keys of the draws of loss, and so which packets of two protocols share a draw.

use crate::packet::Packet;

/// Bytes that share a draw of [`LossKey::Bytes`].
pub(super) const CELL: u64 = 1500;

/// Key by which the draws of loss are numbered. Whatever it is, each packet is lost with the chance
/// that was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossKey {
    /// The packet's number in its direction.
    #[default]
    Index,
    /// The packet's number among those of its class, large or small ([`Packet::LARGE`]): how many acknowledgments were
    /// sent changes nothing for data.
    Class,
    /// The data bytes before the packet: a large one goes by the number of the 1500 bytes of large packets in which it
    /// begins. So packets of different sizes are lost at the same bytes, and two or three that begin in the same 1500
    /// bytes are lost together. Small packets go by their class: if they shared draws, a SYN that is lost would be lost
    /// again whenever it is repeated.
    Bytes,
    /// The number of the super-packet that the sender's host handed over, and the packet was cut from: all of it is
    /// lost, or nothing, as by Linux's netem, which draws once for each socket buffer. Jitter, reordering and
    /// duplication are drawn so, too.
    SuperPacket,
}

/// One draw of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draw {
    /// True if it is one of the small packets, which are drawn apart.
    pub(super) small: bool,
    /// The number of the draw.
    pub(super) number: u64,
    /// True if packets may share it.
    pub(super) shared: bool,
}

/// Counts the packets that come to the loss stage.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    large: u64,
    small: u64,
    /// Bytes of large packets.
    bytes: u64,
}

impl Tally {
    /// Counts a packet: the draw that decides on it.
    pub(super) fn count(&mut self, key: LossKey, index: u32, packet: &Packet) -> Draw {
        let large = packet.is_large();
        let (of_class, first_byte) = (if large { self.large } else { self.small }, self.bytes);
        if large {
            self.large += 1;
            self.bytes += packet.size.0;
        } else {
            self.small += 1;
        }
        match key {
            LossKey::Index => Draw {
                small: false,
                number: index.into(),
                shared: false,
            },
            LossKey::SuperPacket => Draw {
                small: false,
                number: packet.super_packet.unwrap_or(index).into(),
                shared: true,
            },
            LossKey::Bytes if large => Draw {
                small: false,
                number: first_byte / CELL,
                shared: true,
            },
            LossKey::Class | LossKey::Bytes => Draw {
                small: !large,
                number: of_class,
                shared: false,
            },
        }
    }
}
