// SPDX-License-Identifier: Apache-2.0
//! Verdict on a packet, and its reason.

use crate::queue::Occupancy;
use crate::units::Nanos;

/// Declares each reason once: its variant, its number in packet logs, its name in tables and accounts, and the remark on
/// the packet in a capture.
macro_rules! drop_reasons {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $name:literal, $remark:literal;)*) => {
        /// Reason for which a packet was dropped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum DropReason {
            $($(#[$doc])* $variant,)*
        }

        impl DropReason {
            /// Every reason, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The number in packet logs; 0 stands for a packet that was not dropped.
            #[must_use]
            pub const fn number(self) -> u8 {
                match self {
                    $(Self::$variant => $number,)*
                }
            }

            /// The name in tables and in the account of a run.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The remark on the packet in a capture.
            #[must_use]
            pub const fn remark(self) -> &'static str {
                match self {
                    $(Self::$variant => $remark,)*
                }
            }
        }
    };
}

// Number 6 was `outage` in packet logs of earlier versions. The kind of each reason, by which losses are counted, is
// declared in src/quiclab/model/tables/drop_reasons.py, and docs/reference/link-config.md has its meaning; tests fail for a
// reason that either lacks.
drop_reasons! {
    /// Random loss before the queue.
    LossAtEntry = 1, "loss_entry", "dropped: loss at entry";
    /// No room in the queue.
    QueueFull = 2, "queue_full", "dropped: queue full";
    /// Random loss behind the queue.
    LossAtExit = 3, "loss_exit", "dropped: loss at exit";
    /// The packet stands on the explicit list.
    Listed = 4, "listed", "dropped: listed";
    /// Active queue management dropped it.
    Aqm = 5, "aqm", "dropped: active queue management";
    /// The transport is faster than it is allowed to be.
    Policed = 7, "policed", "dropped: policed";
    /// The transport is not let in.
    Blocked = 8, "blocked", "dropped: blocked";
    /// The packet is larger than what the path passes.
    Oversize = 9, "oversize", "dropped: larger than what the path passes";
    /// The packet is larger than what the link passes, which its sender is told.
    TooBig = 16, "too_big", "dropped: too big, its sender was told by ICMP";
    /// The network's address translation has no mapping for it.
    Unmapped = 17, "unmapped", "dropped: no mapping of the address translation";
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet waits in a managed queue: [`Direction::decide`](crate::Direction::decide) will tell.
    Waiting,
    /// The packet comes out at this instant.
    Delivered(Delivery),
    /// The packet does not come out.
    Dropped(DropReason),
}

/// Delivery of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The instant at which its last bit reaches the far end; [`Nanos::NEVER`] if the link stands still for good.
    pub due: Nanos,
    /// To be marked "congestion experienced" (RFC 3168).
    pub marked: bool,
    /// Held back on purpose, so that others overtake it.
    pub reordered: bool,
    /// Position of a bit to turn over, as a number uniform over all of `u64`.
    pub corrupt: Option<u64>,
    /// A second copy comes right behind it, perhaps corrupted on its own account.
    pub copy: Option<Copied>,
}

/// The second copy of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Position of a bit of the copy to flip, as in [`Delivery`].
    pub corrupt: Option<u64>,
}

/// The verdict on one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The packet's number in this direction, from 0.
    pub index: u32,
    /// Fate of the packet.
    pub fate: Fate,
    /// Occupancy of the bottleneck's queue just before it came there; nothing if it did not come so
    /// far, or while it is waiting.
    pub found: Occupancy,
    /// Time for which the bottleneck was sending it.
    pub service: Nanos,
}
