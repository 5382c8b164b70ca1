// SPDX-License-Identifier: Apache-2.0
//! UDP sockets with room for a burst.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};
use stack_common::failure::Failure;
use stack_common::SOCKET_BUFFER_MIB;

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
