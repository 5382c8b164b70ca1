// SPDX-License-Identifier: Apache-2.0
//! A QUIC endpoint: the client asks on one stream, on which the server's program answers.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint as Quinn, Event, Side, StreamEvent,
    StreamId, Transmit,
};

use crate::case::Case;
use crate::quic::config;
use crate::quic::mirror::Mirror;
use crate::quic::program::Answer;
use crate::quic::told::{Ear, Heard};
use crate::quic::wire::{Packet, Reader, Space};
use crate::state::{Data, Held, Sent, Step, Tightened, Trigger};
use crate::world::Host;

const REQUEST_BYTES: usize = 100;
const UDP_HEADERS: u64 = 28;

/// A datagram and what it says.
#[derive(Clone, Debug)]
pub struct Datagram {
    bytes: BytesMut,
    /// Packets in it, in order.
    pub packets: Vec<Packet>,
}

/// A row of the server's own log: instant, window, bytes in flight.
pub type Metrics = (u64, u64, u64);

/// One end.
pub struct Endpoint {
    base: Instant,
    quinn: Quinn,
    connection: Option<(ConnectionHandle, Connection)>,
    remote: SocketAddr,
    side: Side,
    reader: Reader,
    responses: Vec<Vec<u8>>,
    stream: Option<StreamId>,
    answer: Answer,
    /// Bits a second that a pacer of its own lets go, and the instant of the next packet.
    pace: Option<u64>,
    paced_ns: u64,
    /// Instant until which it holds one that is there.
    holds_ns: Option<u64>,
    /// Instant at which the earliest of quinn's timers ends.
    due_ns: Option<u64>,
    finished: bool,
    ear: Ear,
    /// What is in flight and what was lost.
    pub mirror: Mirror,
    /// Limits of the client as they came: connection, stream.
    limits: (u64, u64),
    /// The server's own log.
    pub metrics: Vec<Metrics>,
    stirred: Option<Trigger>,
    sent: Option<Sent>,
    /// What held it back after each of its steps.
    pub steps: Vec<Step>,
    /// Probe timeouts.
    pub probes: Vec<u64>,
}

fn address(host: u8, port: u16) -> SocketAddr {
    (Ipv4Addr::new(10, 77, 0, host), port).into()
}

impl Endpoint {
    /// The end that asks; `base` is the instant 0.
    pub fn client(case: &Case, base: Instant) -> Self {
        let mut made = Self::new(case, base, None);
        let connected = made
            .quinn
            .connect(base, config::client(case), made.remote, "server.test");
        made.connection = Some(connected.expect("an address and a name"));
        made.stirred = Some(Trigger::Other);
        made
    }

    /// The end that answers.
    pub fn server(case: &Case, base: Instant) -> Self {
        Self::new(case, base, Some(Ear::default()))
    }

    fn new(case: &Case, base: Instant, ear: Option<Ear>) -> Self {
        let is_server = ear.is_some();
        let ear = ear.unwrap_or_default();
        let server = is_server.then(|| config::server(case, ear.clone()));
        Self {
            base,
            quinn: config::endpoint(case, server),
            connection: None,
            remote: if is_server {
                address(1, 40_000)
            } else {
                address(2, 443)
            },
            side: if is_server {
                Side::Server
            } else {
                Side::Client
            },
            reader: Reader::default(),
            responses: Vec::new(),
            stream: None,
            answer: Answer::new(case),
            pace: case.pace.filter(|_| is_server),
            paced_ns: 0,
            holds_ns: None,
            due_ns: None,
            finished: false,
            ear,
            mirror: Mirror::new(case.packet_threshold),
            limits: (
                case.receive_window.unwrap_or(u64::MAX),
                case.stream_window.unwrap_or(u64::MAX),
            ),
            metrics: Vec::new(),
            stirred: None,
            sent: None,
            steps: Vec::new(),
            probes: Vec::new(),
        }
    }

    fn at(&self, now: u64) -> Instant {
        self.base + Duration::from_nanos(now)
    }

