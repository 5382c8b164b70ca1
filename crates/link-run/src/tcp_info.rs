// SPDX-License-Identifier: Apache-2.0
//! Statements of the kernel about TCP connections (`inet_diag`), asked for again and again and kept
//! as they came. The file is described in `docs/reference/tcp-info-log.md`.

use crate::clock::{monotonic_ns, process_cpu_ns, realtime_minus_monotonic_ns};
use crate::own_file;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

const MAGIC: &[u8; 8] = b"QLTCPINF";
const VERSION: u32 = 1;
const HEADER_BYTES: u32 = 64;

/// Bytes that are lost at most when we are killed.
const BUFFER_BYTES: usize = 8 << 10;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const REQUEST_DUMP: u16 = 0x301;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLMSG_HEADER_BYTES: usize = 16;
const REQUEST_BYTES: u32 = 72;

/// `INET_DIAG_INFO`, `_VEGASINFO`, `_CONG` and `_SKMEMINFO`. The second asks for whatever the congestion control tells
/// of itself: BBR answers `INET_DIAG_BBRINFO`.
const EXTENSIONS: u8 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 6;

/// Connections that may still move data: `ESTABLISHED`, `FIN_WAIT1`, `FIN_WAIT2`, `CLOSE_WAIT`, `LAST_ACK`, `CLOSING`.
const STATES: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// Settings of the sampling: of what, and how often.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// An open `inet_diag` socket: it belongs to the namespace in which it was opened.
    pub socket: RawFd,
    /// 4 or 6.
    pub ip_version: u8,
    /// Port of the connections' own end; 0 takes all.
    pub local_port: u16,
    /// Time between two samples.
    pub interval_ns: u64,
    /// The file.
    pub output: PathBuf,
}

/// Summary of the sampling.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Summary {
    /// Records in the file.
    pub samples: u64,
    /// Instants that passed without one, because the last took too long or there was no processor for us.
    pub missed: u64,
    /// Time between two samples, as asked.
    pub interval_ns: u64,
    /// The longest time between a question and its answer.
    pub slowest_ns: u64,
    /// Share of one core that the sampling took.
    pub cpu_share: f64,
}

/// Asks and writes.
pub struct Sampler {
    diag: Diag,
    requests: Vec<[u8; REQUEST_BYTES as usize]>,
    file: BufWriter<File>,
    settings: Settings,
    realtime_minus_monotonic_ns: i64,
    found: Vec<u8>,
    summary: Summary,
}

impl Sampler {
    /// Ask once, so that a refusal is told before anything is relied upon, and begin the file.
    ///
    /// # Errors
    /// When the kernel refuses, the file cannot be made, or the settings make no sense.
    pub fn new(settings: Settings) -> io::Result<Self> {
        if settings.interval_ns == 0 || settings.socket <= libc::STDERR_FILENO {
            return Err(io::Error::other(
                "the interval is 0, or the socket is no descriptor of its own",
            ));
        }
        // A server that listens on :: has IPv6 sockets for its IPv4 clients.
        let (four, six) = (libc::AF_INET, libc::AF_INET6);
        let families = if settings.ip_version == 4 {
            vec![four, six]
        } else {
            vec![six]
        };
        let requests: Vec<_> = families
            .into_iter()
            .map(|family| request(family, settings.local_port))
            .collect();
        // SAFETY: our starter passed this descriptor to us, and nothing else here knows of it.
        let socket = unsafe { OwnedFd::from_raw_fd(settings.socket) };
        let mut diag = Diag {
            socket: File::from(socket),
            answer: vec![0; 1 << 16],
        };
        let mut found = Vec::new();
        for each in &requests {
            diag.ask(each, &mut found).map_err(|error| {
                io::Error::other(format!("inet_diag: {error} (as root: modprobe tcp_diag)"))
            })?;
        }
        let file = own_file::create(&settings.output)
            .map_err(|error| io::Error::other(format!("{}: {error}", settings.output.display())))?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        let summary = Summary {
            interval_ns: settings.interval_ns,
            ..Summary::default()
        };
        let realtime_minus_monotonic_ns = realtime_minus_monotonic_ns();
        let mut sampler = Self {
            diag,
            requests,
            file,
            settings,
            realtime_minus_monotonic_ns,
            found,
            summary,
        };
        sampler.write_header(false)?;
        Ok(sampler)
    }

