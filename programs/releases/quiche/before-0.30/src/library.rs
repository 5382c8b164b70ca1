// SPDX-License-Identifier: Apache-2.0
//! quiche before 0.30 in the place of what the program expects of later releases.

use std::time::{Duration, Instant};

use boring::ssl::SslRef;
use foreign_types_shared::ForeignTypeRef;

/// True if the round-trip time that is assumed at first can be set.
pub const SETS_INITIAL_RTT: bool = true;
/// True if packets are paced with every congestion control.
pub const PACES_ALL: bool = false;
/// True if the library counts what the reasons of a log follow from.
pub const COUNTS: bool = true;

/// Assume this round-trip time at first.
pub fn set_initial_rtt(config: &mut quiche::Config, round_trip: Duration) {
    config.set_initial_rtt(round_trip);
}

/// BoringSSL's reason for what became of early data (`ssl_early_data_reason_t`).
pub fn early_data_reason(quic: &mut quiche::Connection) -> u32 {
    quic.early_data_reason()
}

/// True if the server asked for another group.
pub fn was_retried(tls: &SslRef) -> bool {
    // SAFETY: the pointer is that of a connection that is there.
    unsafe { boring_sys::SSL_used_hello_retry_request(tls.as_ptr()) == 1 }
}

/// Instant at which the next packet leaves, and how long before that it may be made.
pub fn next_release(quic: &quiche::Connection, now: Instant) -> (Instant, Duration) {
    let at = quic
        .get_next_release_time()
        .and_then(|release| release.time(now))
        .unwrap_or(now);
    (at, quic.max_release_into_future())
}

/// Instant at which a packet leaves that was made to leave at `planned`.
pub fn release(_: &quiche::SendInfo, planned: Instant) -> Instant {
    planned
}

/// Counters of the library.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub received: usize,
    pub stream_credit: u64,
    pub connection_credit: u64,
    pub amplification: u64,
}

impl Counts {
    /// Counters as they are.
    pub fn of(quic: &quiche::Connection) -> Self {
        let stats = quic.stats();
        Self {
            received: stats.recv,
            stream_credit: stats.stream_data_blocked_sent_count,
            connection_credit: stats.data_blocked_sent_count,
            amplification: stats.amplification_limited_count,
        }
    }
}
