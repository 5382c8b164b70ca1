// SPDX-License-Identifier: Apache-2.0
//! Code that the programs around QUIC libraries share, and that knows none of these libraries.
//!
//! A program begins in [`program`], reads a [`job`], finds [`files`] to serve, and leaves [`logs`] and a [`report`].

pub mod blocked;
pub mod clock;
pub mod failure;
pub mod files;
pub mod http3;
pub mod job;
pub mod lock;
pub mod logs;
pub mod program;
pub mod report;

/// Receive and send buffer that a program asks for each UDP socket, in MiB: the machine's default, near 200 KB, overflows
/// where a link is fast. The kernel grants at most `net.core.rmem_max` and `wmem_max`.
pub const SOCKET_BUFFER_MIB: u8 = 4;
