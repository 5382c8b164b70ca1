// SPDX-License-Identifier: Apache-2.0
//! `NetLog`, the log of Chromium's network stack: QUIC and HTTP/2 sessions, and the requests that use them.
//!
//! Times are `base::TimeTicks` in whole milliseconds, cut off: `CLOCK_MONOTONIC` on Linux. So every instant is placed
//! in the middle of its millisecond; packets that are sent carry their own in microseconds. Sources: `net/log` and
//! `net/quic/quic_event_logger.cc` of Chromium.

mod constants;
mod event;
mod frames;
mod handshake;
mod http2;
mod http3;
mod parameters;
mod params;
mod quic;
mod ranges;
mod recovery;
mod requests;
mod sessions;
mod streams;
mod told_end;
mod waits;

use crate::json::{Fault, Span, Stop, Walker};
use crate::tables::Tables;
use crate::tls::handshake::Message;
use crate::{base64, Clock, DecodeError, Direction, Input, Options, Severity, Source};
use constants::{Constants, Phase};
use event::{Event, Sources, Written};
use handshake::Handshake;
use params::{Members, Params};
use requests::Requests;
use sessions::Sessions;
use std::collections::BTreeMap;
pub use told_end::told_end;

const FORMAT: &str = "NetLog";
const NS_PER_MS: i64 = 1_000_000;
/// TLS handshakes over TCP that are followed at a time.
const MAX_HANDSHAKES: usize = 1 << 10;

struct Log<'t> {
    constants: &'t Constants,
    file_name: &'t str,
    offset_ms: i64,
    sessions: Sessions,
    requests: Requests,
    handshakes: BTreeMap<i64, Handshake>,
    seen: (bool, bool),
    /// Events that no table holds.
    others: u64,
    tables: &'t mut Tables,
}

/// Decode a `NetLog`, as a client's: "up" is what it sends. Its clock is `CLOCK_MONOTONIC` where it was written on Linux, else `CLOCK_REALTIME`.
///
/// # Errors
/// If the input cannot be read, or is no JSON document with a section `constants`.
pub fn decode(
    input: &Input,
    options: &Options,
    tables: &mut Tables,
) -> Result<Source, DecodeError> {
    let constants = constants::read(input.open()?)?;
    let clock = match (constants.on_linux, constants.tick_offset_ms) {
        (true, _) => Clock::Monotonic,
        (false, Some(_)) => Clock::Realtime,
        (false, None) => Clock::OwnStart,
    };
    let source = Source {
        dialect: constants.dialect.clone(),
        clock,
        resolution_ns: NS_PER_MS.unsigned_abs(),
        // Cut to whole milliseconds: the middle is nearest to whatever it was.
        realtime_minus_monotonic_ns: constants
            .tick_offset_ms
            .filter(|_| clock == Clock::Monotonic)
            .and_then(|offset| offset.checked_mul(NS_PER_MS)?.checked_add(NS_PER_MS / 2)),
    };
    let offset_ms = if clock == Clock::Realtime {
        constants.tick_offset_ms.unwrap_or_default()
    } else {
        0
    };
    let mut log = Log {
        constants: &constants,
        file_name: &options.file_name,
        offset_ms,
        sessions: Sessions::default(),
        requests: Requests::default(),
        handshakes: BTreeMap::new(),
        seen: (false, false),
        others: 0,
        tables,
    };
    log.read(&mut Walker::new(input.open()?))?;
    log.finish();
    Ok(source)
}

