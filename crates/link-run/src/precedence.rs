// SPDX-License-Identifier: Apache-2.0
//! Real-time precedence that is given up where the ends need the processor that the link takes.

use crate::timer;

/// Processors that are enough for link, sender and receiver: with these nobody has to give way.
const ENOUGH_CORES: usize = 3;
/// A link that takes more of a processor than this share, in hundredths, takes what the ends of the link need.
const LARGEST_SHARE_PCT: i64 = 85;
/// Processor time beyond that share before it gives way: 67 ms of a link that never sleeps. A burst may take so much.
const MOST_BEYOND_NS: i64 = 10_000_000;

/// Watches how much of a processor the link's thread takes, and says when that is more than leaves the ends of the link
/// theirs.
#[derive(Debug)]
pub struct Precedence {
    watches: bool,
    /// Processor time beyond the share, less what was left of it since.
    beyond_ns: i64,
    looked_ns: u64,
    cpu_ns: u64,
}

impl Precedence {
    /// Watches a thread that moves the packets of one run, on so many processors, and has taken `cpu_ns` at `now_ns`.
    /// One that moves those of several runs keeps its precedence: a run of trials side by side measures what that costs
    /// the ends.
    #[must_use]
    pub fn new(now_ns: u64, cpu_ns: u64, cores: usize, shared: bool) -> Self {
        Self {
            watches: cores < ENOUGH_CORES && !shared,
            beyond_ns: 0,
            looked_ns: now_ns,
            cpu_ns,
        }
    }

    /// Take note of the processor time that the thread has used; true if it is time to give way.
    pub fn look(&mut self, now_ns: u64, cpu_ns: u64) -> bool {
        let passed_ns = difference(now_ns, self.looked_ns);
        let taken_ns = difference(cpu_ns, self.cpu_ns);
        (self.looked_ns, self.cpu_ns) = (now_ns, cpu_ns);
        let beyond_ns = taken_ns - passed_ns * LARGEST_SHARE_PCT / 100;
        self.beyond_ns = (self.beyond_ns + beyond_ns).max(0);
        if self.beyond_ns < MOST_BEYOND_NS {
            return false;
        }
        self.beyond_ns = 0;
        self.watches
    }
}

/// A length of time, at most a second.
fn difference(later_ns: u64, earlier_ns: u64) -> i64 {
    let ns = later_ns.saturating_sub(earlier_ns).min(1_000_000_000);
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// Gives this thread's precedence up, if it has any; whether it had.
#[must_use]
pub fn give_way() -> bool {
    timer::real_time() != "none" && timer::become_ordinary()
}
