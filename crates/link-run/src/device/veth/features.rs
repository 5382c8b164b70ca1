// SPDX-License-Identifier: Apache-2.0
//! A device's segmentation, switched off as `ethtool -K` does it.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::device::socket;

const SIOCETHTOOL: libc::c_ulong = 0x8946;
const GET_STRINGS: u32 = 0x1b;
const GET_SET_SIZES: u32 = 0x37;
const GET_FEATURES: u32 = 0x3a;
const SET_FEATURES: u32 = 0x3b;
/// The set of the features' names.
const FEATURE_NAMES: u32 = 4;
const NAME: usize = 32;
/// Feature that the kernel has for any device.
const GENERIC: &str = "tx-generic-segmentation";

/// Switches all segmentation by the device off, so that the kernel segments before it.
///
/// # Errors
/// If the device keeps some of it.
pub fn segmentation_off(device: &str) -> io::Result<()> {
    let control = Control {
        socket: socket::open(libc::AF_NETLINK, 0, libc::NETLINK_ROUTE)?,
        device: CString::new(device)?,
    };
    let names = control.feature_names()?;
    let blocks = names.len().div_ceil(32);
    let size = u32::try_from(blocks).map_err(io::Error::other)?;
    let mut wanted = vec![SET_FEATURES, size];
    wanted.resize(2 + blocks * 2, 0);
    let segmenting =
        |name: &&(usize, String)| name.1.ends_with("-segmentation") && name.1 != GENERIC;
    for (number, _) in names.iter().filter(segmenting) {
        wanted[2 + number / 32 * 2] |= 1 << (number % 32);
    }
    control.ask(&mut wanted)?;
    // Four words a block: available, requested, active, never changed.
    let mut now = vec![GET_FEATURES, size];
    now.resize(2 + blocks * 4, 0);
    control.ask(&mut now)?;
    let active = |number: usize| now[2 + number / 32 * 4 + 2] & 1 << (number % 32) != 0;
    match names
        .iter()
        .filter(segmenting)
        .find(|(number, _)| active(*number))
    {
        None => Ok(()),
        Some((_, name)) => Err(io::Error::other(format!("{device} keeps {name}"))),
    }
}

struct Control {
    socket: OwnedFd,
    device: CString,
}

impl Control {
    /// All features that the kernel knows, numbered.
    fn feature_names(&self) -> io::Result<Vec<(usize, String)>> {
        let mut sizes = [GET_SET_SIZES, 0, 1 << FEATURE_NAMES, 0, 0];
        self.ask(&mut sizes)?;
        let count = sizes[4] as usize;
        let mut strings = vec![GET_STRINGS, FEATURE_NAMES, sizes[4]];
        strings.resize(3 + count * NAME / 4, 0);
        self.ask(&mut strings)?;
        let bytes: Vec<u8> = strings[3..]
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        Ok(bytes
            .chunks_exact(NAME)
            .map(|name| {
                let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME);
                String::from_utf8_lossy(&name[..end]).into_owned()
            })
            .enumerate()
            .collect())
    }

    fn ask(&self, question: &mut [u32]) -> io::Result<()> {
        // SAFETY: all-zero is a valid ifreq.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(self.device.as_bytes()) {
            *to = libc::c_char::from_ne_bytes([*from]);
        }
        request.ifr_ifru.ifru_data = question.as_mut_ptr().cast();
        // SAFETY: the request and what it points to outlive the call and are as long as their numbers say.
        match unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) } {
            ..0 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}
