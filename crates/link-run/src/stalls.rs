// SPDX-License-Identifier: Apache-2.0
//! The times in which the link's thread did nothing: it slept, or was kept from running.

use std::collections::VecDeque;

/// The thread looks at the clock at each packet that it reads or writes. What lies further apart was no work: the
/// longest step, a super-packet or a train of one, takes a tenth of this to a half.
const STEP_NS: u64 = 250_000;
/// Number of stalls that are remembered. One that is forgotten is older than all packets that wait,
/// unless the machine hardly runs.
const REMEMBERED: usize = 1024;

/// Remembers when the thread stood still.
#[derive(Debug)]
pub struct Stalls {
    looked_ns: u64,
    /// Beginnings and ends, in order of time.
    recent: VecDeque<(u64, u64)>,
}

impl Stalls {
    /// Starts with the thread at work since `now_ns`.
    #[must_use]
    pub fn new(now_ns: u64) -> Self {
        Self {
            looked_ns: now_ns,
            recent: VecDeque::with_capacity(REMEMBERED),
        }
    }

    /// The thread is at work at `now_ns`, and was when this was last called.
    pub fn look(&mut self, now_ns: u64) {
        if now_ns > self.looked_ns + STEP_NS {
            if self.recent.len() == REMEMBERED {
                self.recent.pop_front();
            }
            self.recent.push_back((self.looked_ns, now_ns));
        }
        self.looked_ns = now_ns;
    }

    /// Time since `from_ns` for which the thread stood still.
    #[must_use]
    pub fn since_ns(&self, from_ns: u64) -> u64 {
        let after = |&&(_, end_ns): &&(u64, u64)| end_ns > from_ns;
        let newest_first = self.recent.iter().rev();
        newest_first
            .take_while(after)
            .map(|&(begin_ns, end_ns)| end_ns - begin_ns.max(from_ns))
            .sum()
    }
}
