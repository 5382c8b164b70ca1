// SPDX-License-Identifier: Apache-2.0
//! A socket whose datagrams leave without an ECN mark: quinn itself has no switch, and gives marks up by itself where
//! none arrives.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};

/// Make a socket for quinn, inside the runtime. Marks are kept unless `ecn` is false.
pub fn for_quinn(socket: UdpSocket, ecn: Option<bool>) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    let socket = TokioRuntime.wrap_udp_socket(socket)?;
    Ok(if ecn == Some(false) {
        Arc::new(UnmarkedSocket(socket))
    } else {
        socket
    })
}

/// Passes everything else on.
#[derive(Debug)]
pub struct UnmarkedSocket(pub Arc<dyn AsyncUdpSocket>);

impl AsyncUdpSocket for UnmarkedSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        self.0.clone().create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.0.try_send(&Transmit {
            destination: transmit.destination,
            ecn: None,
            contents: transmit.contents,
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        })
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        self.0.poll_recv(context, buffers, meta)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.0.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.0.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.0.may_fragment()
    }
}
