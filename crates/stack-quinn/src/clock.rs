// SPDX-License-Identifier: Apache-2.0
//! The clock of every instant in a report.

use rustix::time::{clock_gettime, ClockId};

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
