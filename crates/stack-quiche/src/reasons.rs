// SPDX-License-Identifier: Apache-2.0
//! Reasons for which a connection of the server does not send, in its qlog: `*_data_blocked_updated`, whenever that changes.
//!
//! The library does not say why `send()` is done. Told by it are times of release (pacing), that the amplification limit
//! was reached, and that a stream's credit is used up, by the frame that it writes then. Told by this program are what it
//! has to write and that its socket is full. Concluded (`inferred`) are the other two, where the program has bytes that the
//! library does not take: the congestion window has no room for a datagram, by the numbers in the library's log; or it
//! has, and the library has announced that the connection's credit does not suffice. Where neither holds, nothing is said.
//! Data that the library itself still holds, mostly lost ones, are not seen.

use std::sync::Arc;

use qlog::events::{EventImportance, JsonEvent};
use stack_common::blocked;

use crate::library::{self, Counts};
use crate::tap::Numbers;

/// State of this program and its outbox after the library has made all packets that it would.
#[derive(Debug, Clone, Copy, Default)]
pub struct Own {
    /// Bytes of bodies that the library has not taken.
    pub ready: u64,
    /// Bytes of bodies that it has taken so far.
    pub taken: u64,
    /// The stream of the only open response.
    pub stream: Option<u64>,
    /// True if packets, or the making of more, wait for their time.
    pub paced: bool,
    /// True if the socket takes no more.
    pub socket_full: bool,
}

/// The congestion window, and whether it has no room for a datagram.
#[derive(Debug, Clone, Copy)]
struct Window {
    size: u64,
    is_full: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    Pacing,
    Amplification,
    Window,
    ConnectionCredit,
    /// Credit of this stream, or of one of several.
    StreamCredit(Option<u64>),
    Socket,
}

/// Follows one connection.
#[derive(Debug, Default)]
pub struct Reasons {
    numbers: Option<Arc<Numbers>>,
    idle: Option<bool>,
    hold: Option<Hold>,
    taken: u64,
    last: Counts,
    /// Counts at the look before the one at which the library last took something.
    at_progress: Counts,
    /// Packets received when the amplification limit was reached, while it holds.
    amplified_at: Option<usize>,
}

impl Reasons {
    /// Reasons of a connection with a qlog, from which `numbers` are read; without one it says nothing.
    pub fn new(numbers: Option<Arc<Numbers>>) -> Self {
        Self {
            numbers: numbers.filter(|_| library::COUNTS),
            ..Self::default()
        }
    }

    /// Look at a connection that has just made its packets, and log what has changed.
    pub fn look(&mut self, quic: &mut quiche::Connection, own: &Own) {
        let Some(numbers) = &self.numbers else {
            return;
        };
        let window = numbers.window().map(|(size, room)| Window {
            size,
            is_full: room < quic.max_send_udp_payload_size() as u64,
        });
        let counts = Counts::of(quic);
        for event in self.events(&counts, own, window) {
            if let Some(log) = quic.qlog_streamer() {
                // A full disk costs the log, not the transfer.
                let _ = log.add_event_now(event);
            }
        }
    }

    fn events(&mut self, counts: &Counts, own: &Own, window: Option<Window>) -> Vec<JsonEvent> {
        let hold = self.hold(counts, own, window);
        let mut events = Vec::new();
        if hold != self.hold {
            events.extend(self.hold.map(|before| event(before, false, own, None)));
            events.extend(hold.map(|now| event(now, true, own, window)));
            self.hold = hold;
        }
        let idle = own.ready == 0;
        if self.idle != Some(idle) {
            let mut event = of_connection(idle, "application", false, own);
            if let (None, Some(members)) = (self.idle, event.data.as_object_mut()) {
                members.remove("old");
            }
            events.push(event);
            self.idle = Some(idle);
        }
        events
    }

    fn hold(&mut self, counts: &Counts, own: &Own, window: Option<Window>) -> Option<Hold> {
        if own.taken != self.taken {
            self.taken = own.taken;
            self.at_progress = self.last;
        }
        if counts.amplification > self.last.amplification {
            self.amplified_at = Some(counts.received);
        } else if self.amplified_at != Some(counts.received) {
            self.amplified_at = None;
        }
        let since = self.at_progress;
        self.last = *counts;
        if self.amplified_at.is_some() {
            return Some(Hold::Amplification);
        }
        if own.socket_full {
            return Some(Hold::Socket);
        }
        if own.paced {
            return Some(Hold::Pacing);
        }
        if own.ready == 0 {
            return None;
        }
        if counts.stream_credit > since.stream_credit {
            return Some(Hold::StreamCredit(own.stream));
        }
        // DATA_BLOCKED is written as soon as the credit is less than what is offered, window or not.
        match window {
            Some(window) if window.is_full => Some(Hold::Window),
            Some(_) if counts.connection_credit > since.connection_credit => {
                Some(Hold::ConnectionCredit)
            }
            _ => None,
        }
    }
}

fn event(hold: Hold, blocked: bool, own: &Own, window: Option<Window>) -> JsonEvent {
    let reason = match hold {
        Hold::Pacing => "pacing",
        Hold::Amplification => "amplification_protection",
        Hold::Window => "congestion_control",
        Hold::ConnectionCredit => "connection_flow_control",
        Hold::StreamCredit(_) => "stream_flow_control",
        Hold::Socket => "socket_full",
    };
    let inferred = matches!(hold, Hold::Window | Hold::ConnectionCredit);
    let mut event = of_connection(blocked, reason, inferred, own);
    if let (Hold::Window, Some(window)) = (hold, window) {
        event.data["limit"] = window.size.into();
    }
    if let Hold::StreamCredit(Some(stream)) = hold {
        blocked::OF_STREAM.clone_into(&mut event.name);
        event.data["stream_id"] = stream.into();
    }
    event
}

