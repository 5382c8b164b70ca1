// SPDX-License-Identifier: Apache-2.0
//! One TLS connection over TCP: records, and what they carry.

mod keys;

use super::application::Application;
use super::handshake::{Content, Message, Messages};
use super::hello::ClientHello;
use super::keylog::KeyLog;
use super::record::{
    Next, Opened, Protection, Records, ALERT, APPLICATION_DATA, CHANGE_CIPHER_SPEC, HANDSHAKE,
    HEADER_BYTES,
};
use super::{names, tls12, RoundTrips};
use crate::tables::{HandshakeStep, Parameter, Tables, TlsRecord};
use crate::{Direction, End, Severity};

const CLOSE_NOTIFY: u8 = 0;
const TLS_1_2: u16 = 0x0303;

const GAP: &str = "the capture lacks bytes of TLS connections, behind which nothing can be read";
const NO_KEYS: &str = "the capture holds TLS connections that the key logs do not open";

/// One direction.
#[derive(Debug, Default)]
struct Way {
    records: Records,
    protection: Protection,
    /// TLS 1.2: comes into force with `ChangeCipherSpec`.
    pending: Option<Box<tls12::Key>>,
}

#[derive(Debug)]
pub(super) struct Session {
    connection: String,
    vantage: Option<End>,
    keys: KeyLog,
    up: Way,
    down: Way,
    messages: Messages,
    client: Option<ClientHello>,
    version: u16,
    /// True if what the client sends is 0-RTT data, until it says otherwise.
    early: bool,
    /// The suite cannot be opened: only what is sent in clear text is read.
    refused: bool,
    is_within_tunnel: bool,
    application: Application,
}

impl Session {
    pub(super) fn new(connection: String, vantage: Option<End>, keys: KeyLog, tunnels: u8) -> Self {
        let name = connection.clone();
        Self {
            application: Application::new(name, vantage, keys.clone(), "https", tunnels),
            connection,
            vantage,
            keys,
            up: Way::default(),
            down: Way::default(),
            messages: Messages::default(),
            client: None,
            version: 0,
            early: false,
            refused: false,
            is_within_tunnel: tunnels > 0,
        }
    }

    /// True if nothing more can or need be read.
    pub(super) fn is_done(&self) -> bool {
        let closed = |way: &Way| matches!(way.protection, Protection::Closed);
        closed(&self.up) && closed(&self.down) || self.application.is_other()
    }

    fn way(&mut self, direction: Direction) -> &mut Way {
        match direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }

    /// The next bytes one way.
    pub(super) fn data(
        &mut self,
        direction: Direction,
        time_ns: i64,
        bytes: &[u8],
        trips: &mut RoundTrips,
        tables: &mut Tables,
    ) {
        let way = self.way(direction);
        if let Protection::Closed = way.protection {
            return;
        }
        way.records.push(bytes);
        let mut records = std::mem::take(&mut way.records);
        loop {
            let passed = records.passed();
            match records.next() {
                Next::Record(header, body) => {
                    let moment = Moment {
                        direction,
                        time_ns,
                        passed,
                    };
                    self.record(moment, header, body, trips, tables);
                }
                Next::Incomplete => break,
                Next::Foreign => {
                    tables.count(
                        "broken_tls_record",
                        Severity::DataLoss,
                        "bytes that are no TLS record where one should begin: the rest this way is not read",
                    );
                    self.close(direction, tables);
                }
            }
            if let Protection::Closed = self.way(direction).protection {
                return;
            }
        }
        self.way(direction).records = records;
    }

    fn close(&mut self, direction: Direction, tables: &mut Tables) {
        *self.way(direction) = Way {
            protection: Protection::Closed,
            ..Way::default()
        };
        self.application.gap(direction, 0, tables);
    }

