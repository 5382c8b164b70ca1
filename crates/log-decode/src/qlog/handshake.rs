// SPDX-License-Identifier: Apache-2.0
//! The handshake as far as a qlog shows it: it names packets and CRYPTO frames, not the messages inside.

use super::losses::Who;
use crate::tables::{HandshakeStep, Tables};

/// Steps kept until it is known which `ServerHello` was one; a handshake has a dozen.
const MAX_PENDING: usize = 64;

#[derive(Debug)]
struct Step {
    time_ns: i64,
    direction: Option<&'static str>,
    name: &'static str,
    round_trip: Option<u32>,
}

/// State of a connection's handshake.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    pending: Vec<Step>,
    /// Steps that have been written, each of them once.
    seen: Vec<(&'static str, Option<&'static str>)>,
    last: Option<&'static str>,
    round_trip: u32,
}

/// The messages that start at offset 0 of a CRYPTO stream, by the packets that carry it.
fn first_message(packet_type: Option<&str>, direction: Option<&str>) -> Option<&'static str> {
    Some(match (packet_type?, direction?) {
        ("initial", "up") => "client_hello",
        ("initial", _) => "server_hello",
        ("handshake", "down") => "encrypted_extensions",
        ("handshake", _) => "finished",
        ("1RTT", "down") => "new_session_ticket",
        _ => return None,
    })
}

impl Handshake {
    /// A CRYPTO frame.
    pub(super) fn crypto(
        &mut self,
        (packet_type, direction): (Option<&'static str>, Option<&'static str>),
        offset: u64,
        time_ns: i64,
        who: Who<'_>,
        tables: &mut Tables,
    ) {
        if offset == 0 {
            if let Some(name) = first_message(packet_type, direction) {
                self.step(name, direction, time_ns, who, tables);
            }
        } else if packet_type == Some("initial") && direction == Some("up") && self.answered() {
            // More from the client at this level, after the server has answered: a second ClientHello, so the answer
            // was a HelloRetryRequest (RFC 8446 section 4.1.4). What was sent again does not come behind.
            self.seen.push(("second_flight", direction));
        } else if packet_type == Some("initial")
            && direction == Some("down")
            && self.has("second_flight")
        {
            for step in &mut self.pending {
                if step.name == "server_hello" {
                    step.name = "hello_retry_request";
                }
            }
            self.seen
                .retain(|(name, _)| !matches!(*name, "server_hello" | "second_flight"));
            self.step("server_hello", direction, time_ns, who, tables);
        }
    }

    fn has(&self, name: &str) -> bool {
        self.seen.iter().any(|(seen, _)| *seen == name)
    }

    fn answered(&self) -> bool {
        self.has("server_hello") && !self.has("encrypted_extensions") && !self.has("second_flight")
    }

    /// A step that counts when it is first seen; later ones are sent again.
    pub(super) fn step(
        &mut self,
        name: &'static str,
        direction: Option<&'static str>,
        time_ns: i64,
        who: Who<'_>,
        tables: &mut Tables,
    ) {
        if self.seen.contains(&(name, direction)) {
            return;
        }
        self.seen.push((name, direction));
        if direction == Some("up") && self.last == Some("down") {
            self.round_trip += 1;
        }
        self.last = direction.or(self.last);
        if self.pending.len() == MAX_PENDING {
            self.finish(who, tables);
        }
        self.pending.push(Step {
            time_ns,
            direction,
            name,
            round_trip: direction.map(|_| self.round_trip),
        });
    }

    /// Write the steps.
    pub(super) fn finish(&mut self, who: Who<'_>, tables: &mut Tables) {
        for step in self.pending.drain(..) {
            tables.handshake.push(HandshakeStep {
                vantage: who.vantage,
                connection: Some(who.connection),
                time_ns: step.time_ns,
                transport: "quic",
                direction: step.direction,
                step: step.name,
                round_trip: step.round_trip,
                length_bytes: None,
                detail: None,
            });
        }
    }
}

/// Takes what the program says of its keys or its state.
pub(super) fn said(
    step: &str,
    direction: Option<&str>,
    detail: &str,
    time_ns: i64,
    who: Who<'_>,
    tables: &mut Tables,
) {
    tables.handshake.push(HandshakeStep {
        vantage: who.vantage,
        connection: Some(who.connection),
        time_ns,
        transport: "quic",
        direction,
        step,
        round_trip: None,
        length_bytes: None,
        detail: (!detail.is_empty()).then_some(detail),
    });
}
