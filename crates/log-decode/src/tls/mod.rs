// SPDX-License-Identifier: Apache-2.0
//! TLS 1.2 (RFC 5246) and 1.3 (RFC 8446), opened with the secrets of a key log; QUIC shares the handshake.

pub(crate) mod handshake;
pub(crate) mod hello;
pub(crate) mod keylog;
pub(crate) mod names;
mod reader;
pub(crate) mod suite;

pub(crate) use reader::Reader;