/// The library's types of these events lack a place for limits, and its log leaves the events out.
fn of_connection(blocked: bool, reason: &str, inferred: bool, own: &Own) -> JsonEvent {
    let mut data = blocked::change(blocked, reason, inferred);
    data["ready_bytes"] = own.ready.into();
    JsonEvent {
        time: 0.0,
        importance: EventImportance::Core,
        name: blocked::OF_CONNECTION.to_owned(),
        data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Window = Window {
        size: 12_000,
        is_full: true,
    };
    const ROOMY: Window = Window {
        size: 12_000,
        is_full: false,
    };

    /// Reason and state of each event, without its numbers, while the window is full.
    fn told(reasons: &mut Reasons, counts: Counts, own: Own) -> Vec<String> {
        told_with(reasons, counts, own, FULL)
    }

    fn told_with(reasons: &mut Reasons, counts: Counts, own: Own, window: Window) -> Vec<String> {
        let events = reasons.events(&counts, &own, Some(window));
        events
            .into_iter()
            .map(|JsonEvent { data, .. }| {
                let mut line = format!("{} {}", data["new"], data["reason"]).replace('"', "");
                if data["inferred"] == true {
                    line += " inferred";
                }
                for member in ["limit", "stream_id"] {
                    line += &data
                        .get(member)
                        .map_or(String::new(), |value| format!(" {value}"));
                }
                line
            })
            .collect()
    }

    fn busy(taken: u64) -> Own {
        Own {
            ready: 1000,
            taken,
            stream: Some(4),
            ..Own::default()
        }
    }

    /// A response is taken up to the window, in rounds; only its beginning and its end change anything.
    #[test]
    fn the_window_holds_until_all_is_taken() {
        let mut reasons = Reasons::default();
        let counts = Counts::default();
        assert_eq!(
            told(&mut reasons, counts, Own::default()),
            ["blocked application"]
        );
        assert_eq!(
            told(&mut reasons, counts, busy(500)),
            [
                "blocked congestion_control inferred 12000",
                "unblocked application"
            ]
        );
        assert!(told(&mut reasons, counts, busy(800)).is_empty());
        let done = Own {
            taken: 1800,
            ..Own::default()
        };
        assert_eq!(
            told(&mut reasons, counts, done),
            [
                "unblocked congestion_control inferred",
                "blocked application"
            ]
        );
    }

    /// The library writes `STREAM_DATA_BLOCKED` when it has data for a stream and no credit; a higher limit ends that.
    #[test]
    fn a_streams_credit_is_what_the_library_announces() {
        let mut reasons = Reasons::default();
        let mut counts = Counts::default();
        told(&mut reasons, counts, busy(500));
        counts.stream_credit = 1;
        assert_eq!(
            told(&mut reasons, counts, busy(900)),
            [
                "unblocked congestion_control inferred",
                "blocked stream_flow_control 4"
            ]
        );
        assert!(told_with(&mut reasons, counts, busy(900), ROOMY).is_empty());
        assert_eq!(
            told(&mut reasons, counts, busy(1500)),
            [
                "unblocked stream_flow_control 4",
                "blocked congestion_control inferred 12000"
            ]
        );
    }

    /// `DATA_BLOCKED` comes before the credit is used up: it counts where the window has room.
    #[test]
    fn a_connections_credit_needs_an_open_window() {
        let mut reasons = Reasons::default();
        let mut counts = Counts {
            connection_credit: 1,
            ..Counts::default()
        };
        assert_eq!(
            told(&mut reasons, counts, busy(500)),
            [
                "blocked congestion_control inferred 12000",
                "unblocked application"
            ]
        );
        counts.connection_credit = 2;
        assert_eq!(
            told_with(&mut reasons, counts, busy(600), ROOMY),
            [
                "unblocked congestion_control inferred",
                "blocked connection_flow_control inferred"
            ]
        );
        // Taken without a new frame: nothing is known of what holds it now.
        assert_eq!(
            told_with(&mut reasons, counts, busy(700), ROOMY),
            ["unblocked connection_flow_control inferred"]
        );
    }

    /// Times of release, a full socket and the amplification limit are known, whatever there is to write.
    #[test]
    fn what_is_known_goes_first() {
        let mut reasons = Reasons::default();
        let mut counts = Counts {
            received: 1,
            ..Counts::default()
        };
        told(&mut reasons, counts, Own::default());
        counts.amplification = 1;
        let nothing = Own::default();
        assert_eq!(
            told(&mut reasons, counts, nothing),
            ["blocked amplification_protection"]
        );
        assert!(told(&mut reasons, counts, nothing).is_empty());
        counts.received = 2;
        let paced = Own {
            paced: true,
            ..busy(10)
        };
        assert_eq!(
            told(&mut reasons, counts, paced),
            [
                "unblocked amplification_protection",
                "blocked pacing",
                "unblocked application"
            ]
        );
        let full = Own {
            socket_full: true,
            ..paced
        };
        assert_eq!(
            told(&mut reasons, counts, full),
            ["unblocked pacing", "blocked socket_full"]
        );
    }
}
