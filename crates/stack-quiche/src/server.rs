// SPDX-License-Identifier: Apache-2.0
//! Serves the files of one folder over HTTP/3, to any number of connections, in one thread.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Instant;

use quiche::{h3, ConnectionId};
use stack_common::failure::Failure;
use stack_common::files::Files;
use stack_common::http3;
use stack_common::job::Scheduler;

use crate::config;
use crate::job::ServerJob;
use crate::logs::Logs;
use crate::outbox::{earliest, Batch, Outbox};
use crate::reasons::{Own, Reasons};
use crate::responses::Responses;
use crate::sys::{self, Signals};

const CONNECTION_ID: usize = 16;
/// Datagrams taken from the socket before the connections may answer: bounds how long an acknowledgement waits.
const READ_AT_ONCE: usize = 64;

/// Serve until SIGTERM.
pub fn run(job: &ServerJob) -> Result<(), Failure> {
    let mut server = Server::new(job)?;
    let signals = Signals::catch()?;
    sys::wake_precisely();
    while !signals.arrived() {
        server.read();
        server.advance();
        let (deadline, blocked) = server.next_event();
        sys::wait(
            &[
                (signals.as_raw_fd(), false),
                (server.socket.as_raw_fd(), blocked),
            ],
            deadline,
        )?;
    }
    server.close();
    Ok(())
}

struct Server {
    socket: UdpSocket,
    local: SocketAddr,
    quic: quiche::Config,
    http: h3::Config,
    files: Files,
    logs: Logs,
    segmentation: bool,
    scheduler: Scheduler,
    connections: HashMap<u64, Connection>,
    /// Number of the connection that each connection ID belongs to.
    routes: HashMap<ConnectionId<'static>, u64>,
    next_number: u64,
    packet: Vec<u8>,
}

struct Connection {
    quic: quiche::Connection,
    http: Option<h3::Connection>,
    responses: Responses,
    outbox: Outbox,
    reasons: Reasons,
    /// Packets came since it was last looked at.
    touched: bool,
}

impl Server {
    fn new(job: &ServerJob) -> Result<Self, Failure> {
        let service = &job.service;
        let (qlogs, keylog) = (service.qlog_dir.as_deref(), service.keylog.as_deref());
        let logs = Logs::new(qlogs, keylog, "server")?;
        let quic = config::server(job, logs.wants_keys())?;
        let files =
            Files::below(&service.root, service.content_type.as_deref()).map_err(|error| {
                Failure::cannot(&format!("serve {}", service.root.display()), error)
            })?;
        let socket = sys::udp_socket(service.listen).map_err(|error| {
            Failure::cannot(&format!("listen on UDP {}", service.listen), error)
        })?;
        Ok(Self {
            local: socket.local_addr()?,
            socket,
            quic,
            http: h3::Config::new().map_err(|error| Failure::cannot("set up HTTP/3", error))?,
            files,
            logs,
            segmentation: job.gso.unwrap_or(false),
            scheduler: job.scheduler.unwrap_or(Scheduler::Fifo),
            connections: HashMap::new(),
            routes: HashMap::new(),
            next_number: 0,
            packet: vec![0; 65_535],
        })
    }

    /// Take what has arrived, up to a bound.
    fn read(&mut self) {
        for _ in 0..READ_AT_ONCE {
            // Errors of a socket without a peer concern a packet that was sent before: not this one.
            match self.socket.recv_from(&mut self.packet[..]) {
                Ok((length, from)) => self.receive(length, from),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {}
            }
        }
    }

    fn receive(&mut self, length: usize, from: SocketAddr) {
        let Ok(header) = quiche::Header::from_slice(&mut self.packet[..length], CONNECTION_ID)
        else {
            return;
        };
        let number = match self.routes.get(&header.dcid) {
            Some(&number) => number,
            None => match self.accept(&header, length, from) {
                Some(number) => number,
                None => return,
            },
        };
        if let Some(connection) = self.connections.get_mut(&number) {
            connection.touched = true;
            // Packets that cannot be used are dropped by the library, errors of the peer end in its own close.
            let _ = connection.quic.recv(
                &mut self.packet[..length],
                quiche::RecvInfo {
                    from,
                    to: self.local,
                },
            );
        }
    }

    /// A new connection for a first packet.
    fn accept(&mut self, header: &quiche::Header, length: usize, from: SocketAddr) -> Option<u64> {
        if header.ty != quiche::Type::Initial || length < quiche::MIN_CLIENT_INITIAL_LEN {
            return None;
        }
        if !quiche::version_is_supported(header.version) {
            let mut answer = [0; 256];
            let written =
                quiche::negotiate_version(&header.scid, &header.dcid, &mut answer).ok()?;
            let _ = self.socket.send_to(&answer[..written], from);
            return None;
        }
        let own = new_connection_id()?;
        let mut quic = quiche::accept(&own, None, self.local, from, &mut self.quic).ok()?;
        // A full disk must not stop the service; the missing log is noticed.
        let numbers = self.logs.attach(&mut quic).unwrap_or(None);
        let number = self.next_number;
        self.next_number += 1;
        self.routes.insert(own, number);
        self.routes.insert(header.dcid.clone().into_owned(), number);
        let (responses, outbox) = (
            Responses::new(self.scheduler),
            Outbox::new(self.segmentation),
        );
        self.connections.insert(
            number,
            Connection {
                quic,
                http: None,
                responses,
                outbox,
                reasons: Reasons::new(numbers),
                touched: true,
            },
        );
        Some(number)
    }

