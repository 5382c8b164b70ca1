// SPDX-License-Identifier: Apache-2.0
//! TUN devices with a virtio-net header: the kernel hands over super-packets and leaves checksums to the far end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use super::counters::DeviceCounters;
use super::netns::Netns;
use super::{Port, Received};
use crate::checksum::PartialChecksum;
use crate::config::End;
use crate::error::Error;
use crate::pool::HEADROOM;
use crate::vnet::{self, Offload};

const TUN_F_CSUM: libc::c_uint = 0x01;
const TUN_F_TSO: libc::c_uint = 0x02 | 0x04 | 0x08;
const TUN_F_USO: libc::c_uint = 0x20 | 0x40;

/// A TUN device of one end.
#[derive(Debug)]
pub struct Tun {
    file: File,
    counters: DeviceCounters,
    offloads: &'static [&'static str],
}

impl Tun {
    /// Creates the device in the end's namespace.
    ///
    /// # Errors
    /// If the namespace or the device cannot be had.
    pub fn open(end: &End) -> Result<Self, Error> {
        let netns = Netns::open(&end.netns).map_err(Error::system(
            format!("cannot open the network namespace {}", end.netns.display()),
            "it must exist as long as the link runs",
        ))?;
        let created = netns.run(|| Ok((create(&end.device)?, DeviceCounters::open(&end.device)?)));
        let ((file, offloads), counters) = created.map_err(Error::system(
            format!(
                "cannot create the TUN device {} in {}",
                end.device,
                end.netns.display()
            ),
            "this needs /dev/net/tun to be open to you, or the veth backend",
        ))?;
        Ok(Self {
            file,
            counters,
            offloads,
        })
    }
}

/// Opens the device in this thread's namespace, with segmentation of UDP too where the kernel knows it (6.2).
fn create(name: &str) -> io::Result<(File, &'static [&'static str])> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open("/dev/net/tun")?;
    let mut request = interface_request(name)?;
    request.ifr_ifru.ifru_flags =
        libc::c_short::try_from(libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR)
            .map_err(io::Error::other)?;
    // SAFETY: `request` is a valid ifreq that outlives the call.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    let set = |flags: libc::c_uint| {
        // SAFETY: this request takes its argument by value.
        check(unsafe {
            libc::ioctl(
                file.as_raw_fd(),
                libc::TUNSETOFFLOAD,
                libc::c_ulong::from(flags),
            )
        })
    };
    if set(TUN_F_CSUM | TUN_F_TSO | TUN_F_USO).is_ok() {
        return Ok((file, &["csum", "tso4", "tso6", "tso_ecn", "uso4", "uso6"]));
    }
    set(TUN_F_CSUM | TUN_F_TSO)?;
    Ok((file, &["csum", "tso4", "tso6", "tso_ecn"]))
}

/// An ifreq with the device's name.
fn interface_request(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: all-zero is a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.is_empty() || name.len() >= request.ifr_name.len() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a device name has 1 to 15 bytes",
        ));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to =
            libc::c_char::try_from(from).map_err(|_| io::Error::other("a device name is ASCII"))?;
    }
    Ok(request)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

impl Port for Tun {
    fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        let end = match self.file.read(buffer) {
            Ok(end) => end,
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => {
                return Ok(None)
            }
            Err(error) => return Err(error),
        };
        let Some(header) = buffer[..end].first_chunk::<{ vnet::LENGTH }>() else {
            return Ok(None);
        };
        Ok(Some(Received {
            start: vnet::LENGTH,
            end,
            offload: Offload::decode(*header, 0),
        }))
    }

    fn send(&mut self, frame: &mut [u8], checksum: Option<PartialChecksum>) -> io::Result<()> {
        let frame = &mut frame[HEADROOM - vnet::LENGTH..];
        frame[..vnet::LENGTH].copy_from_slice(&vnet::encode(checksum, 0));
        self.file.write(frame).map(|_| ())
    }

    fn drops(&mut self) -> io::Result<u64> {
        self.counters.transmit_drops()
    }

    fn offloads(&self) -> &[&'static str] {
        self.offloads
    }
}
