// SPDX-License-Identifier: Apache-2.0
//! The requests to begin (a line of standard input) and to stop (its end, SIGTERM, SIGINT), and waiting for these or
//! for packets.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::device::socket;

/// Signals that end a run.
#[derive(Debug)]
pub struct Control {
    signals: OwnedFd,
}

impl Control {
    /// Takes the signals over; to be called before any thread starts.
    ///
    /// # Errors
    /// If the system has no descriptor for them.
    pub fn new() -> io::Result<Self> {
        // SAFETY: `set` is a valid signal set that outlives the calls, and the new descriptor is ours alone.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGTERM);
            libc::sigaddset(&raw mut set, libc::SIGINT);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            let signals =
                libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if signals < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self {
                signals: OwnedFd::from_raw_fd(signals),
            })
        }
    }
}

/// What the link waits for: requests, and packets.
#[derive(Debug)]
pub struct Wait {
    entries: Vec<libc::pollfd>,
    told_to_begin: bool,
}

/// How many of the entries are not of devices.
const REQUESTS: usize = 2;

impl Wait {
    /// Waits for packets on `devices`.
    #[must_use]
    pub fn new(control: &Control, devices: impl IntoIterator<Item = RawFd>) -> Self {
        let requests = [libc::STDIN_FILENO, control.signals.as_raw_fd()];
        let entry = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        Self {
            entries: requests.into_iter().chain(devices).map(entry).collect(),
            told_to_begin: false,
        }
    }

    /// Whether there was a request to begin since this was last asked.
    pub fn was_told_to_begin(&mut self) -> bool {
        std::mem::take(&mut self.told_to_begin)
    }

    /// Waits at most for `timeout`. True: stop.
    ///
    /// # Errors
    /// If a device is lost.
    pub fn until_ready(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        let count = self.entries.len();
        let stops = self.poll(count, timeout);
        for device in &self.entries[REQUESTS..] {
            if device.revents & libc::POLLERR != 0 {
                socket::pending_error(device.fd)?;
            }
        }
        Ok(stops)
    }

    /// Whether to stop, without waiting.
    pub fn stops(&mut self) -> bool {
        self.poll(REQUESTS, Some(Duration::ZERO))
    }

    fn poll(&mut self, count: usize, timeout: Option<Duration>) -> bool {
        let timeout = timeout.map(|timeout| libc::timespec {
            tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let timeout = timeout
            .as_ref()
            .map_or(std::ptr::null(), std::ptr::from_ref);
        let entries = &mut self.entries[..count];
        // SAFETY: `entries` and `timeout` outlive the call, and the length is that of `entries`.
        let ready = unsafe {
            libc::ppoll(
                entries.as_mut_ptr(),
                entries.len() as libc::nfds_t,
                timeout,
                std::ptr::null(),
            )
        };
        if ready <= 0 {
            for entry in entries {
                entry.revents = 0;
            }
            return false;
        }
        let (input, signals) = (entries[0].revents != 0, entries[1].revents != 0);
        let over = input && input_is_over();
        self.told_to_begin |= input && !over;
        signals || over
    }
}

/// Reads away what stands in standard input.
fn input_is_over() -> bool {
    let mut bytes = [0_u8; 256];
    // SAFETY: the buffer is valid for its length.
    let read = unsafe { libc::read(libc::STDIN_FILENO, bytes.as_mut_ptr().cast(), bytes.len()) };
    read == 0 || (read < 0 && io::Error::last_os_error().raw_os_error() != Some(libc::EAGAIN))
}
