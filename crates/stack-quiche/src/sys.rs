// SPDX-License-Identifier: Apache-2.0
//! Calls of Linux that the standard library lacks: waiting for several files, signals, and UDP's options.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::{Duration, Instant};

use stack_common::SOCKET_BUFFER_MIB;

/// Wake up when asked: the kernel otherwise adds up to 50 µs to each wait, which a pacer would feel.
pub fn wake_precisely() {
    // SAFETY: changes this thread's timer slack only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

/// Wait until one of the files can be read (or written, where asked), or until the deadline.
pub fn wait(files: &[(RawFd, bool)], deadline: Option<Instant>) -> io::Result<()> {
    let mut polled: Vec<libc::pollfd> = files
        .iter()
        .map(|&(fd, write)| libc::pollfd {
            fd,
            events: libc::POLLIN | if write { libc::POLLOUT } else { 0 },
            revents: 0,
        })
        .collect();
    let timeout =
        deadline.map(|instant| timespec(instant.saturating_duration_since(Instant::now())));
    // SAFETY: both pointers are valid for the call, and the count is that of the array.
    let ready = unsafe {
        libc::ppoll(
            polled.as_mut_ptr(),
            polled.len() as libc::nfds_t,
            timeout.as_ref().map_or(ptr::null(), ptr::from_ref),
            ptr::null(),
        )
    };
    match ready {
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            error => Err(error),
        },
        _ => Ok(()),
    }
}

fn timespec(duration: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::try_from(duration.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(duration.subsec_nanos()),
    }
}

/// SIGTERM and SIGINT as a file that becomes readable.
pub struct Signals(OwnedFd);

impl Signals {
    /// Keep these signals from ending the process by themselves from now on.
    pub fn catch() -> io::Result<Self> {
        // SAFETY: the set is initialised by sigemptyset; the descriptor is new and owned by nobody else.
        unsafe {
            let mut set: libc::sigset_t = zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGTERM);
            libc::sigaddset(&raw mut set, libc::SIGINT);
            libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
            match libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC) {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(Self(OwnedFd::from_raw_fd(fd))),
            }
        }
    }

    /// True if one has come.
    pub fn arrived(&self) -> bool {
        let mut buffer = [0_u8; size_of::<libc::signalfd_siginfo>()];
        // SAFETY: the buffer is as long as said.
        unsafe { libc::read(self.0.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) > 0 }
    }
}

impl AsRawFd for Signals {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// A non-blocking UDP socket with large buffers that never fragments (RFC 9000 section 14).
pub fn udp_socket(local: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(local)?;
    socket.set_nonblocking(true)?;
    let (level, name) = match local {
        SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER),
        SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER),
    };
    set_option(&socket, level, name, libc::IP_PMTUDISC_PROBE)?;
    let buffer = libc::c_int::from(SOCKET_BUFFER_MIB) << 20;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, buffer)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF, buffer)?;
    Ok(socket)
}

fn set_option(
    socket: &UdpSocket,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap_or_default();
    // SAFETY: the value lives as long as the call and has the length said.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            length,
        )
    };
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Send several datagrams of `segment` bytes each (the last may be shorter) in one system call (`UDP_SEGMENT`).
pub fn send_segments(
    socket: &UdpSocket,
    bytes: &[u8],
    segment: usize,
    to: SocketAddr,
) -> io::Result<()> {
    let segment = u16::try_from(segment).map_err(|_| io::ErrorKind::InvalidInput)?;
    let (mut address, address_length) = raw_address(to);
    let mut vector = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // Eight-byte words, because a control message must be aligned as its header is.
    let mut control = [0_u64; 4];
    // SAFETY: msghdr is plain old data; all its pointers outlive the call; `control` has room for one u16 message
    // (CMSG_SPACE(2) = 24 bytes), so CMSG_FIRSTHDR is not null.
    let sent = unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_name = (&raw mut address).cast();
        message.msg_namelen = address_length;
        message.msg_iov = &raw mut vector;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(2) as usize;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_UDP;
        (*header).cmsg_type = libc::UDP_SEGMENT;
        (*header).cmsg_len = libc::CMSG_LEN(2) as usize;
        ptr::write_unaligned(libc::CMSG_DATA(header).cast::<u16>(), segment);
        libc::sendmsg(socket.as_raw_fd(), &raw const message, 0)
    };
    if sent < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// The constants are of another integer type than the field that takes them.
fn family(constant: libc::c_int) -> libc::sa_family_t {
    libc::sa_family_t::try_from(constant).unwrap_or_default()
}

fn raw_address(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: sockaddr_storage is plain old data, larger than and aligned for every other address.
    let mut storage: libc::sockaddr_storage = unsafe { zeroed() };
    let length = match address {
        SocketAddr::V4(v4) => {
            let raw = libc::sockaddr_in {
                sin_family: family(libc::AF_INET),
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr {
                    s_addr: u32::from_ne_bytes(v4.ip().octets()),
                },
                sin_zero: [0; 8],
            };
            // SAFETY: see above.
            unsafe { ptr::write((&raw mut storage).cast(), raw) };
            size_of::<libc::sockaddr_in>()
        }
        SocketAddr::V6(v6) => {
            let raw = libc::sockaddr_in6 {
                sin6_family: family(libc::AF_INET6),
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr {
                    s6_addr: v6.ip().octets(),
                },
                sin6_scope_id: v6.scope_id(),
            };
            // SAFETY: see above.
            unsafe { ptr::write((&raw mut storage).cast(), raw) };
            size_of::<libc::sockaddr_in6>()
        }
    };
    (
        storage,
        libc::socklen_t::try_from(length).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments_arrive(address: &str) {
        let inbox = udp_socket(address.parse().expect("an address")).expect("a socket");
        let outbox = udp_socket(address.parse().expect("an address")).expect("a socket");
        let to = inbox.local_addr().expect("an address");
        let bytes: Vec<u8> = (0..2500_u16)
            .map(|number| number.to_le_bytes()[0])
            .collect();
        send_segments(&outbox, &bytes, 1200, to).expect("sent");
        let mut buffer = [0; 2000];
        let mut received = Vec::new();
        for expected in [1200, 1200, 100] {
            wait(&[(inbox.as_raw_fd(), false)], None).expect("a datagram");
            let (length, from) = inbox.recv_from(&mut buffer).expect("a datagram");
            assert_eq!(
                (length, from),
                (expected, outbox.local_addr().expect("an address"))
            );
            received.extend_from_slice(&buffer[..length]);
        }
        assert_eq!(received, bytes);
    }

    /// One call, three datagrams, all bytes.
    #[test]
    fn one_call_sends_several_datagrams() {
        segments_arrive("127.0.0.1:0");
        segments_arrive("[::1]:0");
    }

    /// A deadline in the past does not block.
    #[test]
    fn waiting_ends_at_the_deadline() {
        let socket = udp_socket("127.0.0.1:0".parse().expect("an address")).expect("a socket");
        wait(&[(socket.as_raw_fd(), false)], Some(Instant::now())).expect("the time to come");
        assert!(socket.recv(&mut [0; 10]).is_err());
    }
}
