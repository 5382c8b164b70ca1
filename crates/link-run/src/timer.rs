// SPDX-License-Identifier: Apache-2.0
//! Being on time: scheduling, and how long before an instant to stop sleeping.

use std::thread;
use std::time::Duration;

use crate::clock::monotonic_ns;

/// Sleeps of the probe, and the length of each: 8 ms in all.
const PROBES: u32 = 16;
const PROBE: Duration = Duration::from_micros(500);
/// Up to two cores a longer spin takes time from the ends of the link, which hurts more than it helps.
const SPIN_FEW_CORES_NS: u64 = 60_000;
const SPIN_NS: u64 = 200_000;
/// Real-time priority, where the system grants it.
const PRIORITY: libc::c_int = 50;

/// A real-time thread that is awake for more than 95 % of a second is stopped for the rest of it (sched(7)). So the link
/// stays awake for at most 13 times as long as it sleeps, save a credit.
const AWAKE_PER_ASLEEP: u64 = 13;
/// Longest time awake that may be saved up: 13/14 of a second and this are below 95 %.
const MOST_CREDIT_NS: u64 = 15_000_000;
/// A nap: with the time to wake up, late enough to matter to few packets and to none by much.
const NAP: Duration = Duration::from_micros(20);

/// Keeps a thread that is never idle from being stopped by the kernel for tens of milliseconds, by naps.
#[derive(Debug)]
pub struct Naps {
    needed: bool,
    credit_ns: u64,
    booked_until_ns: u64,
}

impl Naps {
    /// Starts with all that may be saved up. Without real-time priority no naps are needed.
    #[must_use]
    pub fn new(real_time: bool) -> Self {
        Self {
            needed: real_time,
            credit_ns: MOST_CREDIT_NS,
            booked_until_ns: monotonic_ns(),
        }
    }

    /// To be called while awake, every millisecond or more often: naps if it is time to.
    pub fn nap_if_due(&mut self) {
        let now_ns = monotonic_ns();
        self.credit_ns = self.credit_ns.saturating_sub(now_ns - self.booked_until_ns);
        self.booked_until_ns = now_ns;
        if self.needed && self.credit_ns == 0 {
            thread::sleep(NAP);
            self.slept();
        }
    }

    /// To be called after a sleep, which started at the last call of [`Naps::nap_if_due`].
    pub fn slept(&mut self) {
        let now_ns = monotonic_ns();
        let earned_ns = (now_ns - self.booked_until_ns).saturating_mul(AWAKE_PER_ASLEEP);
        self.credit_ns = self.credit_ns.saturating_add(earned_ns).min(MOST_CREDIT_NS);
        self.booked_until_ns = now_ns;
    }
}

/// What the system granted.
#[derive(Clone, Copy, Debug)]
pub struct Scheduling {
    /// `SCHED_FIFO` is on.
    pub real_time: bool,
    /// Memory is locked.
    pub memory_locked: bool,
}

/// Asks for what makes this thread punctual; nothing of it is required.
#[must_use]
pub fn ask_for_punctuality() -> Scheduling {
    let parameters = libc::sched_param {
        sched_priority: PRIORITY,
    };
    // SAFETY: these calls take numbers, and a valid sched_param that outlives the call.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong);
        Scheduling {
            real_time: libc::sched_setscheduler(
                0,
                libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
                &raw const parameters,
            ) == 0,
            memory_locked: libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT)
                == 0,
        }
    }
}

/// How long before a due time to stop sleeping: what nine of ten of this machine's wake-ups are late by, within limits.
#[must_use]
pub fn calibrate_spin_ns() -> u64 {
    let mut late: Vec<u64> = (0..PROBES)
        .map(|_| {
            let start = monotonic_ns();
            thread::sleep(PROBE);
            (monotonic_ns() - start).saturating_sub(500_000)
        })
        .collect();
    late.sort_unstable();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let most = if cores <= 2 {
        SPIN_FEW_CORES_NS
    } else {
        SPIN_NS
    };
    late[late.len() * 9 / 10].clamp(20_000, most)
}
