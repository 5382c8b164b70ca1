// SPDX-License-Identifier: Apache-2.0
//! A token bucket that shapes: a burst passes at once, or at a peak rate, and what follows at the rate.

use crate::rate::{RateClock, Rates};
use crate::timeline::Timeline;
use crate::units::{BitRate, Bytes, Nanos};

/// Tokens that one bit costs; a rate of r bit/s gives r of them in a nanosecond.
const TOKENS_PER_BIT: i128 = 1_000_000_000;

/// A bucket of tokens, which is full at first and fills at the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Bytes that it holds.
    pub burst: Bytes,
    /// Rate at which a packet that has its tokens is sent; `None` takes no time.
    pub peak: Option<BitRate>,
}

/// State of the bucket and of the transmitter behind it.
#[derive(Clone, Copy, Debug)]
pub struct ShaperClock {
    /// Tokens at `filled`; below zero after a packet that is larger than the bucket.
    tokens: i128,
    filled: Nanos,
    span: usize,
    /// The sending at the peak rate.
    peak: RateClock,
    /// The instant at which the last packet left.
    free: Nanos,
}

impl ShaperClock {
    /// A full bucket at t = 0.
    #[must_use]
    pub fn new(bucket: Bucket) -> Self {
        Self {
            tokens: tokens(bucket.burst),
            filled: Nanos::ZERO,
            span: 0,
            peak: RateClock::default(),
            free: Nanos::ZERO,
        }
    }

    /// The instant at which the last packet left.
    #[must_use]
    pub const fn free(self) -> Nanos {
        self.free
    }

    /// Looks for its span from the first one on, as there is one more.
    pub(crate) fn look_again(&mut self) {
        self.span = 0;
    }

    /// The clock after one more packet, which is ready to be sent at `ready`: its last bit leaves at `free()`.
    ///
    /// Its sending begins when the packet before it has left and the bucket has tokens for all of it, which it takes
    /// then. A packet that is larger than the bucket begins when that is full, and leaves it owing the rest.
    #[must_use]
    pub fn after(
        mut self,
        rates: &mut impl Rates,
        bucket: Bucket,
        ready: Nanos,
        size: Bytes,
    ) -> Self {
        let full = tokens(bucket.burst);
        let cost = tokens(size);
        let begins = self.fill(rates, full, ready.max(self.free), cost.min(full));
        if begins == Nanos::NEVER {
            self.free = begins;
            return self;
        }
        self.tokens -= cost;
        self.free = begins;
        if let Some(rate) = bucket.peak {
            let mut at_peak = Timeline::constant(Some(rate));
            self.peak = self.peak.after(&mut at_peak, begins, size);
            self.free = self.peak.free();
        }
        self
    }

    /// Fills the bucket up to the first instant from `earliest` on at which it has `needed` tokens, and tells that.
    fn fill(&mut self, rates: &mut impl Rates, full: i128, earliest: Nanos, needed: i128) -> Nanos {
        self.span = rates.span_at(self.span, self.filled);
        loop {
            let end = rates.end_of(self.span);
            let rate = rates.rate_of(self.span);
            let lacking = needed - self.tokens;
            let enough_at = match rate {
                // Without a rate the bucket is full at once.
                None => self.filled,
                _ if lacking <= 0 => self.filled,
                Some(BitRate(0)) => Nanos::NEVER,
                Some(BitRate(rate)) => {
                    let ns = (lacking + i128::from(rate) - 1) / i128::from(rate);
                    self.filled + Nanos(u64::try_from(ns).unwrap_or(u64::MAX))
                }
            };
            let begins = enough_at.max(earliest);
            let until = end.map_or(begins, |end| end.min(begins));
            if until == Nanos::NEVER {
                return until;
            }
            let earned = rate.map_or(full, |BitRate(rate)| {
                i128::from(rate) * i128::from(until.since(self.filled).0)
            });
            self.tokens = (self.tokens + earned).min(full);
            if rate.is_none() {
                self.tokens = full;
            }
            self.filled = until;
            if end.is_none_or(|end| begins < end) {
                return begins;
            }
            self.span += 1;
        }
    }
}

fn tokens(size: Bytes) -> i128 {
    i128::from(size.0) * 8 * TOKENS_PER_BIT
}
