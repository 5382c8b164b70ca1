// SPDX-License-Identifier: Apache-2.0
//! The answer to one of the client's requests, as it comes in.

use quiche::h3::{self, Header, NameValue};

use stack_common::clock::monotonic_ns;

/// Part of the answer that has come.
#[derive(Default)]
pub struct Answer {
    pub status: Option<u16>,
    pub body: Vec<u8>,
    pub first_byte_ns: Option<u64>,
    /// Set when nothing more will come.
    pub last_byte_ns: Option<u64>,
    /// Reason for which it is not whole.
    pub error: Option<String>,
}

impl Answer {
    /// More of its body.
    pub fn add(&mut self, piece: &[u8]) {
        self.first_byte_ns.get_or_insert_with(monotonic_ns);
        self.body.extend_from_slice(piece);
    }

    /// Takes the status and whether all came from an event of its stream.
    pub fn note(&mut self, event: &h3::Event) {
        match event {
            // Trailers have no status.
            h3::Event::Headers { list, .. } => self.status = status(list).or(self.status),
            h3::Event::Finished => self.last_byte_ns = Some(monotonic_ns()),
            h3::Event::Reset(code) => {
                self.error = Some(format!("the server reset the stream with error {code:#x}"));
                self.last_byte_ns = Some(monotonic_ns());
            }
            h3::Event::Data | h3::Event::PriorityUpdate | h3::Event::GoAway => {}
        }
    }
}

fn status(headers: &[Header]) -> Option<u16> {
    let header = headers.iter().find(|header| header.name() == b":status")?;
    std::str::from_utf8(header.value()).ok()?.parse().ok()
}
