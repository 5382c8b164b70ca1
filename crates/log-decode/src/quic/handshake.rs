// SPDX-License-Identifier: Apache-2.0
//! The handshake: TLS messages in CRYPTO frames, and what QUIC adds to them.

use super::reassembly::{Reassembly, Waiting};
use super::rows::Row;
use crate::tables::{HandshakeStep, Tables};
use crate::tls::handshake::{Content, Messages};
use crate::tls::RoundTrips;

/// Packet number spaces (RFC 9000 section 12.3), each with a CRYPTO stream of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Initial,
    Handshake,
    Application,
}

pub(super) struct Handshake {
    /// CRYPTO streams by space and direction.
    streams: [[Reassembly; 2]; 3],
    messages: [Messages; 3],
    round_trips: RoundTrips,
    /// Length of the token in the Initial packet that is being read.
    pub(super) token_bytes: usize,
}

impl Handshake {
    pub(super) fn new(waiting: &Waiting) -> Self {
        let stream = || Reassembly::new(waiting);
        Self {
            streams: [(); 3].map(|()| [stream(), stream()]),
            messages: <[Messages; 3]>::default(),
            round_trips: RoundTrips::default(),
            token_bytes: 0,
        }
    }

    /// A CRYPTO frame; gives the messages that it completes.
    pub(super) fn crypto(
        &mut self,
        row: &Row<'_>,
        space: Space,
        offset: u64,
        data: &[u8],
        tables: &mut Tables,
    ) -> Vec<Content> {
        let messages = &mut self.messages[space as usize];
        let stream = &mut self.streams[space as usize][row.way as usize];
        stream.insert(offset, data, |bytes| messages.feed(row.way, bytes));
        let mut contents = Vec::new();
        while let Some(message) = self.messages[space as usize].next(row.way) {
            let mut content = message.content();
            if let Content::ClientHello(hello) = &mut content {
                hello.token_bytes = (self.token_bytes > 0).then_some(self.token_bytes);
            }
            let (step, detail) = (message.step(&content), content.detail());
            self.step(
                row,
                &step,
                Some(message.length_bytes()),
                detail.as_deref(),
                tables,
            );
            contents.push(content);
        }
        contents
    }

    /// One step of it.
    pub(super) fn step(
        &mut self,
        row: &Row<'_>,
        step: &str,
        length_bytes: Option<u64>,
        detail: Option<&str>,
        tables: &mut Tables,
    ) {
        tables.handshake.push(HandshakeStep {
            vantage: row.vantage,
            connection: row.connection,
            time_ns: row.time_ns,
            transport: "quic",
            direction: Some(row.way.as_str()),
            step,
            round_trip: Some(self.round_trips.of(row.way)),
            length_bytes,
            detail,
        });
    }
}
