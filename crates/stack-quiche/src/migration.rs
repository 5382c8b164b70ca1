// SPDX-License-Identifier: Apache-2.0
//! The client's sockets, and its change from one to another in the middle of a transfer.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};

use quiche::PathEvent;
use stack_common::job::Migration;

use crate::outbox::Batch;
use crate::sys;

/// Datagrams taken from one socket before the connection may answer.
const READ_AT_ONCE: usize = 64;

/// A socket, and the address under which the library knows it.
struct Path {
    socket: UdpSocket,
    known_as: SocketAddr,
    received: u64,
    /// Opened because the address changed.
    new: bool,
}

impl Path {
    fn open(peer: SocketAddr) -> io::Result<Self> {
        let any = if peer.is_ipv4() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED)
        } else {
            IpAddr::V6(Ipv6Addr::UNSPECIFIED)
        };
        let socket = sys::udp_socket(SocketAddr::new(any, 0))?;
        socket.connect(peer)?;
        Ok(Self {
            known_as: socket.local_addr()?,
            socket,
            received: 0,
            new: false,
        })
    }
}

enum State {
    /// Stays where it is until this many bytes of the body have come, or without a number until it is told.
    Waiting(Migration, Option<u64>),
    /// The new path is being validated.
    Probing(SocketAddr),
    /// Uses the new path, which had received this many datagrams when the move was made.
    Moved(SocketAddr, u64),
    /// Stays where it is.
    Settled,
}

/// Sockets of one connection to one peer.
pub struct Paths {
    peer: SocketAddr,
    open: Vec<Path>,
    state: State,
    failure: Option<String>,
    told: bool,
    reset: bool,
    packet: Vec<u8>,
}

impl Paths {
    /// One socket; `migration` says whether and when it changes.
    pub fn open(peer: SocketAddr, migration: Option<(Migration, Option<u64>)>) -> io::Result<Self> {
        Ok(Self {
            peer,
            open: vec![Path::open(peer)?],
            state: migration.map_or(State::Settled, |(kind, at)| State::Waiting(kind, at)),
            failure: None,
            told: false,
            reset: false,
            packet: vec![0; 65_535],
        })
    }

    /// The first local address.
    pub fn local(&self) -> SocketAddr {
        self.open[0].known_as
    }

    /// Files to wait for.
    pub fn files(&self, writable: bool) -> Vec<(RawFd, bool)> {
        self.open
            .iter()
            .map(|path| (path.socket.as_raw_fd(), writable))
            .collect()
    }

