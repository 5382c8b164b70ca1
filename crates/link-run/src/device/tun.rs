// SPDX-License-Identifier: Apache-2.0
//! TUN devices with a virtio-net header: the kernel hands over super-packets and leaves checksums to the far end.
//! Reading does not say when the device had them, so a packet socket beside it does.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use super::counters::DeviceCounters;
use super::netns::Netns;
use super::stamps::Stamps;
use super::{Lost, Port, Received, Sink, Source, FRAME};
use crate::config::End;
use crate::error::Error;
use crate::pool::{Pool, HEADROOM};
use crate::vnet::{self, Offload};

const TUN_F_CSUM: libc::c_uint = 0x01;
const TUN_F_TSO: libc::c_uint = 0x02 | 0x04 | 0x08;
const TUN_F_USO: libc::c_uint = 0x20 | 0x40;

/// Creates the device in the end's namespace.
///
/// # Errors
/// If the namespace or the device cannot be had.
pub fn open(end: &End) -> Result<Port, Error> {
    let netns = Netns::open(&end.netns).map_err(Error::system(
        format!("cannot open the network namespace {}", end.netns.display()),
        "it must exist as long as the link runs",
    ))?;
    let created = netns.run(|| {
        let (file, offloads) = create(&end.device)?;
        let sink = TunSink {
            file: file.try_clone()?,
        };
        let source = TunSource {
            file,
            stamps: Stamps::open(&end.device)?,
            counters: DeviceCounters::open(&end.device)?,
            offloads,
            buffer: vec![0; FRAME as usize],
        };
        Ok((source, sink))
    });
    let (source, sink) = created.map_err(Error::system(
        format!(
            "cannot create the TUN device {} in {}",
            end.device,
            end.netns.display()
        ),
        "give yourself the right to open /dev/net/tun, or choose the veth backend",
    ))?;
    Ok(Port {
        source: Box::new(source),
        sink: Box::new(sink),
    })
}

/// Packets that one end sends.
#[derive(Debug)]
struct TunSource {
    file: File,
    stamps: Stamps,
    counters: DeviceCounters,
    offloads: &'static [&'static str],
    buffer: Vec<u8>,
}

/// Packets that are sent to one end.
#[derive(Debug)]
struct TunSink {
    file: File,
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
            "a device name must have 1 to 15 bytes",
        ));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = libc::c_char::try_from(from)
            .map_err(|_| io::Error::other("a device name must be ASCII"))?;
    }
    Ok(request)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

impl Source for TunSource {
    fn fds(&self) -> Vec<RawFd> {
        vec![self.file.as_raw_fd()]
    }

    fn receive(&mut self, take: &mut dyn FnMut(Received<'_>)) -> io::Result<bool> {
        let end = match self.file.read(&mut self.buffer) {
            Ok(end) => end,
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => {
                return Ok(false)
            }
            Err(error) => return Err(error),
        };
        if let Some((header, packet)) = self.buffer[..end].split_first_chunk::<{ vnet::LENGTH }>() {
            take(Received {
                packet,
                offload: Offload::decode(*header, 0),
                arrival_ns: self.stamps.arrival_ns(packet),
            });
        }
        Ok(true)
    }

    fn lost(&mut self) -> io::Result<Lost> {
        Ok(Lost {
            device: self.counters.transmit_drops()?,
            ..Lost::default()
        })
    }

    fn offloads(&self) -> &[&'static str] {
        self.offloads
    }
}

impl Sink for TunSink {
    /// The end would get a train as one large packet.
    fn takes_trains(&self) -> bool {
        false
    }

    fn send(&mut self, pool: &mut Pool, train: &[u32]) -> io::Result<()> {
        for slot in train {
            let slot = pool.get_mut(*slot);
            let frame = &mut slot.bytes[HEADROOM - vnet::LENGTH..];
            frame[..vnet::LENGTH].copy_from_slice(&vnet::encode(slot.checksum, 0));
            // A device takes a packet whole or not at all.
            let _ = self.file.write(frame)?;
        }
        Ok(())
    }
}
