// SPDX-License-Identifier: Apache-2.0
//! Packet sockets on the near side of a veth pair: needs no device node, so it works for every user.

mod features;
mod ring;
mod sink;
mod source;

use crate::config::End;
use crate::device::netns::Netns;
use crate::device::Port;
use crate::error::Error;
use sink::VethSink;
use source::VethSource;

/// Length of an Ethernet header.
const ETHERNET: u16 = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// Opens the device before one end, in its namespace. One of two ends counts what the machine lost between them.
///
/// # Errors
/// If namespace, device or addresses are not there.
pub fn open(end: &End, counts_backlog: bool) -> Result<Port, Error> {
    let mut addresses = [0; 12];
    addresses[..6].copy_from_slice(&ethernet_address("peer_mac", end.peer_mac.as_deref())?);
    addresses[6..].copy_from_slice(&ethernet_address("mac", end.mac.as_deref())?);
    let netns = Netns::open(&end.netns).map_err(Error::system(
        format!("cannot open the network namespace {}", end.netns.display()),
        "it must exist as long as the link runs",
    ))?;
    let opened = netns.run(|| {
        Ok((
            VethSource::open(&end.device, end.mtu, counts_backlog)?,
            VethSink::open(&end.device, addresses)?,
        ))
    });
    let (source, sink) = opened.map_err(Error::system(
        format!(
            "cannot open a packet socket on {} in {}",
            end.device,
            end.netns.display()
        ),
        "the device must exist, and the namespace must belong to your own user namespace",
    ))?;
    Ok(Port {
        source: Box::new(source),
        sink: Box::new(sink),
    })
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