    /// Give the library what has arrived, up to a bound. The error is that nobody listens there.
    pub fn receive(&mut self, quic: &mut quiche::Connection) -> io::Result<()> {
        for path in &mut self.open {
            for _ in 0..READ_AT_ONCE {
                match path.socket.recv(&mut self.packet[..]) {
                    Ok(length) => {
                        path.received += 1;
                        let info = quiche::RecvInfo {
                            from: self.peer,
                            to: path.known_as,
                        };
                        // Errors of the peer end in the library's own close.
                        let _ = quic.recv(&mut self.packet[..length], info);
                    }
                    Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                        return Err(error)
                    }
                    Err(error) => {
                        self.reset |= error.kind() == io::ErrorKind::ConnectionAborted;
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Send from the socket that the library means.
    pub fn transmit(&self, batch: &Batch) -> io::Result<()> {
        let path = self
            .open
            .iter()
            .find(|path| path.known_as == batch.from)
            .unwrap_or(&self.open[0]);
        path.socket.send(&batch.bytes).map(|_| ())
    }

    /// Change the address when it is time; `received` counts bytes of the body.
    pub fn advance(&mut self, quic: &mut quiche::Connection, received: u64) {
        while let Some(event) = quic.path_event_next() {
            self.on_event(quic, &event);
        }
        match self.state {
            State::Waiting(kind, at)
                if self.told || received > 0 && at.is_some_and(|at| received >= at) =>
            {
                let outcome = match kind {
                    Migration::Active => self.probe(quic),
                    Migration::Rebinding => self.rebind(quic),
                };
                if let Err(reason) = outcome {
                    self.settle(reason);
                }
            }
            _ => {}
        }
    }

    fn on_event(&mut self, quic: &mut quiche::Connection, event: &PathEvent) {
        let State::Probing(new) = self.state else {
            return;
        };
        match *event {
            PathEvent::Validated(local, peer) if local == new => match quic.migrate(local, peer) {
                Ok(_) => {
                    // Tells the server at once: it follows the first packet that is not a probe.
                    let _ = quic.send_ack_eliciting();
                    self.state = State::Moved(new, self.received_on(new));
                }
                Err(error) => self.settle(format!(
                    "quiche refused to use the validated path: {error:?}"
                )),
            },
            PathEvent::FailedValidation(local, _) if local == new => {
                self.settle("the new path was not validated: no PATH_RESPONSE came".to_owned());
            }
            _ => {}
        }
    }

    fn probe(&mut self, quic: &mut quiche::Connection) -> Result<(), String> {
        if quic
            .peer_transport_params()
            .is_some_and(|parameters| parameters.disable_active_migration)
        {
            return Err(
                "the server forbids active migration (disable_active_migration)".to_owned(),
            );
        }
        if quic.available_dcids() == 0 {
            // They come in NEW_CONNECTION_ID frames, perhaps later.
            self.failure = Some("the server gave no spare connection ID".to_owned());
            return Ok(());
        }
        let mut path = Path::open(self.peer)
            .map_err(|error| format!("cannot open a second socket: {error}"))?;
        path.new = true;
        quic.probe_path(path.known_as, self.peer)
            .map_err(|error| format!("quiche cannot probe: {error:?}"))?;
        self.failure = Some("the transfer ended before the new path was validated".to_owned());
        self.state = State::Probing(path.known_as);
        self.open.push(path);
        Ok(())
    }

    fn rebind(&mut self, quic: &mut quiche::Connection) -> Result<(), String> {
        let mut path = Path::open(self.peer)
            .map_err(|error| format!("cannot open a second socket: {error}"))?;
        path.known_as = self.local();
        path.new = true;
        if self.told {
            // Nothing comes to the old address any more, and a client that only waits would never be heard again.
            let _ = quic.send_ack_eliciting();
        }
        self.state = State::Moved(path.known_as, 0);
        // First in the list, so that everything leaves from it; what is under way to the old port still arrives.
        self.open.insert(0, path);
        Ok(())
    }

    fn settle(&mut self, reason: String) {
        self.failure = Some(reason);
        self.state = State::Settled;
    }

    fn received_on(&self, address: SocketAddr) -> u64 {
        self.open
            .iter()
            .find(|path| path.known_as == address)
            .map_or(0, |path| path.received)
    }

    /// The address has changed: do now what is to be done.
    pub fn tell(&mut self) {
        self.told = true;
    }

    /// True if a socket was destroyed since this was asked last.
    pub fn take_reset(&mut self) -> bool {
        std::mem::take(&mut self.reset)
    }

    /// Datagrams so far.
    pub fn received(&self) -> u64 {
        self.open.iter().map(|path| path.received).sum()
    }

    /// True if anything has come over a new path.
    pub fn is_heard(&self) -> bool {
        self.open.iter().any(|path| path.new && path.received > 0)
    }

    /// Reason for which it stays at an address that is gone.
    pub fn stranded(&self) -> Option<&str> {
        let settled = self.told && matches!(self.state, State::Settled);
        self.failure.as_deref().filter(|_| settled)
    }

    /// True if packets came over the new path after the move; if not, with the reason.
    pub fn outcome(self) -> (bool, Option<String>) {
        match self.state {
            State::Moved(new, before) if self.received_on(new) > before => (true, None),
            State::Moved(..) => (false, Some("nothing came over the new path".to_owned())),
            State::Waiting(..) if self.failure.is_none() => (
                false,
                Some("the body was too short for the address to change".to_owned()),
            ),
            _ => (false, self.failure),
        }
    }
}
