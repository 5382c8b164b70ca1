// SPDX-License-Identifier: Apache-2.0
//! What the draws of loss are numbered by, and so which packets of two protocols share a draw.

use crate::packet::Packet;

/// Bytes that share a draw of [`LossKey::Bytes`].
pub(super) const CELL: u64 = 1500;

/// What the draws of loss are numbered by. Whatever it is, each packet is lost with the chance that was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossKey {
    /// The packet's number in its direction.
    #[default]
    Index,
    /// The packet's number among those of its class, large or small ([`Packet::LARGE`]): how many acknowledgments were
    /// sent changes nothing for data.
    Class,
    /// Number of the 1500 bytes of the direction in which the packet begins: packets of different sizes are lost at
    /// the same bytes, and packets that begin in the same 1500 bytes are lost together.
    Bytes,
}

/// One draw of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draw {
    /// Whether it is one of the small packets, which are drawn apart.
    pub(super) small: bool,
    /// The number of the draw.
    pub(super) number: u64,
    /// Whether packets may share it.
    pub(super) shared: bool,
}

/// Counts the packets that come to the loss stage.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    large: u64,
    small: u64,
    bytes: u64,
}

impl Tally {
    /// Counts a packet: the draw that decides on it.
    pub(super) fn count(&mut self, key: LossKey, index: u32, packet: &Packet) -> Draw {
        let count = if packet.is_large() {
            &mut self.large
        } else {
            &mut self.small
        };
        let (of_class, first_byte) = (*count, self.bytes);
        *count += 1;
        self.bytes += packet.size.0;
        match key {
            LossKey::Index => Draw {
                small: false,
                number: index.into(),
                shared: false,
            },
            LossKey::Class => Draw {
                small: !packet.is_large(),
                number: of_class,
                shared: false,
            },
            LossKey::Bytes => Draw {
                small: false,
                number: first_byte / CELL,
                shared: true,
            },
        }
    }
}
