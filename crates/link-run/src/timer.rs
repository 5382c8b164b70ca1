// SPDX-License-Identifier: Apache-2.0
//! Being on time: scheduling, and how long before an instant to stop sleeping.

use std::thread;
use std::time::Duration;

use crate::clock::monotonic_ns;

/// A spin that covers most wake-ups of an idle virtual machine, which take 50 to 100 µs.
const LONG_SPIN_NS: u64 = 200_000;
/// A spin that covers the usual wake-up and leaves half a core to others at 100 Mbit/s.
const SHORT_SPIN_NS: u64 = 60_000;
/// Up to so many cores, long spins at every packet would take time from the ends of the link, which hurts more than it
/// helps.
const FEW_CORES: usize = 2;
/// With few cores, there is credit for long spins of one part in so many of the time.
const ELAPSED_PER_SPUN: u64 = 4;
/// Most of that credit that may be saved up.
const MOST_SPIN_CREDIT_NS: u64 = 10_000_000;
/// Real-time priority, where the system grants it.
const PRIORITY: libc::c_int = 50;

/// A real-time thread that is awake for more than 95 % of a second is stopped for the rest of it (sched(7)). So the link
/// stays awake for at most 16 times as long as it sleeps, save a credit.
const AWAKE_PER_ASLEEP: i64 = 16;
/// Longest time awake that may be saved up: 16/17 of a second and this are below 95 %.
const MOST_CREDIT_NS: i64 = 5_000_000;
/// A nap: with the time to wake up, late enough to matter to few packets and to none by much.
const NAP: Duration = Duration::from_micros(20);

/// Keeps a thread that is never idle from being stopped by the kernel for tens of milliseconds, by naps.
#[derive(Debug)]
pub struct Naps {
    /// Below zero there is sleep to catch up on.
    credit_ns: i64,
    booked_until_ns: u64,
}

impl Default for Naps {
    /// Starts with all that may be saved up.
    fn default() -> Self {
        Self {
            credit_ns: MOST_CREDIT_NS,
            booked_until_ns: monotonic_ns(),
        }
    }
}

impl Naps {
    /// To be called at every turn while awake: naps if it is time to.
    pub fn nap_if_due(&mut self, now_ns: u64) {
        self.credit_ns = self.credit_ns.saturating_sub(self.elapsed_ns(now_ns));
        if self.credit_ns > 0 {
            return;
        }
        // Whoever started the link may have made it real-time since.
        if is_real_time() {
            thread::sleep(NAP);
            self.slept();
        } else {
            self.credit_ns = MOST_CREDIT_NS;
        }
    }

    /// To be called after a sleep, which started at the last call of [`Naps::nap_if_due`].
    pub fn slept(&mut self) {
        let earned_ns = self
            .elapsed_ns(monotonic_ns())
            .saturating_mul(AWAKE_PER_ASLEEP);
        self.credit_ns = self.credit_ns.saturating_add(earned_ns).min(MOST_CREDIT_NS);
    }

    /// Since the last call.
    fn elapsed_ns(&mut self, now_ns: u64) -> i64 {
        let elapsed_ns = now_ns - self.booked_until_ns;
        self.booked_until_ns = now_ns;
        i64::try_from(elapsed_ns).unwrap_or(i64::MAX)
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

/// Whether this thread is under `SCHED_FIFO` now.
fn is_real_time() -> bool {
    // SAFETY: the call takes a number.
    let policy = unsafe { libc::sched_getscheduler(0) };
    policy >= 0 && [libc::SCHED_FIFO, 6].contains(&(policy & !libc::SCHED_RESET_ON_FORK))
}

/// How long before a due time to stop sleeping and spin, as wake-ups are late.
#[derive(Debug)]
pub struct Spin {
    long_ns: u64,
    short_ns: u64,
    /// Time that may still be spun long.
    credit_ns: u64,
    asked_ns: u64,
    spins: bool,
}

impl Spin {
    /// Always so long; if that is not given, long, but with few cores short once the long ones have had their share.
    #[must_use]
    pub fn new(fixed_ns: Option<u64>, cores: usize, now_ns: u64) -> Self {
        let long_ns = fixed_ns.unwrap_or(LONG_SPIN_NS);
        let bounded = fixed_ns.is_none() && cores <= FEW_CORES;
        Self {
            long_ns,
            short_ns: if bounded { SHORT_SPIN_NS } else { long_ns },
            credit_ns: MOST_SPIN_CREDIT_NS,
            asked_ns: now_ns,
            spins: false,
        }
    }

    /// The longest spin.
    #[must_use]
    pub fn longest_ns(&self) -> u64 {
        self.long_ns
    }

    /// How long to sleep at `now_ns` if something is due at `due_ns`; zero to spin, and then to ask again.
    pub fn sleep_ns(&mut self, now_ns: u64, due_ns: u64) -> u64 {
        let elapsed_ns = now_ns - self.asked_ns;
        self.asked_ns = now_ns;
        self.credit_ns = if self.spins {
            self.credit_ns.saturating_sub(elapsed_ns)
        } else {
            (self.credit_ns + elapsed_ns / ELAPSED_PER_SPUN).min(MOST_SPIN_CREDIT_NS)
        };
        // A spin that has begun goes on while there is credit; a long one begins only with enough for all of it.
        let long = self.credit_ns >= if self.spins { 1 } else { self.long_ns };
        let spin_ns = if long { self.long_ns } else { self.short_ns };
        let sleep_ns = due_ns.saturating_sub(spin_ns).saturating_sub(now_ns);
        self.spins = sleep_ns == 0;
        sleep_ns
    }
}
