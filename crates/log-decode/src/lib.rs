// SPDX-License-Identifier: Apache-2.0
//! Logs of a trial, decoded into columns.
//!
//! Three formats are read: the link's packet log ([`packet_log`]), pcapng captures ([`pcapng`]) and qlog ([`qlog`]).
//! Each decoder reads its input as a stream and appends rows to [`arrow::Table`]s, which leave the process through the
//! Arrow C stream interface ([`arrow::ffi`]). Input is never trusted: what is cut short, malformed or unknown is
//! counted by kind in [`Stats`] and the rest is decoded; only an unreadable or wholly foreign file is an error.
//!
//! Memory: the decoded columns, plus one input record (at most [`MAX_RECORD_BYTES`]).

pub mod arrow;
mod error;
pub mod packet_log;
pub mod pcapng;
pub mod qlog;
mod stats;

pub use error::DecodeError;
pub use stats::{Severity, Stat, Stats};

/// The longest single record (a qlog event, a pcapng block) that is read into memory.
pub const MAX_RECORD_BYTES: usize = 16 << 20;