    /// Takes what quinn tells, and lets the program do its part.
    fn act(&mut self, now: u64) {
        self.answer.resume(now);
        while let Some((_, connection)) = &mut self.connection {
            match connection.poll() {
                Some(Event::Connected) if !self.side.is_server() => self.ask(),
                Some(Event::Stream(StreamEvent::Opened { dir: Dir::Bi })) => {
                    self.stream = connection.streams().accept(Dir::Bi);
                    self.read();
                }
                Some(Event::Stream(StreamEvent::Readable { .. })) => self.read(),
                Some(Event::ConnectionLost { reason }) => panic!("the connection broke: {reason}"),
                Some(_) => {}
                None => break,
            }
        }
        if self.side.is_server() && self.finished {
            self.answer(now);
        }
    }

    fn ask(&mut self) {
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        let stream = connection.streams().open(Dir::Bi).expect("a first stream");
        let mut sending = connection.send_stream(stream);
        sending
            .write(&[0; REQUEST_BYTES])
            .expect("room for a request");
        sending.finish().expect("an open stream");
        self.stream = Some(stream);
    }

    /// Reads what has come, at once; notes the end.
    fn read(&mut self) {
        let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) else {
            return;
        };
        let mut receiving = connection.recv_stream(stream);
        let Ok(mut chunks) = receiving.read(true) else {
            return;
        };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.finished = true;
                    break;
                }
                Err(_) => break,
            }
        }
        let _ = chunks.finalize();
    }

    fn answer(&mut self, now: u64) {
        if let (Some((_, connection)), Some(stream)) = (&mut self.connection, self.stream) {
            let mut sending = connection.send_stream(stream);
            self.answer.write(now, self.mirror.highest, &mut sending);
        }
    }

    fn hear_limits(&mut self, packet: &Packet) {
        for frame in &packet.frames {
            match (frame.name, frame.value) {
                ("max_data", Some(limit)) => self.limits.0 = self.limits.0.max(limit),
                ("max_stream_data", Some(limit)) => self.limits.1 = self.limits.1.max(limit),
                _ => {}
            }
        }
    }

    /// What keeps new data back, the congestion window aside.
    fn data(&self) -> Data {
        if self.mirror.has_lost() || self.mirror.highest < self.answer.written {
            Data::There
        } else {
            self.answer.lacks(self.limits, self.finished)
        }
    }

    fn note_metrics(&mut self, now: u64) {
        let Some((_, connection)) = &self.connection else {
            return;
        };
        let row = (now, connection.stats().path.cwnd, self.mirror.in_flight());
        let is_known = |last: &Metrics| (last.1, last.2) == (row.1, row.2);
        if !self.metrics.last().is_some_and(is_known) {
            self.metrics.push(row);
        }
    }

    /// Takes in what quinn tells its congestion control; what it counts in flight.
    fn listen(&mut self, now: u64) -> Option<u64> {
        let ear = self.ear.clone();
        let mut heard = ear.lock().expect("one thread");
        self.mirror.hear(now, &mut heard)
    }

    /// Follows what the client's packets change.
    fn follow(&mut self, now: u64, packets: &[Packet]) {
        for packet in packets {
            self.mirror.receive(packet);
            self.hear_limits(packet);
        }
        let counted = self.listen(now);
        // With the end of the handshake quinn forgets its packets, after it has counted.
        let open = self.connection.as_ref().map(|(_, connection)| connection);
        if open.is_some_and(|connection| !connection.is_handshaking()) {
            self.mirror.discard(Space::Handshake);
        }
        let acks = |packet: &&Packet| packet.frames.iter().any(|frame| frame.name == "ack");
        let last = packets.iter().rfind(acks).map(|packet| packet.space);
        self.mirror
            .check(counted.filter(|_| last == Some(Space::Data)));
        self.note_metrics(now);
    }

    fn tightened(&self) -> Tightened {
        let Heard { tightened, .. } = *self.ear.lock().expect("one thread");
        tightened
    }

    fn stir(&mut self, trigger: Trigger) {
        if self.stirred.is_none_or(|before| before == Trigger::Other) {
            self.stirred = Some(trigger);
        }
    }

    fn endpoint_events(&mut self) {
        while let Some((handle, connection)) = &mut self.connection {
            let Some(event) = connection.poll_endpoint_events() else {
                return;
            };
            if let Some(event) = self.quinn.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }

    fn datagram(&mut self, now: u64, bytes: &[u8]) -> (u64, Datagram) {
        let packets = self.reader.read(bytes);
        if self.side.is_server() {
            for packet in &packets {
                let again = self.mirror.send(now, packet);
                let sent = if again { Sent::Again } else { Sent::New };
                self.sent = self.sent.or(packet.in_flight().then_some(sent));
            }
        }
        let size = u64::try_from(bytes.len()).expect("a datagram") + UDP_HEADERS;
        let bytes = BytesMut::from(bytes);
        (size, Datagram { bytes, packets })
    }
}

