// SPDX-License-Identifier: Apache-2.0
//! Identity of a trace by its first events: the connection that it is about, where its header does not say, and by
//! what is peculiar to them the program that wrote it.

use super::dialect::Signs;
use super::event::{Event, Field};
use super::names::packet_type;
use crate::json::Reader;

/// Events that are looked at before the first is decoded.
pub(super) const LOOK_AHEAD: usize = 256;

/// Identity that the first events of a trace have told.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The client's first Destination Connection ID.
    pub(super) name: Option<String>,
    pub(super) signs: Signs,
}

/// The client's first Destination Connection ID and the writer's signs, as far as they have been seen.
#[derive(Debug, Default)]
pub(super) struct Identity {
    signs: Signs,
    first_initial: Option<String>,
    announced: Option<String>,
}

impl Identity {
    /// Look at one event; whatever cannot be read tells nothing. How long it is, if it can be.
    pub(super) fn look(
        &mut self,
        text: &[u8],
        fields: &[Field],
        event: &mut Event,
    ) -> Option<usize> {
        let mut reader = Reader::new(text);
        event.read(&mut reader, fields).ok()?;
        let read = text.get(..reader.position()).unwrap_or_default();
        self.signs.look(event.name.of(text), read);
        let hexadecimal = |id: &[u8]| {
            let is_id = !id.is_empty() && id.len() <= 40 && id.iter().all(u8::is_ascii_hexdigit);
            is_id.then(|| String::from_utf8_lossy(id).to_ascii_lowercase())
        };
        // A Retry changes the id in Initial packets: what the server announces is the first one (RFC 9000 section 7.3).
        if let Some(original) = event.member(text, b"original_destination_connection_id") {
            let quotes = b"\"".as_slice();
            let id = original.of(text);
            let id = id
                .strip_prefix(quotes)
                .and_then(|id| id.strip_suffix(quotes));
            self.announced = self.announced.take().or(id.and_then(hexadecimal));
        }
        let beside = || {
            let name = event.member(text, b"packet_type")?.of(text);
            packet_type(name.get(1..name.len().checked_sub(1)?)?)
        };
        // At whichever end it is logged, the first Initial packet of a connection is the client's.
        if self.first_initial.is_none()
            && event.packet.packet_type.or_else(beside) == Some("initial")
        {
            self.first_initial = event.packet.dcid.and_then(|id| hexadecimal(id.of(text)));
        }
        Some(reader.position())
    }

    pub(super) fn seen(self) -> Seen {
        Seen {
            name: self.announced.or(self.first_initial),
            signs: self.signs,
        }
    }
}
