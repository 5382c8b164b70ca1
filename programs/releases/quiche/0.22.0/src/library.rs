// SPDX-License-Identifier: Apache-2.0
//! quiche 0.22 in the place of what the program expects of later releases.

use std::time::{Duration, Instant};

use boring::ssl::SslRef;
use foreign_types_shared::ForeignTypeRef;

/// The round-trip time that is assumed at first is always 333 ms.
pub const SETS_INITIAL_RTT: bool = false;
/// Packets are paced with every congestion control.
pub const PACES_ALL: bool = true;
/// The library does not count what the reasons of a log follow from: there are none.
pub const COUNTS: bool = false;

/// A job that asks for it was refused.
pub fn set_initial_rtt(_: &mut quiche::Config, _: Duration) {}

/// BoringSSL's reason for what became of early data (`ssl_early_data_reason_t`).
pub fn early_data_reason(quic: &mut quiche::Connection) -> u32 {
    let tls: &mut SslRef = quic.as_mut();
    // SAFETY: the pointer is that of a connection that is there.
    unsafe { boring_sys::SSL_get_early_data_reason(tls.as_ptr()).0 as u32 }
}

/// True if the server asked for another group.
pub fn was_retried(tls: &SslRef) -> bool {
    // SAFETY: the pointer is that of a connection that is there.
    unsafe { boring_sys::SSL_used_hello_retry_request(tls.as_ptr()) == 1 }
}

/// Packets are made as soon as the window lets them; when each leaves is told with it.
pub fn next_release(_: &quiche::Connection, now: Instant) -> (Instant, Duration) {
    (now, Duration::ZERO)
}

/// Instant at which a packet leaves, as the library says.
pub fn release(info: &quiche::SendInfo, _: Instant) -> Instant {
    info.at
}

/// Counters of the program; the library has only the first.
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
        Self {
            received: quic.stats().recv,
            ..Self::default()
        }
    }
}