impl Host for Endpoint {
    type Packet = Datagram;

    fn wakes_ns(&self) -> Option<u64> {
        let own = self.answer.resumes_ns.into_iter().chain(self.holds_ns);
        self.due_ns.into_iter().chain(own).min()
    }

    fn wake(&mut self, now: u64) {
        let at = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(at);
        }
        let before = self.mirror.lost.len();
        self.listen(now);
        self.stir(if self.mirror.lost.len() > before {
            Trigger::LossTimer
        } else {
            Trigger::Other
        });
        self.act(now);
        self.endpoint_events();
    }

    fn receive(&mut self, now: u64, datagram: Datagram) {
        let mut buf = Vec::new();
        let at = self.at(now);
        let event = self
            .quinn
            .handle(at, self.remote, None, None, datagram.bytes, &mut buf);
        match event {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.quinn.accept(incoming, at, &mut buf, None);
                self.connection = Some(accepted.map_err(|error| error.cause).expect("a client"));
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(Transmit { size, .. })) => {
                self.responses.push(buf[..size].to_vec());
            }
            None => {}
        }
        if self.side.is_server() {
            self.follow(now, &datagram.packets);
        }
        self.stir(Trigger::Packet);
        self.act(now);
        self.endpoint_events();
    }

    fn send(&mut self, now: u64) -> Option<(u64, Datagram)> {
        if let Some(response) = self.responses.pop() {
            return Some(self.datagram(now, &response));
        }
        let is_held = self.pace.is_some() && self.finished && now < self.paced_ns;
        self.holds_ns = is_held.then_some(self.paced_ns);
        if is_held {
            return None;
        }
        let at = self.at(now);
        let mut buf = Vec::new();
        let (_, connection) = self.connection.as_mut()?;
        let transmit = connection.poll_transmit(at, 1, &mut buf);
        self.endpoint_events();
        let size = transmit?.size;
        let sent = self.datagram(now, &buf[..size]);
        if let Some(rate) = self.pace {
            self.paced_ns = now + sent.0 * 8_000_000_000 / rate;
        }
        self.act(now);
        Some(sent)
    }

    fn settle(&mut self, now: u64) {
        if let Some((_, connection)) = &mut self.connection {
            let due = connection.poll_timeout();
            let due = due.map(|due| due.saturating_duration_since(self.base).as_nanos());
            self.due_ns = due.map(|ns| u64::try_from(ns).expect("an instant within years"));
        }
        let Some(mut trigger) = self.stirred.take() else {
            return;
        };
        if !self.side.is_server() {
            return;
        }
        let Some((_, connection)) = &self.connection else {
            return;
        };
        let path = connection.stats().path;
        let full = self.mirror.in_flight() + u64::from(path.current_mtu) >= path.cwnd;
        let data = self.data();
        let sent = self.sent.take();
        let waited = self.steps.last().map(|step| step.held);
        if trigger == Trigger::Other && sent.is_some() && waited.is_some_and(Held::waits_for_peer) {
            trigger = Trigger::ProbeTimer;
            self.probes.push(now);
        }
        let held = Held {
            window: full.then(|| self.tightened()),
            data,
            pacing: !full && data == Data::There,
        };
        self.steps.push(Step {
            at_ns: now,
            trigger,
            sent,
            held,
        });
        self.note_metrics(now);
    }

    fn done(&self) -> bool {
        !self.side.is_server() && self.finished
    }
}
