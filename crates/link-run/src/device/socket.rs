// SPDX-License-Identifier: Apache-2.0
//! Sockets of the kinds that the standard library does not know.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A raw socket, with `flags` besides `SOCK_CLOEXEC`.
///
/// # Errors
/// What the system says.
pub fn open(family: libc::c_int, flags: libc::c_int, protocol: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers, and the new descriptor is ours alone.
    unsafe {
        let fd = libc::socket(
            family,
            libc::SOCK_RAW | libc::SOCK_CLOEXEC | flags,
            protocol,
        );
        checked(fd)?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Binds a packet socket.
///
/// # Errors
/// What the system says.
pub fn bind(socket: &OwnedFd, address: &libc::sockaddr_ll) -> io::Result<()> {
    // SAFETY: `address` is valid for the length given.
    checked(unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const *address).cast(),
            length_of::<libc::sockaddr_ll>(),
        )
    })
}

/// Sets an option, which the kernel takes as a value of this type.
///
/// # Errors
/// What the system says.
pub fn set_option<T: Copy>(
    socket: &OwnedFd,
    level: libc::c_int,
    option: libc::c_int,
    value: T,
) -> io::Result<()> {
    // SAFETY: `value` is valid for the length given.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            length_of::<T>(),
        )
    })
}

/// Reads an option made of numbers.
///
/// # Errors
/// What the system says.
pub fn option<const N: usize>(
    socket: &OwnedFd,
    level: libc::c_int,
    option: libc::c_int,
) -> io::Result<[u32; N]> {
    let mut value = [0; N];
    let mut length = length_of::<[u32; N]>();
    // SAFETY: `value` is valid for `length`, and any bytes are numbers.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw mut value).cast(),
            &raw mut length,
        )
    })?;
    Ok(value)
}

/// Takes the error out that waits on a socket; what is no socket has none, and an interface that is down now may come
/// up again.
///
/// # Errors
/// The error.
pub fn pending_error(fd: RawFd) -> io::Result<()> {
    let mut error: libc::c_int = 0;
    let mut length = length_of::<libc::c_int>();
    // SAFETY: `error` is valid for `length`.
    let asked = unsafe {
        libc::getsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_ERROR,
            (&raw mut error).cast(),
            &raw mut length,
        )
    };
    match error {
        0 | libc::ENETDOWN => Ok(()),
        _ if asked < 0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what is asked for here has a few bytes"
)]
const fn length_of<T>() -> libc::socklen_t {
    size_of::<T>() as libc::socklen_t
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