    /// Memory that waits for more bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.up.records.held_bytes()
            + self.down.records.held_bytes()
            + self.messages.held_bytes()
            + self.application.held_bytes()
    }

    pub(super) fn gap(&mut self, direction: Direction, bytes_missing: u64, tables: &mut Tables) {
        cannot_tell(tables, GAP);
        self.application.gap(direction, bytes_missing, tables);
        *self.way(direction) = Way {
            protection: Protection::Closed,
            ..Way::default()
        };
    }

    /// TCP says that one end sends no more, whether TLS had said so or not.
    pub(super) fn end(&mut self, direction: Direction, time_ns: i64, tables: &mut Tables) {
        self.application.end(direction, time_ns, tables);
    }

    pub(super) fn finish(&mut self, tables: &mut Tables) {
        // Without the server's answer nothing speaks against 0-RTT data.
        self.application.early_verdict(true, tables);
        self.application.finish(tables);
    }

    fn record(
        &mut self,
        moment: Moment,
        header: [u8; 5],
        body: &mut [u8],
        trips: &mut RoundTrips,
        tables: &mut Tables,
    ) {
        let direction = moment.direction;
        // Out of the way, so that what the record says may change it.
        let mut protection = std::mem::take(&mut self.way(direction).protection);
        let opened = protection.open(header, body);
        self.way(direction).protection = protection;
        let Some(opened) = opened else {
            tables.count(
                "undecryptable_record",
                Severity::DataLoss,
                "a TLS record that the keys do not open: they are of another connection, or the log is incomplete",
            );
            cannot_tell(tables, NO_KEYS);
            self.close(direction, tables);
            return;
        };
        self.tell(moment, header, &opened, tables);
        match opened.kind {
            HANDSHAKE => {
                self.messages.feed(direction, opened.content);
                while let Some(message) = self.messages.next(direction) {
                    self.message(moment, &message, trips, tables);
                }
            }
            APPLICATION_DATA if self.early && direction == Direction::Up => {
                self.application.early(moment.time_ns, opened.content);
            }
            APPLICATION_DATA => {
                self.application
                    .data(direction, moment.time_ns, opened.content, tables);
            }
            ALERT => self.alert(moment, opened.content, tables),
            CHANGE_CIPHER_SPEC if (1..=TLS_1_2).contains(&self.version) => {
                self.change_cipher_spec(direction, tables);
            }
            _ => {}
        }
    }

    /// The row of a record that was opened.
    fn tell(&self, moment: Moment, header: [u8; 5], opened: &Opened<'_>, tables: &mut Tables) {
        // A record within a tunnel has no place of its own in the TCP stream.
        if self.is_within_tunnel {
            return;
        }
        let [.., high, low] = header;
        let body_bytes = u64::from(u16::from_be_bytes([high, low]));
        tables.tls_records.push(TlsRecord {
            vantage: self.vantage.map(End::as_str),
            connection: Some(&self.connection),
            time_ns: moment.time_ns,
            event: moment.direction.event(self.vantage),
            direction: Some(moment.direction.as_str()),
            content_type: names::content_type(opened.kind),
            // As the column `packet_number` counts: the SYN is 0.
            first_byte: moment.passed + 1,
            length_bytes: HEADER_BYTES as u64 + body_bytes,
            content_bytes: opened.content.len() as u64,
        });
    }

    fn message(
        &mut self,
        moment: Moment,
        message: &Message,
        trips: &mut RoundTrips,
        tables: &mut Tables,
    ) {
        let direction = moment.direction;
        let content = message.content();
        tables.handshake.push(HandshakeStep {
            vantage: self.vantage.map(End::as_str),
            connection: Some(&self.connection),
            time_ns: moment.time_ns,
            transport: "tcp",
            direction: Some(direction.as_str()),
            step: &message.step(&content),
            round_trip: Some(trips.of(direction)),
            length_bytes: Some(message.length_bytes()),
            detail: content.detail().as_deref(),
        });
        match (direction, content) {
            (Direction::Up, Content::ClientHello(hello)) => self.client_hello(hello),
            (Direction::Down, Content::ServerHello(hello)) if !hello.retry_request => {
                self.server_hello(&hello, tables);
            }
            (Direction::Down, Content::EncryptedExtensions(chosen)) => {
                self.encrypted_extensions(&chosen, tables);
            }
            _ => self.change_keys(direction, message.kind, tables),
        }
    }

    fn alert(&mut self, moment: Moment, content: &[u8], tables: &mut Tables) {
        let &[_, description] = content else {
            return;
        };
        if description == CLOSE_NOTIFY {
            (self.application).end(moment.direction, moment.time_ns, tables);
        }
        let name = match moment.direction {
            Direction::Up => "alert.client.description",
            Direction::Down => "alert.server.description",
        };
        tables.parameters.push(Parameter {
            vantage: self.vantage.map(End::as_str),
            connection: Some(&self.connection),
            time_ns: moment.time_ns,
            name,
            value: &names::alert(description),
        });
    }
}

/// The instant at which a record came, its direction, and how many bytes of that direction came before it.
#[derive(Clone, Copy)]
struct Moment {
    direction: Direction,
    time_ns: i64,
    passed: u64,
}

fn cannot_tell(tables: &mut Tables, reason: &'static str) {
    for table in ["http_frames", "http_requests", "streams", "tls_records"] {
        tables.cannot_tell(table, None, reason);
    }
}
