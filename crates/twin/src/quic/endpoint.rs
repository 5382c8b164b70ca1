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
use crate::quic::observer::Observer;
use crate::quic::program::Answer;
use crate::quic::told::Ear;
use crate::quic::wire::{Packet, Reader};
use crate::state::Trigger;
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
    /// Instant at which it had read all of what the other end sends on the stream.
    pub asked_ns: Option<u64>,
    think_ns: u64,
    /// Instant at which its program has an answer.
    answers_ns: Option<u64>,
    stirred: Option<Trigger>,
    /// Observer of its state; of a client's nothing is known.
    pub observer: Observer,
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
            asked_ns: None,
            think_ns: case.think_ns,
            answers_ns: None,
            stirred: None,
            observer: Observer::new(case, ear),
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
            let answers_ns = *self.asked_ns.get_or_insert(now) + self.think_ns;
            self.answers_ns = Some(answers_ns).filter(|at| *at > now);
            if self.answers_ns.is_none() {
                self.answer(now);
            }
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
            let highest = self.observer.mirror.highest;
            self.answer.write(now, highest, &mut sending);
        }
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
            self.observer.send(now, &packets);
        }
        let size = u64::try_from(bytes.len()).expect("a datagram") + UDP_HEADERS;
        let bytes = BytesMut::from(bytes);
        (size, Datagram { bytes, packets })
    }
}

impl Host for Endpoint {
    type Packet = Datagram;

    fn wakes_ns(&self) -> Option<u64> {
        let own = [self.answer.resumes_ns, self.holds_ns, self.answers_ns];
        let own = own.into_iter().flatten();
        self.due_ns.into_iter().chain(own).min()
    }

    fn wake(&mut self, now: u64) {
        let at = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(at);
        }
        let loses = self.observer.loses(now);
        self.stir(if loses {
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
            let open = self.connection.as_ref().map(|(_, connection)| connection);
            self.observer.follow(now, &datagram.packets, open);
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
        let Some(trigger) = self.stirred.take() else {
            return;
        };
        if let (Side::Server, Some((_, connection))) = (self.side, &self.connection) {
            let program = (&self.answer, self.finished);
            self.observer.step(now, trigger, connection, program);
        }
    }

    fn done(&self) -> bool {
        !self.side.is_server() && self.finished
    }
}