    /// Let every connection that has something to do do it.
    fn advance(&mut self) {
        let now = Instant::now();
        for (&number, connection) in &mut self.connections {
            let mut looked_at = false;
            if connection.touched
                || connection
                    .deadline()
                    .is_some_and(|deadline| deadline <= now)
            {
                connection.advance(now, &self.http, &self.files);
                connection.renew_ids(number, &mut self.routes);
                connection.outbox.fill(&mut connection.quic);
                looked_at = true;
            }
            connection
                .outbox
                .send(|batch| transmit(&self.socket, batch));
            if looked_at || connection.outbox.is_blocked() {
                connection.say_why_not();
            }
        }
        self.connections
            .retain(|_, connection| !connection.quic.is_closed());
        let open = &self.connections;
        self.routes.retain(|_, number| open.contains_key(number));
    }

    /// The instant to go on at without a packet, and whether the socket must become writable for it.
    fn next_event(&self) -> (Option<Instant>, bool) {
        let deadline = self
            .connections
            .values()
            .map(Connection::deadline)
            .fold(None, earliest);
        (
            deadline,
            self.connections
                .values()
                .any(|connection| connection.outbox.is_blocked()),
        )
    }

    fn close(&mut self) {
        for connection in self.connections.values_mut() {
            let _ = connection
                .quic
                .close(true, http3::NO_ERROR.into(), b"the server ends");
            connection.outbox.fill(&mut connection.quic);
            connection
                .outbox
                .send_all(|batch| transmit(&self.socket, batch));
        }
        self.connections.clear();
    }
}

impl Connection {
    fn deadline(&self) -> Option<Instant> {
        earliest(self.quic.timeout_instant(), self.outbox.wake_at())
    }

    fn advance(&mut self, now: Instant, config: &h3::Config, files: &Files) {
        self.touched = false;
        if self
            .quic
            .timeout_instant()
            .is_some_and(|timeout| timeout <= now)
        {
            self.quic.on_timeout();
        }
        if self.http.is_none() && (self.quic.is_established() || self.quic.is_in_early_data()) {
            self.http = h3::Connection::with_transport(&mut self.quic, config).ok();
        }
        let Some(http) = &mut self.http else { return };
        while let Ok((stream, event)) = http.poll(&mut self.quic) {
            match event {
                h3::Event::Headers { list, .. } => self.responses.add(stream, &list, files),
                h3::Event::Reset(_) => self.responses.forget(stream),
                h3::Event::Data => {
                    while http
                        .recv_body(&mut self.quic, stream, &mut [0; 4096])
                        .is_ok()
                    {}
                }
                h3::Event::Finished | h3::Event::PriorityUpdate | h3::Event::GoAway => {}
            }
        }
        self.responses.write(&mut self.quic, http);
        while self.quic.path_event_next().is_some() {}
    }

    /// Log what keeps it from sending more now.
    fn say_why_not(&mut self) {
        let (ready, taken, stream) = self.responses.standing();
        let own = Own {
            ready,
            taken,
            stream,
            paced: self.outbox.is_paced(),
            socket_full: self.outbox.is_blocked(),
        };
        self.reasons.look(&mut self.quic, &own);
    }

    /// Keep the client in spare connection IDs, without which it cannot migrate.
    fn renew_ids(&mut self, number: u64, routes: &mut HashMap<ConnectionId<'static>, u64>) {
        while let Some(retired) = self.quic.retired_scid_next() {
            routes.remove(&retired);
        }
        while self.quic.scids_left() > 0 {
            let Some(id) = new_connection_id() else {
                return;
            };
            if self.quic.new_scid(&id, reset_token(), false).is_err() {
                return;
            }
            routes.insert(id, number);
        }
    }
}

fn transmit(socket: &UdpSocket, batch: &Batch) -> io::Result<()> {
    if batch.bytes.len() > batch.segment {
        return sys::send_segments(socket, &batch.bytes, batch.segment, batch.to);
    }
    socket.send_to(&batch.bytes, batch.to).map(|_| ())
}

/// Random, because it must not be guessed.
pub fn new_connection_id() -> Option<ConnectionId<'static>> {
    let mut bytes = vec![0; CONNECTION_ID];
    boring::rand::rand_bytes(&mut bytes).ok()?;
    Some(ConnectionId::from_vec(bytes))
}

/// Nobody here keeps it, so no stateless reset is ever sent.
pub fn reset_token() -> u128 {
    let mut bytes = [0; 16];
    let _ = boring::rand::rand_bytes(&mut bytes);
    u128::from_ne_bytes(bytes)
}
