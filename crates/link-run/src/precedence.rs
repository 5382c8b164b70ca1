// SPDX-License-Identifier: Apache-2.0
//! Real-time precedence that is given up where the ends need the processor that the link takes.

use crate::timer;

/// Processors that are enough for link, sender and receiver: with these nobody has to give way.
const ENOUGH_CORES: usize = 3;
/// A link that is awake for longer than this share of the time, in hundredths, takes what the ends of the link need.
const MOST_AWAKE_PCT: i64 = 70;
/// Time awake beyond that share before it gives way: 50 ms of a link that never sleeps. A burst may take so much.
const MOST_BEYOND_NS: i64 = 15_000_000;

/// Watches how busy the link's thread is, and gives its precedence over other programs up for good where it takes
/// more of few processors than leaves the ends of the link theirs.
#[derive(Debug)]
pub struct Precedence {
    watches: bool,
    /// Time awake beyond the share, less what was slept since.
    beyond_ns: i64,
    booked_until_ns: u64,
}

impl Precedence {
    /// Watches a thread that moves the packets of one run, on so many processors. One that moves those of several runs
    /// keeps its precedence: a run of trials side by side measures what that costs the ends.
    #[must_use]
    pub fn new(now_ns: u64, cores: usize, shared: bool) -> Self {
        Self {
            watches: cores < ENOUGH_CORES && !shared,
            beyond_ns: 0,
            booked_until_ns: now_ns,
        }
    }

    /// To be called at every turn while awake. True: it is time to give way.
    pub fn awake(&mut self, now_ns: u64) -> bool {
        let elapsed_ns = self.elapsed_ns(now_ns);
        self.beyond_ns += elapsed_ns * (100 - MOST_AWAKE_PCT) / 100;
        if self.beyond_ns < MOST_BEYOND_NS {
            return false;
        }
        self.beyond_ns = 0;
        self.watches
    }

    /// To be called after a sleep, which started at the last call of [`Precedence::awake`].
    pub fn slept(&mut self, now_ns: u64) {
        let slept_ns = self.elapsed_ns(now_ns);
        self.beyond_ns = (self.beyond_ns - slept_ns * MOST_AWAKE_PCT / 100).max(0);
    }

    /// Time since the last call, at most a second.
    fn elapsed_ns(&mut self, now_ns: u64) -> i64 {
        let elapsed_ns = now_ns.saturating_sub(self.booked_until_ns);
        self.booked_until_ns = now_ns;
        i64::try_from(elapsed_ns)
            .unwrap_or(i64::MAX)
            .min(1_000_000_000)
    }
}

/// Gives this thread's precedence up, if it has any; whether it had.
#[must_use]
pub fn give_way() -> bool {
    timer::real_time() != "none" && timer::become_ordinary()
}
