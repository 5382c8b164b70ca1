// SPDX-License-Identifier: Apache-2.0
//! Packets to an end, through its veth pair.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::{features, ETHERNET, IPV4, IPV6};
use crate::device::counters::interface_index;
use crate::device::{socket, Sink};
use crate::pool::{Pool, HEADROOM};
use crate::train;
use crate::vnet;

/// Virtio-net and Ethernet headers fill the headroom.
const TYPE_AT: usize = HEADROOM - 2;

/// A packet socket that only writes.
#[derive(Debug)]
pub struct VethSink {
    socket: OwnedFd,
    /// Destination and source of what is written.
    addresses: [u8; 12],
    takes_trains: bool,
    head: Vec<u8>,
}

impl VethSink {
    /// Opens a socket that writes to a device of this thread's namespace.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn open(device: &str, addresses: [u8; 12]) -> io::Result<Self> {
        let index = interface_index(device)?;
        let socket = socket::open(libc::AF_PACKET, libc::SOCK_NONBLOCK, 0)?;
        socket::set_option(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1_i32)?;
        // SAFETY: all-zero is a valid sockaddr_ll.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = u16::try_from(libc::AF_PACKET).map_err(io::Error::other)?;
        address.sll_ifindex = i32::try_from(index).map_err(io::Error::other)?;
        socket::bind(&socket, &address)?;
        Ok(Self {
            socket,
            addresses,
            // A device that does not segment has the kernel do it before, packet by packet.
            takes_trains: features::segmentation_off(device).is_ok(),
            head: Vec::with_capacity(256),
        })
    }

    fn send_one(&mut self, pool: &mut Pool, slot: u32) -> io::Result<()> {
        let slot = pool.get_mut(slot);
        let mut header = vnet::encode(slot.checksum, ETHERNET);
        // All of it is to lie in one piece, as a driver has it.
        let length = u16::try_from(slot.bytes.len() - vnet::LENGTH).unwrap_or(0);
        header[2..4].copy_from_slice(&length.to_ne_bytes());
        fill(&mut slot.bytes, header, &self.addresses);
        // SAFETY: the frame is valid for its length.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                slot.bytes.as_ptr().cast(),
                slot.bytes.len(),
                0,
            )
        };
        checked(sent)
    }

    fn send_train(&mut self, pool: &mut Pool, train: &[u32]) -> io::Result<()> {
        let Some(whole) = train::head(pool, train, &mut self.head) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        fill(
            &mut self.head,
            vnet::encode_super(&whole, ETHERNET),
            &self.addresses,
        );
        let mut parts = [libc::iovec {
            iov_base: std::ptr::null_mut(),
            iov_len: 0,
        }; train::LONGEST + 1];
        parts[0] = part(&self.head);
        for (to, slot) in parts[1..].iter_mut().zip(train) {
            *to = part(&pool.get(*slot).packet()[usize::from(whole.headers)..]);
        }
        // SAFETY: all-zero is a valid msghdr.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = train.len() + 1;
        // SAFETY: the parts outlive the call, and sendmsg only reads them.
        checked(unsafe { libc::sendmsg(self.socket.as_raw_fd(), &raw const message, 0) })
    }
}

impl Sink for VethSink {
    fn takes_trains(&self) -> bool {
        self.takes_trains
    }

    fn send(&mut self, pool: &mut Pool, train: &[u32]) -> io::Result<()> {
        match train {
            [slot] => self.send_one(pool, *slot),
            _ => self.send_train(pool, train),
        }
    }
}

/// Writes virtio-net and Ethernet headers into the headroom.
fn fill(frame: &mut [u8], header: [u8; vnet::LENGTH], addresses: &[u8; 12]) {
    let kind = if frame[HEADROOM] >> 4 == 6 {
        IPV6
    } else {
        IPV4
    };
    frame[..vnet::LENGTH].copy_from_slice(&header);
    frame[vnet::LENGTH..TYPE_AT].copy_from_slice(addresses);
    frame[TYPE_AT..HEADROOM].copy_from_slice(&kind);
}

fn part(bytes: &[u8]) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    }
}

fn checked(sent: isize) -> io::Result<()> {
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
