// SPDX-License-Identifier: Apache-2.0
//! The request to stop (end of standard input, SIGTERM, SIGINT), and waiting for that or for packets.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// What ends a run.
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

    /// Waits for packets on `ports` or for the request to stop, at most for `timeout`. True: stop.
    #[must_use]
    pub fn wait(&self, ports: [RawFd; 2], timeout: Option<Duration>) -> bool {
        let entry = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut entries = [
            entry(libc::STDIN_FILENO),
            entry(self.signals.as_raw_fd()),
            entry(ports[0]),
            entry(ports[1]),
        ];
        let timeout = timeout.map(|timeout| libc::timespec {
            tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let timeout = timeout
            .as_ref()
            .map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `entries` and `timeout` outlive the call, and the length is that of `entries`.
        let ready = unsafe { libc::ppoll(entries.as_mut_ptr(), 4, timeout, std::ptr::null()) };
        ready > 0 && (entries[1].revents != 0 || (entries[0].revents != 0 && input_is_over()))
    }

    /// Whether to stop, without waiting.
    #[must_use]
    pub fn stops(&self) -> bool {
        self.wait([-1, -1], Some(Duration::ZERO))
    }
}

/// Reads away what stands in standard input.
fn input_is_over() -> bool {
    let mut bytes = [0_u8; 256];
    // SAFETY: the buffer is valid for its length.
    let read = unsafe { libc::read(libc::STDIN_FILENO, bytes.as_mut_ptr().cast(), bytes.len()) };
    read == 0 || (read < 0 && io::Error::last_os_error().raw_os_error() != Some(libc::EAGAIN))
}
