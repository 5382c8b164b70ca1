// SPDX-License-Identifier: Apache-2.0
//! A socket that can be replaced beneath a connection without its knowledge, as a NAT does that maps it anew.
//!
//! Datagrams that are under way to the old port arrive, until the first datagram arrives at the new one. Were it lost, a
//! client that only receives would have nothing to acknowledge, hence nothing to send, and its server would never learn
//! of the new port.

use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};

type Socket = Arc<dyn AsyncUdpSocket>;

/// Passes everything on to the socket of the moment.
pub struct ReplaceableSocket {
    state: Mutex<State>,
}

struct State {
    current: Socket,
    previous: Option<Socket>,
    receiver: Option<Waker>,
}

impl ReplaceableSocket {
    pub fn new(socket: Socket) -> Self {
        Self {
            state: Mutex::new(State {
                current: socket,
                previous: None,
                receiver: None,
            }),
        }
    }

    /// Send everything from `socket` from now on.
    pub fn replace(&self, socket: Socket) {
        let mut state = self.lock();
        let previous = std::mem::replace(&mut state.current, socket);
        state.previous = Some(previous);
        if let Some(receiver) = state.receiver.take() {
            receiver.wake();
        }
    }

    fn current(&self) -> Socket {
        self.lock().current.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ReplaceableSocket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ReplaceableSocket({:?})", self.current())
    }
}

impl AsyncUdpSocket for ReplaceableSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        let socket = self.current();
        Box::pin(Poller {
            inner: socket.clone().create_io_poller(),
            of: socket,
            owner: self,
        })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.current().try_send(transmit)
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.lock();
        state.receiver = Some(context.waker().clone());
        let received = state.current.poll_recv(context, buffers, meta);
        if received.is_ready() {
            state.previous = None;
            return received;
        }
        match &state.previous {
            Some(previous) => previous.poll_recv(context, buffers, meta),
            None => Poll::Pending,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.current().local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.current().max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.current().max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.current().may_fragment()
    }
}

/// Waits for the socket of the moment to be writable.
struct Poller {
    owner: Arc<ReplaceableSocket>,
    of: Socket,
    inner: Pin<Box<dyn UdpPoller>>,
}

impl fmt::Debug for Poller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Poller({:?})", self.of)
    }
}

impl UdpPoller for Poller {
    fn poll_writable(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let current = self.owner.current();
        if !Arc::ptr_eq(&current, &self.of) {
            self.inner = current.clone().create_io_poller();
            self.of = current;
        }
        self.inner.as_mut().poll_writable(context)
    }
}
