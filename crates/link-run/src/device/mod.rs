// SPDX-License-Identifier: Apache-2.0
//! The two ways to have packets of an end.

pub mod counters;
pub mod netns;
mod ring;
pub mod socket;
mod stamps;
pub mod tun;
pub mod veth;

use std::io;
use std::ops::Add;
use std::os::fd::RawFd;

use crate::pool::Pool;
use crate::vnet::Offload;

/// Largest thing that a device hands over: a super-packet and what stands before it.
pub const FRAME: u32 = 65_536 + 64;

/// A packet or a super-packet that an end has sent.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// The packet, from its IP header on.
    pub packet: &'a [u8],
    /// Work that is left to do on it; `None` if it cannot be understood.
    pub offload: Option<Offload>,
    /// The instant at which the kernel had it (`CLOCK_MONOTONIC`), if the device tells.
    pub arrival_ns: Option<u64>,
}

/// Packets that an end's devices have lost outside the model, by the place where it happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// The device had no room, or (veth) the processor's backlog to the far side had none.
    pub device: u64,
    /// Our own buffer was full before we read.
    pub unread: u64,
}

impl Lost {
    /// Losses since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            device: self.device.saturating_sub(before.device),
            unread: self.unread.saturating_sub(before.unread),
        }
    }
}

impl Add for Lost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            device: self.device + other.device,
            unread: self.unread + other.unread,
        }
    }
}

/// Source of an end's packets. Reading never waits.
pub trait Source: Send {
    /// Descriptors for `ppoll`.
    fn fds(&self) -> Vec<RawFd>;

    /// Hands the next thing that the end has sent to `take`, unless it is not IP. False: nothing was there.
    ///
    /// # Errors
    /// What the system says, other than that there is nothing.
    fn receive(&mut self, take: &mut dyn FnMut(Received<'_>)) -> io::Result<bool>;

    /// True if so much waits that it should be read before all else, lest it be lost.
    fn is_crowded(&self) -> bool {
        false
    }

    /// Packets that were lost at this end so far; only differences mean anything.
    ///
    /// # Errors
    /// If the counters cannot be read.
    fn lost(&mut self) -> io::Result<Lost>;

    /// Work that the kernel leaves to us, by name.
    fn offloads(&self) -> &[&'static str];
}

/// Sink of an end's packets. Writing never waits.
pub trait Sink: Send {
    /// True if consecutive segments of one super-packet may be handed over together: the end gets
    /// each by itself all the same, but the way there is shorter.
    fn takes_trains(&self) -> bool;

    /// Writes a packet, or a train of them: their slots.
    ///
    /// # Errors
    /// What the system says.
    fn send(&mut self, pool: &mut Pool, train: &[u32]) -> io::Result<()>;
}

/// One end.
pub struct Port {
    /// Packets that it sends.
    pub source: Box<dyn Source>,
    /// Packets that are sent to it.
    pub sink: Box<dyn Sink>,
}
