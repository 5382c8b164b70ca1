// SPDX-License-Identifier: Apache-2.0
//! The instant from which a link's model counts its time.

use std::sync::atomic::{AtomicU64, Ordering};

/// The model's t = 0, which both directions share: the first packet of the workload sets it.
#[derive(Debug, Default)]
pub struct ModelZero(AtomicU64);

impl ModelZero {
    /// `CLOCK_MONOTONIC`; `None` if no packet came yet.
    #[must_use]
    pub fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Acquire)).filter(|&zero_ns| zero_ns > 0)
    }

    /// The instant, now that a packet came at `arrival_ns`.
    pub fn or_set(&self, arrival_ns: u64) -> u64 {
        let set = self
            .0
            .compare_exchange(0, arrival_ns, Ordering::AcqRel, Ordering::Acquire);
        set.map_or_else(|zero_ns| zero_ns, |_| arrival_ns)
    }

    /// No packet came yet.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Release);
    }
}
