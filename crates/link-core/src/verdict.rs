// SPDX-License-Identifier: Apache-2.0
//! What becomes of a packet, and why.

use crate::queue::Occupancy;
use crate::units::Nanos;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// Random loss before the queue.
    LossAtEntry,
    /// No room in the queue.
    QueueFull,
    /// Random loss behind the queue.
    LossAtExit,
    /// The packet stands on the explicit list.
    Listed,
    /// Active queue management dropped it.
    Aqm,
    /// The transport is faster than it is allowed to be.
    Policed,
    /// The transport is not let in.
    Blocked,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet waits in a managed queue: [`Direction::decide`](crate::Direction::decide) will tell.
    Waiting,
    /// The packet comes out at this instant.
    Delivered(Delivery),
    /// The packet does not come out.
    Dropped(DropReason),
}

/// How a packet comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The instant at which its last bit reaches the far end; [`Nanos::NEVER`] if the link stands still for good.
    pub due: Nanos,
    /// To be marked "congestion experienced" (RFC 3168).
    pub marked: bool,
    /// Held back on purpose, so that others overtake it.
    pub reordered: bool,
    /// Where to turn a bit over, as a number uniform over all of `u64`.
    pub corrupt: Option<u64>,
    /// A second copy comes right behind it, perhaps corrupted on its own account.
    pub copy: Option<Copied>,
}

/// The second copy of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Where to flip a bit of the copy, as in [`Delivery`].
    pub corrupt: Option<u64>,
}

/// The verdict on one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The packet's number in this direction, from 0.
    pub index: u32,
    /// What becomes of it.
    pub fate: Fate,
    /// What stood in the bottleneck's queue just before it came there; nothing if it did not come so far, or while it
    /// is waiting.
    pub found: Occupancy,
    /// How long the bottleneck was sending it.
    pub service: Nanos,
}
