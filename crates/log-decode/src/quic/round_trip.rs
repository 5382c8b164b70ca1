// SPDX-License-Identifier: Apache-2.0
//! Round-trip times as RFC 9002 section 5 estimates them.

/// RFC 9002 section 6.1.2.
const GRANULARITY_NS: i64 = 1_000_000;
/// Longer ones are clocks that jump.
const MAX_SAMPLE_NS: i64 = i64::MAX / 16;

#[derive(Debug, Default)]
pub(super) struct RoundTrip {
    /// Without what the receiver delayed its ACK by.
    pub(super) latest_ns: i64,
    pub(super) min_ns: i64,
    pub(super) smoothed_ns: i64,
    pub(super) variance_ns: i64,
}

impl RoundTrip {
    /// RFC 9002 section 5.3.
    pub(super) fn sample(&mut self, raw_ns: i64, delay_ns: i64) {
        let raw_ns = raw_ns.clamp(1, MAX_SAMPLE_NS);
        let first = self.min_ns == 0;
        self.min_ns = if first {
            raw_ns
        } else {
            self.min_ns.min(raw_ns)
        };
        let delay_fits = raw_ns >= self.min_ns.saturating_add(delay_ns);
        self.latest_ns = if delay_fits {
            raw_ns - delay_ns
        } else {
            raw_ns
        };
        if first {
            self.smoothed_ns = self.latest_ns;
            self.variance_ns = self.latest_ns / 2;
        } else {
            let deviation = (self.smoothed_ns - self.latest_ns).abs();
            self.variance_ns = (3 * self.variance_ns + deviation) / 4;
            self.smoothed_ns = (7 * self.smoothed_ns + self.latest_ns) / 8;
        }
    }

    /// RFC 9002 section 6.1.2.
    pub(super) fn loss_delay_ns(&self) -> i64 {
        (self.smoothed_ns.max(self.latest_ns) / 8 * 9).max(GRANULARITY_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_smoothed_less_the_delay_of_the_ack() {
        let mut round_trip = RoundTrip::default();
        round_trip.sample(80, 0);
        assert_eq!((round_trip.smoothed_ns, round_trip.variance_ns), (80, 40));
        round_trip.sample(120, 24);
        assert_eq!((round_trip.latest_ns, round_trip.min_ns), (96, 80));
        assert_eq!((round_trip.smoothed_ns, round_trip.variance_ns), (82, 34));
        round_trip.sample(81, 50); // more than can be: the minimum would be undercut
        assert_eq!(round_trip.latest_ns, 81);
    }
}