    /// Sample until `over`, which waits for at most so many nanoseconds, says that it is.
    ///
    /// # Errors
    /// When the kernel refuses or the file cannot be written.
    pub fn run(mut self, over: impl Fn(u64) -> bool) -> io::Result<Summary> {
        let interval_ns = self.settings.interval_ns;
        let (started, cpu_before) = (monotonic_ns(), process_cpu_ns());
        let mut due = started;
        loop {
            self.sample()?;
            let behind = (monotonic_ns() - due) / interval_ns;
            self.summary.missed += behind;
            due += (behind + 1) * interval_ns;
            if over(due.saturating_sub(monotonic_ns())) {
                break;
            }
        }
        #[allow(
            clippy::cast_precision_loss,
            reason = "a share needs no more than 52 bits"
        )]
        let share = (process_cpu_ns() - cpu_before) as f64 / (monotonic_ns() - started) as f64;
        self.summary.cpu_share = share;
        self.file.seek(SeekFrom::Start(0))?;
        self.write_header(true)?;
        self.file.flush()?;
        Ok(self.summary)
    }

    fn sample(&mut self) -> io::Result<()> {
        self.found.clear();
        let before = monotonic_ns();
        for index in 0..self.requests.len() {
            self.diag.ask(&self.requests[index], &mut self.found)?;
            if !self.found.is_empty() {
                // One server, one family: from here on only that one is asked.
                self.requests = vec![self.requests[index]];
                break;
            }
        }
        let after = monotonic_ns();
        let length = u32::try_from(self.found.len()).map_err(io::Error::other)?;
        for part in [
            &before.to_le_bytes()[..],
            &after.to_le_bytes(),
            &length.to_le_bytes(),
            &[0; 4],
        ] {
            self.file.write_all(part)?;
        }
        self.file.write_all(&self.found)?;
        self.summary.samples += 1;
        self.summary.slowest_ns = self.summary.slowest_ns.max(after - before);
        Ok(())
    }

    fn write_header(&mut self, complete: bool) -> io::Result<()> {
        let mut header = Vec::with_capacity(HEADER_BYTES as usize);
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&HEADER_BYTES.to_le_bytes());
        header.extend_from_slice(&self.settings.interval_ns.to_le_bytes());
        header.extend_from_slice(&self.settings.local_port.to_le_bytes());
        header.extend_from_slice(&[self.settings.ip_version, u8::from(complete), 0, 0, 0, 0]);
        header.extend_from_slice(&self.summary.samples.to_le_bytes());
        header.extend_from_slice(&self.summary.missed.to_le_bytes());
        header.extend_from_slice(&self.realtime_minus_monotonic_ns.to_le_bytes());
        header.resize(HEADER_BYTES as usize, 0);
        self.file.write_all(&header)
    }
}

/// The socket, and room for an answer.
struct Diag {
    socket: File,
    answer: Vec<u8>,
}

impl Diag {
    /// Append the kernel's messages, one a socket, without the last that only says that it is the last.
    fn ask(&mut self, request: &[u8], found: &mut Vec<u8>) -> io::Result<()> {
        self.socket.write_all(request)?;
        loop {
            let length = self.socket.read(&mut self.answer)?;
            let part = &self.answer[..length];
            let (used, last) = messages(part)?;
            found.extend_from_slice(&part[..used]);
            if last {
                return Ok(());
            }
        }
    }
}

/// Number of bytes of `part` that are messages about sockets, and a flag whether the end of the
/// answer follows them.
fn messages(part: &[u8]) -> io::Result<(usize, bool)> {
    let mut position = 0;
    while let Some(head) = part.get(position..position + NLMSG_HEADER_BYTES) {
        let length = u32::from_ne_bytes([head[0], head[1], head[2], head[3]]) as usize;
        match u16::from_ne_bytes([head[4], head[5]]) {
            NLMSG_DONE => return Ok((position, true)),
            NLMSG_ERROR => {
                let code = part.get(position + 16..position + 20).map_or(0, |raw| {
                    i32::from_ne_bytes([raw[0], raw[1], raw[2], raw[3]])
                });
                return Err(io::Error::from_raw_os_error(-code));
            }
            _ if length < NLMSG_HEADER_BYTES => break,
            _ => position += length.next_multiple_of(4),
        }
    }
    if position < part.len() || part.is_empty() {
        return Err(io::Error::other(
            "the kernel's answer ends in the middle of a message",
        ));
    }
    Ok((position, false))
}

/// `struct nlmsghdr` and `inet_diag_req_v2` of `linux/inet_diag.h`: all sockets with this local port, any cookie.
fn request(family: libc::c_int, local_port: u16) -> [u8; REQUEST_BYTES as usize] {
    let mut bytes = [0; REQUEST_BYTES as usize];
    bytes[..4].copy_from_slice(&REQUEST_BYTES.to_ne_bytes());
    bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&REQUEST_DUMP.to_ne_bytes());
    bytes[8..12].copy_from_slice(&1_u32.to_ne_bytes());
    bytes[16] = family.to_le_bytes()[0];
    bytes[17] = libc::IPPROTO_TCP.to_le_bytes()[0];
    bytes[18] = EXTENSIONS;
    bytes[20..24].copy_from_slice(&STATES.to_ne_bytes());
    bytes[24..26].copy_from_slice(&local_port.to_be_bytes());
    bytes[64..72].fill(0xff);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{messages, request, NLMSG_DONE, NLMSG_ERROR};

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(16 + body.len()).unwrap();
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(&[0; 10]);
        bytes.extend_from_slice(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn an_answer_ends_where_the_kernel_says_so() {
        let socket = message(20, &[7; 73]);
        assert_eq!(messages(&socket).unwrap(), (92, false));
        let whole = [socket, message(NLMSG_DONE, &[0; 4])].concat();
        assert_eq!(messages(&whole).unwrap(), (92, true));
    }

    #[test]
    fn a_refusal_is_the_systems_error() {
        let refusal = message(NLMSG_ERROR, &(-libc::ENOENT).to_ne_bytes());
        assert_eq!(
            messages(&refusal).unwrap_err().raw_os_error(),
            Some(libc::ENOENT)
        );
    }

    #[test]
    fn a_damaged_answer_is_an_error_and_no_endless_loop() {
        let zero_length = [0; 16];
        for damaged in [&zero_length[..], &message(20, &[1; 4])[..10], &[]] {
            assert!(messages(damaged).is_err());
        }
    }

    #[test]
    fn a_request_names_the_port_in_the_order_of_the_network() {
        let bytes = request(libc::AF_INET6, 443);
        assert_eq!((bytes[0], bytes[16], bytes[17]), (72, 10, 6));
        assert_eq!(bytes[24..28], [1, 187, 0, 0]);
    }
}
