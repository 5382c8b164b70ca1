// SPDX-License-Identifier: Apache-2.0
//! Logs of a trial, decoded into columns.
//!
//! A decoder is one module with one function, `decode(input, options, tables)`: it reads an [`Input`] as a stream and
//! appends rows to [`tables::Tables`], whatever its format; full chunks leave through an [`arrow::Outlet`] while the
//! file is still being read, by the Arrow C stream interface ([`arrow::ffi`]). What it says about the file is its
//! [`Source`]. Input is never trusted: what is cut short, malformed or unknown is counted by kind in [`Stats`] and the
//! rest is decoded; only an unreadable or wholly foreign file is an error.
//!
//! Captures and qlogs of records are decoded in two stages (`stages.rs`): what needs no more than a stretch of the file
//! (headers, `ip_packets`; an event's JSON) runs ahead on a thread of its own, and what follows connections takes its
//! stretches in order. With one thread both take turns, so rows cannot depend on the number of threads. Members of a
//! qlog that are not read: `qlog/unread.rs`.
//!
//! Memory: one chunk of every table (all of them without an outlet), plus one input record (at most
//! [`MAX_RECORD_BYTES`]); on two threads, some records ahead ([`Options::threads`]).

pub mod arrow;
mod base64;
pub mod capture;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing {
    //! Parts of a made capture that are reached only with keys, which are made up here.
    pub use crate::quic::fuzzing::packets;
    pub use crate::tls::fuzzing::records;
}
pub mod har;
pub mod http;
mod input;
mod json;
pub mod netlog;
pub mod packet_log;
pub mod qlog;
mod quic;
mod source;
mod stages;
mod stats;
pub mod tables;
mod tcp;
mod tls;
pub mod trace_events;

pub use error::DecodeError;
pub use input::Input;
pub use json::outline;
pub use source::{Clock, Direction, End, Options, Source};
pub use stats::{Severity, Stat, Stats};

/// The longest single record (a qlog event, a pcapng block) that is read into memory.
pub const MAX_RECORD_BYTES: usize = 16 << 20;

/// Decodes one format.
pub type Decode = fn(&Input, &Options, &mut tables::Tables) -> Result<Source, DecodeError>;

/// Every decoder by the name of its format.
pub const FORMATS: &[(&str, Decode)] = &[
    ("har", har::decode),
    ("netlog", netlog::decode),
    ("packet_log", packet_log::decode),
    ("pcap", capture::decode),
    ("pcapng", capture::decode),
    ("qlog", qlog::decode),
    ("trace_events", trace_events::decode),
];
