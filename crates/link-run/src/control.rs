// SPDX-License-Identifier: Apache-2.0
//! Waiting for packets, and for what the forwarder is told meanwhile: runs begin or change (a line of their input) and
//! stop (its end), new ones arrive, and SIGTERM or SIGINT ends all of them.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::device::socket;

/// Signals that end everything.
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

/// Request to the forwarder; runs by their number.
#[derive(Debug)]
pub enum Request {
    /// Everything is to end.
    Stop,
    /// Look for new runs.
    Arrival,
    /// A run is told something.
    Told(usize, Vec<u8>),
    /// A run is to end.
    End(usize),
    /// A run has lost a device.
    Lost(usize, io::Error),
}

/// Descriptors of one run.
#[derive(Clone, Debug)]
pub struct Watched {
    /// File from which it is told to begin and to stop.
    pub input: RawFd,
    /// Devices that have packets.
    pub devices: Vec<RawFd>,
}

/// Set of files that the forwarder waits for.
#[derive(Debug)]
pub struct Wait {
    /// Entries of signals, of arrivals (-1 where none can come), of the runs' inputs, and of their devices.
    entries: Vec<libc::pollfd>,
    /// The run of each device.
    owners: Vec<usize>,
    told: Vec<Request>,
}

/// The entries before those of the runs' inputs.
const FIRST: usize = 2;

impl Wait {
    /// Waits for packets and requests of `runs`, and for `arrivals` of others.
    #[must_use]
    pub fn new(control: &Control, arrivals: Option<RawFd>, runs: &[Watched]) -> Self {
        let entry = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let inputs = runs.iter().map(|run| run.input);
        let devices = runs.iter().flat_map(|run| run.devices.iter().copied());
        let first = [control.signals.as_raw_fd(), arrivals.unwrap_or(-1)];
        let owner = |(number, run): (usize, &Watched)| vec![number; run.devices.len()];
        Self {
            entries: first
                .into_iter()
                .chain(inputs)
                .chain(devices)
                .map(entry)
                .collect(),
            owners: runs.iter().enumerate().flat_map(owner).collect(),
            told: Vec::new(),
        }
    }

    /// Requests that were told since this was last asked.
    pub fn told(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.told)
    }

    /// Waits at most for `timeout`. True: something was told.
    pub fn until_ready(&mut self, timeout: Option<Duration>) -> bool {
        self.poll(self.entries.len(), timeout);
        let devices = &self.entries[self.requests()..];
        for (device, &run) in devices.iter().zip(&self.owners) {
            if device.revents & libc::POLLERR != 0 {
                if let Err(error) = socket::pending_error(device.fd) {
                    self.told.push(Request::Lost(run, error));
                }
            }
        }
        !self.told.is_empty()
    }

    /// True if something was told, without waiting.
    pub fn looks(&mut self) -> bool {
        self.poll(self.requests(), Some(Duration::ZERO));
        !self.told.is_empty()
    }

    /// Number of entries that are not of devices.
    fn requests(&self) -> usize {
        self.entries.len() - self.owners.len()
    }

    fn poll(&mut self, count: usize, timeout: Option<Duration>) {
        let timeout = timeout.map(|timeout| libc::timespec {
            tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let timeout = timeout
            .as_ref()
            .map_or(std::ptr::null(), std::ptr::from_ref);
        let requests = self.requests();
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
            return;
        }
        for (place, entry) in entries[..requests].iter().enumerate() {
            if entry.revents == 0 {
                continue;
            }
            self.told.push(match place.checked_sub(FIRST) {
                None if place == 0 => Request::Stop,
                None => Request::Arrival,
                Some(run) => match read_away(entry.fd) {
                    Some(bytes) => Request::Told(run, bytes),
                    None => Request::End(run),
                },
            });
        }
    }
}

/// Reads away what stands in an input; `None` once it has ended.
fn read_away(input: RawFd) -> Option<Vec<u8>> {
    let mut bytes = vec![0_u8; 4096];
    // SAFETY: the buffer is valid for its length.
    let read = unsafe { libc::read(input, bytes.as_mut_ptr().cast(), bytes.len()) };
    match usize::try_from(read) {
        Ok(0) => None,
        Ok(length) => {
            bytes.truncate(length);
            Some(bytes)
        }
        Err(_) => (io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)).then(Vec::new),
    }
}
