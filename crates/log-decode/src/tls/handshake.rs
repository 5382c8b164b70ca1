// SPDX-License-Identifier: Apache-2.0
//! Handshake messages (RFC 8446 section 4, RFC 5246 section 7.4), whatever carries them: records or CRYPTO frames.

use super::hello::{ClientHello, EncryptedExtensions, ServerHello};
use super::names;
use crate::source::Direction;
use serde_json::json;
use std::borrow::Cow;

/// Longer messages are passed over: certificates with their chains have some thousands of bytes.
const MAX_MESSAGE_BYTES: usize = 1 << 17;

/// One message; `length_bytes` counts its header of four bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) kind: u8,
    pub(crate) body: Vec<u8>,
}

pub(crate) const FINISHED: u8 = 20;
pub(crate) const KEY_UPDATE: u8 = 24;

/// Content of a message that anyone wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    ClientHello(ClientHello),
    ServerHello(ServerHello),
    EncryptedExtensions(EncryptedExtensions),
    /// The group of TLS 1.2's key exchange.
    ServerKeyExchange(u16),
    Other,
}

impl Message {
    /// The message with its header.
    pub(crate) fn length_bytes(&self) -> u64 {
        self.body.len() as u64 + 4
    }

    /// Read what is known of the message; what is malformed is [`Content::Other`].
    pub(crate) fn content(&self) -> Content {
        match self.kind {
            1 => ClientHello::parse(&self.body).map(Content::ClientHello),
            2 => ServerHello::parse(&self.body).map(Content::ServerHello),
            8 => EncryptedExtensions::parse(&self.body).map(Content::EncryptedExtensions),
            12 => named_curve(&self.body).map(Content::ServerKeyExchange),
            _ => None,
        }
        .unwrap_or(Content::Other)
    }

    /// The message's name in the table `handshake`.
    pub(crate) fn step(&self, content: &Content) -> Cow<'static, str> {
        if matches!(content, Content::ServerHello(hello) if hello.retry_request) {
            return "hello_retry_request".into();
        }
        match self.kind {
            0 => "hello_request",
            1 => "client_hello",
            2 => "server_hello",
            4 => "new_session_ticket",
            5 => "end_of_early_data",
            8 => "encrypted_extensions",
            11 => "certificate",
            12 => "server_key_exchange",
            13 => "certificate_request",
            14 => "server_hello_done",
            15 => "certificate_verify",
            16 => "client_key_exchange",
            FINISHED => "finished",
            22 => "certificate_status",
            KEY_UPDATE => "key_update",
            25 => "compressed_certificate",
            other => return format!("handshake_message_{other}").into(),
        }
        .into()
    }
}

impl Content {
    /// Choice or offer of the message, as JSON; `None` where there is nothing to say.
    pub(crate) fn detail(&self) -> Option<String> {
        match self {
            Self::ClientHello(hello) => Some(hello.detail()),
            Self::ServerHello(hello) => Some(hello.detail()),
            Self::EncryptedExtensions(extensions) => Some(extensions.detail()),
            Self::ServerKeyExchange(group) => {
                Some(json!({ "group": names::group(*group) }).to_string())
            }
            Self::Other => None,
        }
    }
}

/// The group of a key exchange over a named curve (RFC 8422 section 5.4).
fn named_curve(body: &[u8]) -> Option<u16> {
    match *body.first_chunk::<3>()? {
        [3, high, low] => Some(u16::from_be_bytes([high, low])),
        _ => None,
    }
}

/// Cuts the bytes of both directions into messages.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    up: Assembly,
    down: Assembly,
}

#[derive(Debug, Default)]
struct Assembly {
    bytes: Vec<u8>,
    /// Bytes of a message that is too long to be kept, still to come.
    skip: usize,
}

impl Messages {
    /// Take bytes in order; [`Messages::next`] gives what is complete.
    pub(crate) fn feed(&mut self, direction: Direction, bytes: &[u8]) {
        let assembly = self.of(direction);
        let skipped = assembly.skip.min(bytes.len());
        assembly.skip -= skipped;
        assembly
            .bytes
            .extend(bytes.get(skipped..).unwrap_or_default());
    }

    /// The next complete message of one direction.
    pub(crate) fn next(&mut self, direction: Direction) -> Option<Message> {
        let assembly = self.of(direction);
        loop {
            let &[kind, high, middle, low] = assembly.bytes.first_chunk::<4>()?;
            let length = u32::from_be_bytes([0, high, middle, low]) as usize;
            let held = assembly.bytes.len() - 4;
            if length > MAX_MESSAGE_BYTES {
                assembly.skip = length.saturating_sub(held);
                assembly.bytes.drain(..4 + held.min(length));
                continue;
            }
            if held < length {
                return None;
            }
            let body = assembly.bytes.get(4..4 + length)?.to_vec();
            assembly.bytes.drain(..4 + length);
            return Some(Message { kind, body });
        }
    }

    /// Bytes of messages that are not complete.
    pub(crate) fn held_bytes(&self) -> usize {
        self.up.bytes.len() + self.down.bytes.len()
    }

    fn of(&mut self, direction: Direction) -> &mut Assembly {
        match direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }
}
