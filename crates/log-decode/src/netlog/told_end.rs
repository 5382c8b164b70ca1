// SPDX-License-Identifier: Apache-2.0
//! The end that a `NetLog` is from: browsers write nearly all of them, and servers on Chromium's stack the others.

use super::constants::{self, Phase};
use super::event::{Sources, Written};
use super::params::{Members, Params};
use crate::json::{Fault, Stop, Walker};
use crate::{DecodeError, End, Input};

/// The end that the first telling event names; `None` where there is none.
///
/// # Errors
/// If the input cannot be read, or has no section `constants`.
pub fn told_end(input: &Input) -> Result<Option<End>, DecodeError> {
    let constants = constants::read(input.open()?)?;
    let (mut members, mut sources) = (Members::new(), Sources::default());
    let mut told = None;
    // A session that the log shows from its beginning, and that has sent nothing.
    let mut silent = None;
    let mut walker = Walker::new(input.open()?);
    let outcome = walker.object(|walker, key| {
        if key != b"events" || walker.peek()? != b'[' {
            return walker.skip();
        }
        walker.items(|walker| {
            let read = walker.item(|reader| {
                let written = Written::read(reader, &mut members, &mut sources)?;
                let text = reader.text().get(..reader.position()).unwrap_or_default();
                let params = Params::new(text, &members);
                let Some(name) = constants.event_type(written.kind) else {
                    return Ok(());
                };
                told = by_message(name, &params).or_else(|| by_name(name));
                if name == "QUIC_SESSION" && constants.phase(written.phase) == Phase::Begin {
                    if params.text("host").is_some() {
                        told = Some(End::Client);
                    }
                    silent = Some(written.source);
                }
                if silent == Some(written.source) {
                    match name {
                        "QUIC_SESSION_PACKET_SENT" => told = told.or(Some(End::Client)),
                        "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED"
                            if params.text("long_header_type").as_deref() == Some("INITIAL") =>
                        {
                            told = told.or(Some(End::Server));
                        }
                        _ => {}
                    }
                }
                Ok(())
            });
            match read {
                Err(Stop::Fault(Fault::Syntax) | Stop::TooLong) => walker.skip()?,
                read => read?,
            }
            if told.is_some() {
                return Err(Stop::Fault(Fault::End));
            }
            Ok(())
        })
    });
    match outcome {
        Err(Stop::Io(error)) => Err(error.into()),
        _ => Ok(told),
    }
}

/// The end by a message of the handshake: the client says hello first.
fn by_message(name: &str, params: &Params<'_>) -> Option<End> {
    let message = params.text("quic_crypto_handshake_message")?;
    let is_clients = message.starts_with("CHLO");
    if !is_clients && !message.starts_with("SHLO") && !message.starts_with("REJ") {
        return None;
    }
    match name {
        "QUIC_SESSION_CRYPTO_HANDSHAKE_MESSAGE_SENT" if is_clients => Some(End::Client),
        "QUIC_SESSION_CRYPTO_HANDSHAKE_MESSAGE_SENT" => Some(End::Server),
        "QUIC_SESSION_CRYPTO_HANDSHAKE_MESSAGE_RECEIVED" if is_clients => Some(End::Server),
        "QUIC_SESSION_CRYPTO_HANDSHAKE_MESSAGE_RECEIVED" => Some(End::Client),
        _ => None,
    }
}

fn by_name(name: &str) -> Option<End> {
    if name.contains("SERVER_SESSION") {
        return Some(End::Server);
    }
    let is_clients = [
        "HTTP2_SESSION_INITIALIZED",
        "HTTP_STREAM_",
        "HTTP_TRANSACTION_",
    ];
    (is_clients.iter())
        .any(|clients| name.starts_with(clients))
        .then_some(End::Client)
}
