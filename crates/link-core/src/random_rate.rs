// SPDX-License-Identifier: Apache-2.0
//! A rate that is drawn anew, by chance, at the start of every period.

use crate::random::{Stream, StreamKey};
use crate::rate::Rates;
use crate::units::{BitRate, Nanos};

/// A range of rates from which one is drawn, and how long it holds. Every rate of the range is as likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomRate {
    /// The smallest; above 0.
    pub least: BitRate,
    /// The largest, not below `least`.
    pub most: BitRate,
    /// The period; the first one begins at t = 0.
    pub every: Nanos,
}

/// The rates drawn: a function of the stream and the number of the period, whatever is sent meanwhile.
#[derive(Clone, Debug)]
pub struct RandomRates {
    range: RandomRate,
    stream: Stream,
    last: Option<(usize, BitRate)>,
}

impl RandomRates {
    /// The rates of one direction.
    #[must_use]
    pub fn new(range: RandomRate, key: &StreamKey) -> Self {
        Self {
            range,
            stream: key.stream("rate"),
            last: None,
        }
    }

    /// The rate of a period, counted from 0.
    pub fn of(&mut self, period: usize) -> BitRate {
        match self.last {
            Some((known, rate)) if known == period => rate,
            _ => {
                let RandomRate { least, most, .. } = self.range;
                let choices = u128::from(most.0 - least.0) + 1;
                let draw = u128::from(self.stream.draw(period as u64));
                let rate = BitRate(least.0 + ((draw * choices) >> 64) as u64);
                self.last = Some((period, rate));
                rate
            }
        }
    }
}

impl Rates for RandomRates {
    fn span_at(&self, _from: usize, t: Nanos) -> usize {
        usize::try_from(t.0 / self.range.every.0).unwrap_or(usize::MAX)
    }

    fn rate_of(&mut self, span: usize) -> Option<BitRate> {
        Some(self.of(span))
    }

    fn end_of(&self, span: usize) -> Option<Nanos> {
        (span as u64 + 1).checked_mul(self.range.every.0).map(Nanos)
    }
}
