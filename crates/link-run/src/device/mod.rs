// SPDX-License-Identifier: Apache-2.0
//! The two ways to have packets of an end.

pub mod counters;
pub mod netns;
pub mod socket;
pub mod tun;
pub mod veth;

use std::io;
use std::os::fd::RawFd;

use crate::checksum::PartialChecksum;
use crate::vnet::Offload;

/// Largest thing that a device hands over: a super-packet and what stands before it.
pub const FRAME: usize = 65_536 + 64;

/// A packet that was read.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// Where the IP packet starts in the buffer.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What is left to do on it; `None` if it cannot be understood.
    pub offload: Option<Offload>,
}

/// The packets of one end. Neither reading nor writing ever waits.
pub trait Port {
    /// For `ppoll`.
    fn fd(&self) -> RawFd;

    /// Reads what the end sends. `None`: nothing there, or not IP.
    ///
    /// # Errors
    /// What the system says, other than that there is nothing.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Received>>;

    /// Writes one IP packet, which follows [`crate::pool::HEADROOM`] free bytes, to the end.
    ///
    /// # Errors
    /// What the system says.
    fn send(&mut self, frame: &mut [u8], checksum: Option<PartialChecksum>) -> io::Result<()>;

    /// Packets that were lost between the end and this port so far; only differences mean anything.
    ///
    /// # Errors
    /// If the counters cannot be read.
    fn drops(&mut self) -> io::Result<u64>;

    /// What the kernel leaves to us, by name.
    fn offloads(&self) -> &[&'static str];

    /// The receive buffer in force, where there is one.
    fn receive_buffer_bytes(&self) -> Option<usize> {
        None
    }
}
