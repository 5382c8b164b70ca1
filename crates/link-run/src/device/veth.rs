// SPDX-License-Identifier: Apache-2.0
//! Packet sockets on the near side of a veth pair: needs no device node, so it works for every user.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::counters::{interface_index, DeviceCounters};
use super::netns::Netns;
use super::{socket, Port, Received};
use crate::checksum::PartialChecksum;
use crate::config::End;
use crate::error::Error;
use crate::pool::HEADROOM;
use crate::vnet::{self, Offload};

/// Length of an Ethernet header, which makes virtio-net and Ethernet headers fill the headroom.
const ETHERNET: u16 = 14;
const TYPE_AT: usize = HEADROOM - 2;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
/// What must fit before this process gets the CPU: a smaller buffer loses packets outside the model.
pub const WANTED_BUFFER: usize = 8 << 20;

/// A packet socket on the device before one end.
#[derive(Debug)]
pub struct Veth {
    socket: OwnedFd,
    counters: DeviceCounters,
    /// Destination and source of what is written.
    addresses: [u8; 12],
    receive_buffer: usize,
    /// Packets that found no room in the receive buffer; the kernel's own count starts again whenever it is read.
    overflowed: u64,
}

impl Veth {
    /// Opens a socket on the device in its namespace.
    ///
    /// # Errors
    /// If namespace, device or addresses are not there.
    pub fn open(end: &End) -> Result<Self, Error> {
        let mut addresses = [0; 12];
        addresses[..6].copy_from_slice(&ethernet_address("peer_mac", end.peer_mac.as_deref())?);
        addresses[6..].copy_from_slice(&ethernet_address("mac", end.mac.as_deref())?);
        let netns = Netns::open(&end.netns).map_err(Error::system(
            format!("cannot open the network namespace {}", end.netns.display()),
            "it must exist as long as the link runs",
        ))?;
        let opened = netns.run(|| {
            Ok((
                packet_socket(&end.device)?,
                DeviceCounters::open(&end.device)?,
            ))
        });
        let (socket, counters) = opened.map_err(Error::system(
            format!(
                "cannot open a packet socket on {} in {}",
                end.device,
                end.netns.display()
            ),
            "the device must exist, and the namespace must belong to your own user namespace",
        ))?;
        let receive_buffer = ask_for_buffer(&socket);
        Ok(Self {
            socket,
            counters,
            addresses,
            receive_buffer,
            overflowed: 0,
        })
    }
}

/// A socket that gives all that comes from the end, with its offloads, and nothing of what goes to it.
fn packet_socket(device: &str) -> io::Result<OwnedFd> {
    let index = interface_index(device)?;
    let socket = socket::open(libc::AF_PACKET, libc::SOCK_NONBLOCK, 0)?;
    for option in [
        libc::PACKET_VNET_HDR,
        libc::PACKET_IGNORE_OUTGOING,
        libc::PACKET_QDISC_BYPASS,
    ] {
        socket::set_option(&socket, libc::SOL_PACKET, option, 1)?;
    }
    // SAFETY: all-zero is a valid sockaddr_ll.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = u16::try_from(libc::AF_PACKET).map_err(io::Error::other)?;
    address.sll_protocol = u16::try_from(libc::ETH_P_ALL)
        .map_err(io::Error::other)?
        .to_be();
    address.sll_ifindex = i32::try_from(index).map_err(io::Error::other)?;
    socket::bind(&socket, &address)?;
    Ok(socket)
}

/// Asks for the receive buffer, past the host's limit where that is allowed, and tells what it became.
fn ask_for_buffer(socket: &OwnedFd) -> usize {
    let wanted = libc::c_int::try_from(WANTED_BUFFER).unwrap_or(libc::c_int::MAX);
    let forced = socket::set_option(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, wanted);
    if forced.is_err() {
        // The answer below tells whether this was enough.
        let _ = socket::set_option(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, wanted);
    }
    // The kernel doubles what is asked for, for its own books (socket(7)).
    socket::option(socket, libc::SOL_SOCKET, libc::SO_RCVBUF)
        .map_or(0, |[doubled]: [u32; 1]| doubled as usize / 2)
}

fn ethernet_address(field: &str, text: Option<&str>) -> Result<[u8; 6], Error> {
    let text =
        text.ok_or_else(|| Error::config(format!("ends: the veth backend needs {field}")))?;
    let bytes: Option<Vec<u8>> = text
        .split(':')
        .map(|part| u8::from_str_radix(part, 16).ok())
        .collect();
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| {
            Error::config(format!(
                "ends.{field}: '{text}' is not six bytes such as 02:00:00:00:00:01"
            ))
        })
}

/// Packets that found the backlog of a CPU full (`/proc/net/softnet_stat`, second column): where a veth loses them.
fn backlog_drops() -> io::Result<u64> {
    let table = std::fs::read_to_string("/proc/net/softnet_stat")?;
    let drops = table
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1));
    Ok(drops
        .filter_map(|column| u64::from_str_radix(column, 16).ok())
        .sum())
}

impl Port for Veth {
    fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        // SAFETY: the buffer is valid for its length.
        let length = unsafe {
            libc::recv(
                self.socket.as_raw_fd(),
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                0,
            )
        };
        let Ok(end) = usize::try_from(length) else {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                // An interface that is down has nothing for us, now.
                Some(libc::EAGAIN | libc::EINTR | libc::ENETDOWN) => Ok(None),
                _ => Err(error),
            };
        };
        if end <= HEADROOM || ![IPV4, IPV6].contains(&[buffer[TYPE_AT], buffer[TYPE_AT + 1]]) {
            return Ok(None);
        }
        let mut header = [0; vnet::LENGTH];
        header.copy_from_slice(&buffer[..vnet::LENGTH]);
        Ok(Some(Received {
            start: HEADROOM,
            end,
            offload: Offload::decode(header, ETHERNET),
        }))
    }

    fn send(&mut self, frame: &mut [u8], checksum: Option<PartialChecksum>) -> io::Result<()> {
        let kind = if frame[HEADROOM] >> 4 == 6 {
            IPV6
        } else {
            IPV4
        };
        frame[..vnet::LENGTH].copy_from_slice(&vnet::encode(checksum, ETHERNET));
        frame[vnet::LENGTH..TYPE_AT].copy_from_slice(&self.addresses);
        frame[TYPE_AT..HEADROOM].copy_from_slice(&kind);
        // SAFETY: the frame is valid for its length.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                0,
            )
        };
        if sent < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn drops(&mut self) -> io::Result<u64> {
        // struct tpacket_stats: packets and drops.
        let [_, drops]: [u32; 2] =
            socket::option(&self.socket, libc::SOL_PACKET, libc::PACKET_STATISTICS)?;
        self.overflowed += u64::from(drops);
        Ok(self.overflowed + self.counters.transmit_drops()? + backlog_drops()?)
    }

    fn offloads(&self) -> &[&'static str] {
        &["csum", "tso4", "tso6", "tso_ecn", "uso4", "uso6"]
    }

    fn receive_buffer_bytes(&self) -> Option<usize> {
        Some(self.receive_buffer)
    }
}
