// SPDX-License-Identifier: Apache-2.0
//! The time in which a direction was late, whatever was sent meanwhile: packets are not spread evenly over time, so a
//! share of them says little about a stop.

/// Sums up the time in which a packet that came due would have been late by more than a bound, as far as packets show.
#[derive(Clone, Copy, Debug)]
pub struct LateTime {
    bound_ns: u64,
    sum_ns: u64,
    counted_until: u64,
}

impl LateTime {
    /// No time yet; what is late by more than `bound_ns` counts.
    #[must_use]
    pub fn new(bound_ns: u64) -> Self {
        Self {
            bound_ns,
            sum_ns: 0,
            counted_until: 0,
        }
    }

    /// A packet was written at `wrote_ns`, late by `late_ns`: so was, or would have been, what came due since the
    /// instant at which it was, until the bound before it was written.
    pub fn add(&mut self, wrote_ns: u64, late_ns: u64) {
        let begin_ns = wrote_ns.saturating_sub(late_ns).max(self.counted_until);
        let end_ns = wrote_ns.saturating_sub(self.bound_ns);
        if end_ns > begin_ns {
            self.sum_ns += end_ns - begin_ns;
            self.counted_until = end_ns;
        }
    }

    /// All of that time.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }
}
