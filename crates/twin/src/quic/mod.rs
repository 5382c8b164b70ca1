// SPDX-License-Identifier: Apache-2.0
//! QUIC by quinn-proto, a state machine without I/O, with one stream in the place of HTTP/3.
//!
//! Everything of the transport is quinn's own: handshake, packets, acknowledgments, loss detection, probes, congestion
//! control, pacing, credit. Cryptography is left out (`plain.rs`), so that packets can be read where they are sent; they
//! are as long as with it.

mod config;
mod endpoint;
mod mirror;
mod observer;
mod plain;
mod program;
mod told;
pub mod trial;
mod wire;