impl Log<'_> {
    fn read<R: std::io::Read>(&mut self, walker: &mut Walker<R>) -> Result<(), DecodeError> {
        let (mut members, mut sources) = (Members::new(), Sources::default());
        let mut found = false;
        let outcome = walker.object(|walker, key| {
            if key != b"events" || walker.peek()? != b'[' {
                return walker.skip();
            }
            found = true;
            walker.items(|walker| {
                let read = walker.item(|reader| {
                    let written = Written::read(reader, &mut members, &mut sources)?;
                    let text = reader.text().get(..reader.position());
                    self.take(&written, text.unwrap_or_default(), &members);
                    Ok(())
                });
                match read {
                    Err(Stop::Fault(Fault::Syntax)) => {
                        walker.skip()?;
                        self.tables.count(
                            "malformed_event",
                            Severity::DataLoss,
                            "an event that is not what a NetLog holds",
                        );
                    }
                    Err(Stop::TooLong) => {
                        walker.skip()?;
                        self.tables.count(
                            "record_too_long",
                            Severity::DataLoss,
                            "a single event of more than 16 MiB was skipped",
                        );
                    }
                    read => read?,
                }
                Ok(())
            })
        });
        match outcome {
            Err(Stop::Io(error)) => return Err(error.into()),
            Err(Stop::Fault(_) | Stop::TooLong) => self.tables.count(
                "truncated_log",
                Severity::DataLoss,
                "the browser did not close its log, or the file was cut: what came after is missing",
            ),
            Ok(()) if !found => self.tables.count(
                "no_events",
                Severity::DataLoss,
                "the log has no list of events: nothing is known of its connections",
            ),
            Ok(()) => {}
        }
        Ok(())
    }

    fn take(&mut self, written: &Written, text: &[u8], members: &[(Span, Span)]) {
        let Some(time_ns) = (written.time.checked_add(self.offset_ms))
            .and_then(|time| time.checked_mul(NS_PER_MS)?.checked_add(NS_PER_MS / 2))
        else {
            return self.tables.count(
                "impossible_time",
                Severity::DataLoss,
                "an event's time lies beyond all clocks",
            );
        };
        let Some(name) = self.constants.event_type(written.kind) else {
            return self.tables.count(
                "unknown_event_type",
                Severity::Notice,
                "an event whose type the section `constants` does not name",
            );
        };
        let event = Event {
            time_ns,
            source: written.source,
            phase: self.constants.phase(written.phase),
            name,
            params: Params::new(text, members),
        };
        if !self.event(&event) {
            self.others += 1;
        }
    }

    /// Hand an event to the part that it concerns; false if no table holds it.
    fn event(&mut self, event: &Event<'_>) -> bool {
        let name = event.name;
        let of_pool = name.starts_with("QUIC_SESSION_POOL") || name == "QUIC_SESSION_CREATED";
        let of_quic = name.starts_with("QUIC_SESSION")
            || name.starts_with("HTTP3_")
            || name == "QUIC_CONGESTION_CONTROL_CONFIGURED";
        if of_quic && !of_pool {
            return self.quic(event);
        }
        if name.starts_with("HTTP2_SESSION") && !name.starts_with("HTTP2_SESSION_POOL") {
            return self.http2(event);
        }
        if name.starts_with("SSL_") && self.tls(event) {
            return true;
        }
        self.requests
            .event(event, self.constants, &self.sessions, self.tables)
    }

    fn quic(&mut self, event: &Event<'_>) -> bool {
        self.seen.0 = true;
        let name = || {
            let id = event
                .params
                .text("connection_id")
                .filter(|_| event.name == "QUIC_SESSION");
            id.map_or_else(
                || format!("{}#{}", self.file_name, event.source),
                std::borrow::Cow::into_owned,
            )
        };
        let session = self.sessions.quic(event.source, name, self.tables);
        session.event(event, self.constants, self.tables)
    }

    fn http2(&mut self, event: &Event<'_>) -> bool {
        self.seen.1 = true;
        let socket = event
            .params
            .dependency()
            .filter(|_| event.name == "HTTP2_SESSION_INITIALIZED");
        let known = socket.and_then(|socket| self.requests.connection(socket));
        let session = self.sessions.http2(
            event.source,
            || format!("{}#{}", self.file_name, event.source),
            self.tables,
        );
        if let Some(connection) = known {
            session.connection = connection;
        }
        if event.name == "HTTP2_SESSION_SEND_HEADERS" {
            if let (Some(request), Some(stream)) = (
                event.params.dependency(),
                event.params.unsigned("stream_id"),
            ) {
                let priority = event
                    .params
                    .header("priority")
                    .or_else(|| http2::weight(&event.params));
                self.requests
                    .sent_on(request, event.source, stream, priority);
            }
        }
        session.event(event, self.constants, self.tables)
    }

    /// TLS over TCP; false if it is no part of a handshake.
    fn tls(&mut self, event: &Event<'_>) -> bool {
        let Event {
            time_ns, params, ..
        } = event;
        let connection = || {
            let known = self.requests.connection(event.source);
            known.unwrap_or_else(|| format!("{}#{}", self.file_name, event.source))
        };
        let direction = match event.name {
            "SSL_HANDSHAKE_MESSAGE_SENT" => Direction::Up,
            "SSL_HANDSHAKE_MESSAGE_RECEIVED" => Direction::Down,
            "SSL_CONNECT" if event.phase == Phase::End => {
                let connection = connection();
                if let Some(alpn) = params.text("next_proto") {
                    parameters::push(
                        &connection,
                        *time_ns,
                        "alpn_information.chosen_alpn",
                        &alpn,
                        self.tables,
                    );
                }
                parameters::push_all(&connection, *time_ns, "ssl_connect", params, self.tables);
                // Requests want to know when it was, too.
                return false;
            }
            _ => return false,
        };
        let connection = connection();
        let body = params
            .text("bytes")
            .and_then(|bytes| base64::decode(&bytes))
            .unwrap_or_default();
        let kind = params
            .unsigned("type")
            .and_then(|kind| u8::try_from(kind).ok())
            .unwrap_or(u8::MAX);
        let message = Message {
            kind,
            body: body.get(4..).unwrap_or_default().to_vec(),
        };
        if self.handshakes.len() >= MAX_HANDSHAKES && !self.handshakes.contains_key(&event.source) {
            self.handshakes.pop_first();
        }
        let handshake = self
            .handshakes
            .entry(event.source)
            .or_insert_with(|| Handshake::new("tcp"));
        handshake.message(&connection, *time_ns, direction, &message, self.tables);
        true
    }

    fn finish(mut self) {
        self.tables.stats.add(
            "event_without_table",
            self.others,
            Severity::Info,
            "an event that no table holds",
        );
        self.requests
            .finish(self.constants, &self.sessions, self.tables);
        self.sessions.finish(self.tables);
        let (quic, http2) = self.seen;
        if quic {
            let unsaid = "Chromium does not log its congestion controller, its round-trip times or its timers";
            for table in ["transport_metrics", "cc_states", "timers"] {
                self.tables.cannot_tell(table, None, unsaid);
            }
            self.tables.cannot_tell(
                "parameters",
                Some("name"),
                "of a transport parameter that it has no name for, Chromium logs the last 32 bits of its number",
            );
            self.tables.cannot_tell(
                "losses",
                Some("rule"),
                "Chromium does not log by which rule a packet is lost",
            );
        }
        if http2 {
            let unsaid = "a NetLog tells DATA frames of HTTP/2 without their headers, and header blocks without their length";
            for column in ["up_bytes", "down_bytes"] {
                self.tables.cannot_tell("streams", Some(column), unsaid);
            }
        }
        if http2 && !quic {
            for table in [
                "packets",
                "acks",
                "losses",
                "transport_metrics",
                "cc_states",
                "timers",
            ] {
                self.tables
                    .cannot_tell(table, None, "a browser does not see TCP's segments");
            }
        }
    }
}

#[cfg(test)]
mod tests;
