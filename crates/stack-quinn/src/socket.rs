// SPDX-License-Identifier: Apache-2.0
//! UDP sockets with room for a burst.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

use quinn::{AsyncUdpSocket, Runtime, TokioRuntime};
use socket2::{Domain, Protocol, Socket, Type};
use stack_common::failure::Failure;
use stack_common::SOCKET_BUFFER_MIB;

use crate::unmarked::UnmarkedSocket;

/// A bound socket.
pub fn bind(address: SocketAddr) -> Result<UdpSocket, Failure> {
    let bound = || {
        let socket = Socket::new(
            Domain::for_address(address),
            Type::DGRAM,
            Some(Protocol::UDP),
        )?;
        let buffer = usize::from(SOCKET_BUFFER_MIB) << 20;
        socket.set_recv_buffer_size(buffer)?;
        socket.set_send_buffer_size(buffer)?;
        socket.bind(&address.into())?;
        Ok(socket.into())
    };
    let what = format!("bind a UDP socket to {address}");
    bound().map_err(|error: io::Error| Failure::cannot(&what, error))
}

/// Any port of the address family of `peer`.
pub fn bind_towards(peer: IpAddr) -> Result<UdpSocket, Failure> {
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
