// SPDX-License-Identifier: Apache-2.0
//! Facts that a decoder is told about a file, and those that it says about it beside the rows.

use crate::Input;

/// The end of the path at which a log was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Inbound packets come `down`.
    Client,
    /// Inbound packets come `up`.
    Server,
}

impl End {
    /// The name in the column `vantage`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }

    /// The direction of what this end sends.
    #[must_use]
    pub fn outbound(self) -> &'static str {
        match self {
            Self::Client => "up",
            Self::Server => "down",
        }
    }

    /// The direction of what this end receives.
    #[must_use]
    pub fn inbound(self) -> &'static str {
        match self {
            Self::Client => "down",
            Self::Server => "up",
        }
    }
}

/// The way of bytes between the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// The way from client to server.
    Up,
    /// The way from server to client.
    Down,
}

impl Direction {
    /// The name in the column `direction`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }

    /// The way back.
    #[must_use]
    pub fn reverse(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    /// The end that sends this way.
    #[must_use]
    pub fn sender(self) -> End {
        match self {
            Self::Up => End::Client,
            Self::Down => End::Server,
        }
    }

    /// The word of the column `event` for what went this way, in a log taken at `vantage`.
    #[must_use]
    pub fn event(self, vantage: Option<End>) -> &'static str {
        match vantage {
            Some(end) if end == self.sender() => "sent",
            Some(_) => "received",
            None => "seen",
        }
    }
}

/// Facts that a file does not say about itself.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// End at which it was recorded.
    pub vantage: Option<End>,
    /// `CLOCK_REALTIME − CLOCK_MONOTONIC`, where it is known: maps the first to the second.
    pub realtime_minus_monotonic_ns: Option<i64>,
    /// TLS key logs (NSS format) that may open what a capture holds.
    pub key_logs: Vec<Input>,
    /// Stands for the connection id of traces that have none.
    pub file_name: String,
    /// Number of threads that may work on the file; the rows and their order are the same with any
    /// number. 0 is 1.
    pub threads: usize,
}

/// The clock by which a file's `time_ns` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The study's: `CLOCK_MONOTONIC` of the machine that recorded it.
    Monotonic,
    /// `CLOCK_REALTIME`: its offset to the study's was not known.
    Realtime,
    /// The file's own start, which nothing in the file places.
    OwnStart,
}

impl Clock {
    /// The name in the table `sources`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Monotonic => "monotonic",
            Self::Realtime => "realtime",
            Self::OwnStart => "own_start",
        }
    }
}

/// Facts that a decoder says about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The format's version and the program that wrote it, as far as the file tells.
    pub dialect: String,
    /// The clock by which its times count.
    pub clock: Clock,
    /// The step of its times: what lies closer together it cannot tell apart.
    pub resolution_ns: u64,
    /// `CLOCK_REALTIME − CLOCK_MONOTONIC`, where the format records it.
    pub realtime_minus_monotonic_ns: Option<i64>,
}
