// SPDX-License-Identifier: Apache-2.0
//! Serialisation at a rate that may change at given instants.

use crate::timeline::Timeline;
use crate::units::{BitRate, Bytes, Nanos};

/// Work that one bit asks for. A rate of r bit/s does r of these units in a nanosecond.
const WORK_PER_BIT: u64 = 1_000_000_000;

/// A rate for every instant, in spans of time in which it is constant; `None` takes no time.
pub trait Rates {
    /// The number of the span that holds `t`, which is not before span `from`.
    fn span_at(&self, from: usize, t: Nanos) -> usize;
    /// The rate of a span.
    fn rate_of(&mut self, span: usize) -> Option<BitRate>;
    /// The instant at which a span ends; `None` for the last.
    fn end_of(&self, span: usize) -> Option<Nanos>;
}

impl Rates for Timeline<Option<BitRate>> {
    fn span_at(&self, from: usize, t: Nanos) -> usize {
        Timeline::span_at(self, from, t)
    }

    fn rate_of(&mut self, span: usize) -> Option<BitRate> {
        *self.value_of(span)
    }

    fn end_of(&self, span: usize) -> Option<Nanos> {
        Timeline::end_of(self, span)
    }
}

/// The instant at which the transmitter is free again, exactly: `free` + `carry` / rate.
///
/// The carry is the part of a nanosecond that the last packet used, kept as work, so that no rounding adds up: the
/// last of any number of back-to-back packets leaves within 1 ns of (sum of bits) / rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateClock {
    free: Nanos,
    carry: u64,
    span: usize,
}

impl RateClock {
    /// The instant at which the transmitter is free again.
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
    /// A rate of `None` takes no time; where the rate changes while the packet is being sent, each part of the packet
    /// goes at the rate of its moment.
    #[must_use]
    pub fn after(mut self, rates: &mut impl Rates, ready: Nanos, size: Bytes) -> Self {
        if ready > self.free {
            self.free = ready;
            self.carry = 0;
        }
        self.span = rates.span_at(self.span, self.free);
        let mut work = self.carry + size.0 * 8 * WORK_PER_BIT;
        loop {
            let Some(BitRate(rate)) = rates.rate_of(self.span) else {
                self.carry = 0;
                return self;
            };
            match rates.end_of(self.span) {
                Some(end) if end.since(self.free).0.saturating_mul(rate) < work => {
                    work -= end.since(self.free).0 * rate;
                    self.free = end;
                    self.span += 1;
                }
                _ if rate == 0 => {
                    self.free = Nanos::NEVER;
                    return self;
                }
                _ => {
                    self.free += Nanos(work / rate);
                    self.carry = work % rate;
                    return self;
                }
            }
        }
    }
}
