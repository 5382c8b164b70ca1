// SPDX-License-Identifier: Apache-2.0
//! Losses of a device, asked over rtnetlink.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::socket;

const RTM_GETSTATS: u16 = 94;
const RTM_NEWSTATS: u16 = 92;
/// `IFLA_STATS_LINK_64`, and its bit in the filter.
const LINK_STATS: u16 = 1;
const LINK_STATS_BIT: u32 = 1;
/// Length of a request: `nlmsghdr` and `if_stats_msg`.
const REQUEST: usize = 16 + 12;
/// Offset of the first attribute's value in an answer.
const VALUE: usize = REQUEST + 4;
/// `tx_dropped` is the eighth of the 64-bit numbers in `rtnl_link_stats64`.
const TRANSMIT_DROPPED: usize = VALUE + 7 * 8;

/// The counters of one device. The socket stays in the namespace where it was opened, so they can be read at any time
/// from anywhere.
#[derive(Debug)]
pub struct DeviceCounters {
    socket: OwnedFd,
    index: u32,
}

impl DeviceCounters {
    /// Opens the counters of a device of this thread's namespace.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn open(device: &str) -> io::Result<Self> {
        let index = interface_index(device)?;
        let socket = socket::open(libc::AF_NETLINK, 0, libc::NETLINK_ROUTE)?;
        Ok(Self { socket, index })
    }

    /// Packets that the device was to send and lost.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn transmit_drops(&self) -> io::Result<u64> {
        let mut message = [0_u8; REQUEST];
        message[..4].copy_from_slice(&28_u32.to_ne_bytes());
        message[4..6].copy_from_slice(&RTM_GETSTATS.to_ne_bytes());
        message[6..8].copy_from_slice(&1_u16.to_ne_bytes()); // NLM_F_REQUEST
        message[20..24].copy_from_slice(&self.index.to_ne_bytes());
        message[24..28].copy_from_slice(&LINK_STATS_BIT.to_ne_bytes());
        let mut answer = [0_u8; 1024];
        // SAFETY: both buffers are valid for their lengths. The kernel answers a request before `send` returns.
        let length = unsafe {
            if libc::send(
                self.socket.as_raw_fd(),
                message.as_ptr().cast(),
                message.len(),
                0,
            ) < 0
            {
                return Err(io::Error::last_os_error());
            }
            libc::recv(
                self.socket.as_raw_fd(),
                answer.as_mut_ptr().cast(),
                answer.len(),
                0,
            )
        };
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        let u16_at = |at: usize| u16::from_ne_bytes([answer[at], answer[at + 1]]);
        if length < TRANSMIT_DROPPED + 8
            || u16_at(4) != RTM_NEWSTATS
            || u16_at(REQUEST + 2) != LINK_STATS
        {
            return Err(io::Error::other(
                "the kernel gives no statistics of this device",
            ));
        }
        let mut value = [0; 8];
        value.copy_from_slice(&answer[TRANSMIT_DROPPED..TRANSMIT_DROPPED + 8]);
        Ok(u64::from_ne_bytes(value))
    }
}

/// The number of a device in this thread's namespace.
///
/// # Errors
/// If there is no such device.
pub fn interface_index(device: &str) -> io::Result<u32> {
    let name = CString::new(device)?;
    // SAFETY: `name` is a valid C string that outlives the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}
