// SPDX-License-Identifier: Apache-2.0
//! Packet sockets on a veth pair: needs no device node, so it works for every user.
//!
//! What an end sends is read from its own device, where it leaves in the order in which it was sent. On the near side
//! of the pair it would come by the backlogs of the processors that sent it (a program's own, or the one that an
//! acknowledgement reached), and what two of them handed over could come in either order.

mod features;
mod sink;
mod source;

use std::io;
use std::path::Path;

use crate::config::End;
use crate::device::counters::DeviceCounters;
use crate::device::netns::Netns;
use crate::device::Port;
use crate::error::Error;
use sink::VethSink;
use source::{Rings, VethSource};

/// Length of an Ethernet header.
const ETHERNET: u16 = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// Opens both devices of the pair to one end.
///
/// # Errors
/// If namespace, device or addresses are not there.
pub fn open(end: &End) -> Result<Port, Error> {
    let mut addresses = [0; 12];
    addresses[..6].copy_from_slice(&ethernet_address("peer_mac", end.peer_mac.as_deref())?);
    addresses[6..].copy_from_slice(&ethernet_address("mac", end.mac.as_deref())?);
    let (Some(near_netns), Some(near_device)) = (&end.near_netns, &end.near_device) else {
        return Err(Error::config(
            "ends: the veth backend needs near_netns and near_device",
        ));
    };
    let rings = in_netns(&end.netns, &end.device, || {
        Rings::open(&end.device, end.mtu)
    })?;
    let (sink, counters) = in_netns(near_netns, near_device, || {
        Ok((
            VethSink::open(near_device, addresses)?,
            DeviceCounters::open(near_device)?,
        ))
    })?;
    Ok(Port {
        source: Box::new(VethSource::new(rings, counters)),
        sink: Box::new(sink),
    })
}

/// Opens what is on a device, in its namespace.
fn in_netns<T: Send>(
    netns: &Path,
    device: &str,
    open: impl FnOnce() -> io::Result<T> + Send,
) -> Result<T, Error> {
    let place = netns.display();
    let opened = Netns::open(netns)
        .map_err(Error::system(
            format!("cannot open the network namespace {place}"),
            "it must exist as long as the link runs",
        ))?
        .run(open);
    opened.map_err(Error::system(
        format!("cannot open a packet socket on {device} in {place}"),
        "the device must exist, and the namespace must belong to your own user namespace",
    ))
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
