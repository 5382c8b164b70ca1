// SPDX-License-Identifier: Apache-2.0
//! UDP sockets with room for a burst: the machine's default, near 200 KB, overflows where a link is fast.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

use quinn::{AsyncUdpSocket, Runtime, TokioRuntime};
use socket2::{Domain, Protocol, Socket, Type};

use crate::error::Error;
use crate::unmarked::UnmarkedSocket;

/// Asked of the kernel, which grants at most `net.core.rmem_max` and `wmem_max`.
const BUFFER: usize = 4 << 20;

/// A bound socket.
pub fn bind(address: SocketAddr) -> Result<UdpSocket, Error> {
    let bound = || {
        let socket = Socket::new(
            Domain::for_address(address),
            Type::DGRAM,
            Some(Protocol::UDP),
        )?;
        socket.set_recv_buffer_size(BUFFER)?;
        socket.set_send_buffer_size(BUFFER)?;
        socket.bind(&address.into())?;
        Ok(socket.into())
    };
    bound().map_err(|source| Error::Bind { address, source })
}

/// Any port of the address family of `peer`.
pub fn bind_towards(peer: IpAddr) -> Result<UdpSocket, Error> {
    let any: IpAddr = match peer {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    bind(SocketAddr::new(any, 0))
}

/// Make a socket for quinn, inside the runtime. Marks are kept unless `ecn` is false.
pub fn for_quinn(socket: UdpSocket, ecn: Option<bool>) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    let socket = TokioRuntime.wrap_udp_socket(socket)?;
    Ok(if ecn == Some(false) {
        Arc::new(UnmarkedSocket(socket))
    } else {
        socket
    })
}
