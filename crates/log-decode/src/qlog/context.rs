// SPDX-License-Identifier: Apache-2.0
//! One event, and what is known of the connection that it is about.

use super::connection::{Connection, Ends};
use super::dialect::Writer;
use super::event::Event;
use super::losses::Who;
use crate::json::{number, Span};
use std::borrow::Cow;

pub(super) const IMPOSSIBLE: &str =
    "a number that cannot be (negative, zero, or none at all): the value is missing";

/// One event on its way into the tables.
pub(super) struct Context<'a> {
    pub text: &'a [u8],
    pub event: &'a Event,
    /// The event's name without its namespace.
    pub name: &'a [u8],
    pub time_ns: i64,
    pub who: Who<'a>,
    pub writer: Writer,
    pub to_ms: f64,
}

impl<'a> Context<'a> {
    /// The text of a span without its quotes and escapes.
    pub(super) fn text(&self, span: Span) -> Cow<'a, str> {
        let text = std::str::from_utf8(span.of(self.text)).unwrap_or_default();
        let inner = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let inner = inner.unwrap_or(text);
        if !inner.contains('\\') {
            return Cow::Borrowed(inner);
        }
        serde_json::from_str(&format!("\"{inner}\"")).map_or(Cow::Borrowed(inner), Cow::Owned)
    }

    /// A member of the data as text.
    pub(super) fn member(&self, key: &str) -> Option<Cow<'a, str>> {
        let span = self.event.member(self.text, key.as_bytes())?;
        (span.of(self.text) != b"null").then(|| self.text(span))
    }

    /// Reason why it happened, in the log's words; the first drafts have a word for no reason
    /// at all.
    pub(super) fn trigger(&self) -> Option<Cow<'a, str>> {
        let trigger = self.event.trigger.map(|trigger| self.text(trigger))?;
        let says_nothing = matches!(
            trigger.as_ref(),
            "" | "DEFAULT" | "UNKNOWN" | "default" | "unknown"
        );
        (!says_nothing).then_some(trigger)
    }

    /// A member that is a number which is not negative.
    pub(super) fn unsigned(&self, key: &str) -> Option<u64> {
        number::unsigned(self.member(key)?.as_bytes())
    }
}

/// State that is followed over a connection's events.
pub(super) struct State<'a> {
    pub losses: &'a mut super::losses::Losses,
    pub streams: &'a mut super::streams::Streams,
    pub handshake: &'a mut super::handshake::Handshake,
    pub http: &'a mut super::http::Http,
    pub ack_exponents: &'a mut super::connection::AckExponents,
}

/// A connection taken apart: its name to read, the rest to write.
pub(super) struct Followed<'a>(pub Who<'a>, pub State<'a>);

impl<'a> Followed<'a> {
    pub(super) fn new(connection: &'a mut Connection, ends: Ends) -> Self {
        let Connection {
            name,
            losses,
            streams,
            handshake,
            http,
            ack_exponents,
            ..
        } = connection;
        let state = State {
            losses,
            streams,
            handshake,
            http,
            ack_exponents,
        };
        Self(ends.of(name), state)
    }
}
