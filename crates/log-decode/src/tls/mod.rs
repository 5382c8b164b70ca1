// SPDX-License-Identifier: Apache-2.0
//! TLS 1.2 (RFC 5246) and 1.3 (RFC 8446), opened with the secrets of a key log; QUIC shares the handshake.

pub(crate) mod aead;
mod application;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub(crate) mod handshake;
pub(crate) mod hello;
pub(crate) mod keylog;
pub(crate) mod layer;
pub(crate) mod names;
mod reader;
mod record;
mod round_trips;
mod session;
pub(crate) mod suite;
mod tls12;
mod tls13;

pub(crate) use reader::Reader;
pub(crate) use round_trips::RoundTrips;

#[cfg(test)]
mod tests;
