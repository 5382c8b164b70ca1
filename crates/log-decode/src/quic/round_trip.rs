// SPDX-License-Identifier: Apache-2.0
//! Round-trip times as RFC 9002 section 5 estimates them.

/// RFC 9002 section 6.1.2.
const GRANULARITY_NS: i64 = 1_000_000;
/// Longer ones are clocks that jump.
const MAX_SAMPLE_NS: i64 = i64::MAX / 16;

/// Estimates of the round-trip time, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct RoundTrip {
    /// The latest sample, without what the receiver delayed its ACK by.
    pub(super) latest: i64,
    pub(super) min: i64,
    pub(super) smoothed: i64,
    pub(super) variance: i64,
}

impl RoundTrip {
    /// RFC 9002 section 5.3.
    pub(super) fn sample(&mut self, raw_ns: i64, delay_ns: i64) {
        let raw_ns = raw_ns.clamp(1, MAX_SAMPLE_NS);
        let first = self.min == 0;
        self.min = if first { raw_ns } else { self.min.min(raw_ns) };
        let delay_fits = raw_ns >= self.min.saturating_add(delay_ns);
        self.latest = if delay_fits {
            raw_ns - delay_ns
        } else {
            raw_ns
        };
        if first {
            self.smoothed = self.latest;
            self.variance = self.latest / 2;
        } else {
            let deviation = (self.smoothed - self.latest).abs();
            self.variance = (3 * self.variance + deviation) / 4;
            self.smoothed = (7 * self.smoothed + self.latest) / 8;
        }
    }

    /// RFC 9002 section 6.1.2.
    pub(super) fn loss_delay_ns(&self) -> i64 {
        (self.smoothed.max(self.latest) / 8 * 9).max(GRANULARITY_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_smoothed_less_the_delay_of_the_ack() {
        let mut round_trip = RoundTrip::default();
        round_trip.sample(80, 0);
        assert_eq!((round_trip.smoothed, round_trip.variance), (80, 40));
        round_trip.sample(120, 24);
        assert_eq!((round_trip.latest, round_trip.min), (96, 80));
        assert_eq!((round_trip.smoothed, round_trip.variance), (82, 34));
        round_trip.sample(81, 50); // more than can be: the minimum would be undercut
        assert_eq!(round_trip.latest, 81);
    }
}
