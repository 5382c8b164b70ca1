// SPDX-License-Identifier: Apache-2.0
//! Resolution of a trace's times, measured by the decimals that they are written with.

/// A magnitude counts once it has so many times: a few may end in zeros by chance.
const ENOUGH: u64 = 32;

/// The decimals seen, by the magnitude of the number: a program that keeps times in single precision loses
/// decimals as it runs.
#[derive(Debug)]
pub(super) struct Resolution {
    magnitudes: [Seen; 64],
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    times: u64,
    step_ns: u64,
}

impl Default for Resolution {
    fn default() -> Self {
        Self {
            magnitudes: [Seen::default(); 64],
        }
    }
}

impl Resolution {
    /// A time of `ns`, written with `decimals` in units of ten to the power of `exponent` nanoseconds.
    #[inline]
    pub(super) fn add(&mut self, ns: i64, decimals: u32, exponent: u32) {
        let magnitude = (u64::BITS - ns.unsigned_abs().leading_zeros()).min(63) as usize;
        let step_ns = 10_u64.pow(exponent.saturating_sub(decimals));
        let seen = &mut self.magnitudes[magnitude];
        if seen.times == 0 || step_ns < seen.step_ns {
            seen.step_ns = step_ns;
        }
        seen.times += 1;
    }

    /// The coarsest step of any magnitude; 1 if there were no times.
    pub(super) fn step_ns(&self) -> u64 {
        let seen = || self.magnitudes.iter().filter(|seen| seen.times > 0);
        let often = seen().filter(|seen| seen.times >= ENOUGH);
        let coarsest = often.map(|seen| seen.step_ns).max();
        // Too few of each: the finest of all.
        coarsest
            .or_else(|| seen().map(|seen| seen.step_ns).min())
            .unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_milliseconds_are_told_from_single_precision() {
        let mut whole = Resolution::default();
        let mut single = Resolution::default();
        for ms in 0..100 {
            whole.add(ms * 1_000_000, 0, 6);
            single.add(1_000_000 + ms, 6, 6);
            single.add(3_000_000_000 + ms, 4, 6);
        }
        assert_eq!((whole.step_ns(), single.step_ns()), (1_000_000, 100));
    }
}
