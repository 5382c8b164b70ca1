// SPDX-License-Identifier: Apache-2.0
//! Messages of the TLS handshake: over TCP each has an event; over QUIC the server's are in the CRYPTO frames, and of
//! the client's only the extent is told.

use crate::tables::{HandshakeStep, Tables};
use crate::tls::handshake::{Message, Messages};
use crate::Direction;
use std::collections::BTreeMap;

/// Bytes of one encryption level that wait for a gap before them to close.
const MAX_STASHED_BYTES: usize = 1 << 17;

/// One connection's.
#[derive(Debug)]
pub(super) struct Handshake {
    transport: &'static str,
    round_trip: u32,
    server_spoke: bool,
    levels: [Level; 3],
    /// End of the client's CRYPTO frames of the level `initial`.
    hello_end: u64,
    /// Offset of the `ClientHello` that answers a `HelloRetryRequest`.
    second_hello: Option<u64>,
    client_finished: bool,
}

#[derive(Debug, Default)]
struct Level {
    messages: Messages,
    next: u64,
    stash: BTreeMap<u64, Vec<u8>>,
}

/// The place of an encryption level by Chromium's name.
fn level_of(name: &str) -> Option<usize> {
    [
        "ENCRYPTION_INITIAL",
        "ENCRYPTION_HANDSHAKE",
        "ENCRYPTION_FORWARD_SECURE",
    ]
    .iter()
    .position(|known| *known == name)
}

impl Handshake {
    pub(super) fn new(transport: &'static str) -> Self {
        Self {
            transport,
            round_trip: 0,
            server_spoke: false,
            levels: Default::default(),
            hello_end: 0,
            second_hello: None,
            client_finished: false,
        }
    }

    /// A step that is told without the message itself.
    pub(super) fn step(
        &mut self,
        connection: &str,
        time_ns: i64,
        direction: Direction,
        (step, length, detail): (&str, Option<u64>, Option<&str>),
        tables: &mut Tables,
    ) {
        if direction == Direction::Down {
            self.server_spoke = true;
        } else if std::mem::take(&mut self.server_spoke) {
            self.round_trip = self.round_trip.saturating_add(1);
        }
        tables.handshake.push(HandshakeStep {
            vantage: Some("client"),
            connection: Some(connection),
            time_ns,
            transport: self.transport,
            direction: Some(direction.as_str()),
            step,
            round_trip: Some(self.round_trip),
            length_bytes: length,
            detail,
        });
    }

    /// A message of TLS; without its bytes where the log keeps them back.
    pub(super) fn message(
        &mut self,
        connection: &str,
        time_ns: i64,
        direction: Direction,
        message: &Message,
        tables: &mut Tables,
    ) {
        let content = message.content();
        let step = message.step(&content);
        if step == "hello_retry_request" {
            self.second_hello = Some(self.hello_end);
        }
        let length = (!message.body.is_empty()).then(|| message.length_bytes());
        self.step(
            connection,
            time_ns,
            direction,
            (&step, length, content.detail().as_deref()),
            tables,
        );
    }

    /// A CRYPTO frame that the client sent.
    pub(super) fn crypto_sent(
        &mut self,
        connection: &str,
        time_ns: i64,
        (level, offset, length): (&str, u64, u64),
        tables: &mut Tables,
    ) {
        match level_of(level) {
            Some(0) => {
                let first = self.hello_end == 0 && offset == 0;
                let second = self.second_hello == Some(offset);
                if first || second {
                    self.second_hello = None;
                    self.step(
                        connection,
                        time_ns,
                        Direction::Up,
                        ("client_hello", None, None),
                        tables,
                    );
                }
                self.hello_end = self.hello_end.max(offset.saturating_add(length));
            }
            Some(1) if offset == 0 && !self.client_finished => {
                self.client_finished = true;
                self.step(
                    connection,
                    time_ns,
                    Direction::Up,
                    ("finished", None, None),
                    tables,
                );
            }
            _ => {}
        }
    }

    /// A CRYPTO frame that the client received.
    pub(super) fn crypto_received(
        &mut self,
        connection: &str,
        time_ns: i64,
        (level, offset, bytes): (&str, u64, Vec<u8>),
        tables: &mut Tables,
    ) {
        let Some(level) = level_of(level).and_then(|at| self.levels.get_mut(at)) else {
            return;
        };
        level.add(offset, bytes);
        let mut complete = Vec::new();
        while let Some(message) = level.messages.next(Direction::Down) {
            complete.push(message);
        }
        for message in complete {
            self.message(connection, time_ns, Direction::Down, &message, tables);
        }
    }
}

impl Level {
    /// Hand on what is in order now; what was there before is passed over.
    fn add(&mut self, offset: u64, bytes: Vec<u8>) {
        let stashed: usize = self.stash.values().map(Vec::len).sum();
        if stashed + bytes.len() <= MAX_STASHED_BYTES {
            self.stash.insert(offset, bytes);
        }
        while let Some(entry) = self
            .stash
            .first_entry()
            .filter(|entry| *entry.key() <= self.next)
        {
            let (start, bytes) = entry.remove_entry();
            let known = usize::try_from(self.next - start).unwrap_or(usize::MAX);
            let fresh = bytes.get(known..).unwrap_or_default();
            self.messages.feed(Direction::Down, fresh);
            self.next = self.next.saturating_add(fresh.len() as u64);
        }
    }
}
