// SPDX-License-Identifier: Apache-2.0
//! Being on time: scheduling, and how long before an instant to stop sleeping.

use std::thread;
use std::time::Duration;

use crate::clock::monotonic_ns;

/// A spin that covers most wake-ups of an idle virtual machine, which take 50 to 100 µs.
const LONG_SPIN_NS: u64 = 200_000;
/// A spin that covers the usual wake-up of a processor that stays awake, and leaves half of one to others at
/// 100 Mbit/s.
const SHORT_SPIN_NS: u64 = 60_000;
/// Up to so many cores, long spins would take time from the ends of the link, which hurts more than it helps.
const FEW_CORES: usize = 2;
/// A constant of linux/sched.h that libc does not have.
const SCHED_DEADLINE: libc::c_int = 6;
/// Real-time priority, where the system grants it.
const PRIORITY: libc::c_int = 50;
/// Shortest slice that the kernel gives. An ordinary thread that wakes up with a shorter slice than the one that runs
/// need not wait for that one's turn to end (EEVDF, Linux 6.12).
const SHORTEST_SLICE_NS: u64 = 100_000;
/// Threads that this one starts get the system's own slice.
const RESET_ON_FORK: u64 = 1;

/// A real-time thread that is awake for more than 95 % of a second is stopped for the rest of it (sched(7)). So the
/// link stays awake for at most 16 times as long as it sleeps, save a credit.
const AWAKE_PER_ASLEEP: i64 = 16;
/// Longest time awake that may be saved up: 16/17 of a second and this are below 95 %.
const MOST_CREDIT_NS: i64 = 5_000_000;
/// A nap: with the time to wake up, late enough to matter to few packets and to none by much.
const NAP: Duration = Duration::from_micros(20);
/// Time before a due time at which a nap ends: the wake-up from so short a sleep is seldom later.
const NAP_ENDS_BEFORE_NS: u64 = 25_000;
/// A shorter nap is not worth the way to it.
const SHORTEST_NAP_NS: u64 = 5_000;

/// Keeps a thread that is never idle from being stopped by the kernel for tens of milliseconds, by naps.
#[derive(Debug)]
pub struct Naps {
    /// Time that the thread may stay awake; below zero there is sleep to catch up on.
    credit_ns: i64,
    booked_until_ns: u64,
    /// True if the thread was real-time when it last had no credit: others need no naps.
    needed: bool,
}

impl Default for Naps {
    /// Starts with all that may be saved up.
    fn default() -> Self {
        Self {
            credit_ns: MOST_CREDIT_NS,
            booked_until_ns: monotonic_ns(),
            needed: false,
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
        // The link may have been made real-time from outside since its start.
        self.needed = real_time() != "none";
        if self.needed {
            thread::sleep(NAP);
            self.slept();
        } else {
            self.credit_ns = MOST_CREDIT_NS;
        }
    }

    /// Time to sleep now, while nothing is due for `left_ns`, so that no nap has to be taken when
    /// something is. 0: not at all.
    #[must_use]
    pub fn in_time_ns(&self, left_ns: u64) -> u64 {
        if self.needed && self.credit_ns < MOST_CREDIT_NS / 2 {
            fitting_nap_ns(left_ns)
        } else {
            0
        }
    }

    /// To be called after a sleep, which started at the last call of [`Naps::nap_if_due`].
    pub fn slept(&mut self) {
        let earned_ns = self
            .elapsed_ns(monotonic_ns())
            .saturating_mul(AWAKE_PER_ASLEEP);
        self.credit_ns = self.credit_ns.saturating_add(earned_ns).min(MOST_CREDIT_NS);
    }

    /// Time since the last call.
    fn elapsed_ns(&mut self, now_ns: u64) -> i64 {
        let elapsed_ns = now_ns - self.booked_until_ns;
        self.booked_until_ns = now_ns;
        i64::try_from(elapsed_ns).unwrap_or(i64::MAX)
    }
}

/// The nap that ends well before something is due in `left_ns`; 0: there is no time for one.
#[must_use]
pub fn fitting_nap_ns(left_ns: u64) -> u64 {
    let nap_ns = left_ns.saturating_sub(NAP_ENDS_BEFORE_NS);
    if nap_ns < SHORTEST_NAP_NS {
        0
    } else {
        nap_ns
    }
}

/// Asks for what makes this thread punctual, of which nothing is required: real time, if `real_time`; where that is not
/// granted, the shortest slice, which any user may have.
pub fn ask_for_punctuality(real_time: bool) {
    let parameters = libc::sched_param {
        sched_priority: PRIORITY,
    };
    let flags = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: these calls take numbers, and a valid sched_param that outlives the call.
    let granted = unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong);
        real_time && libc::sched_setscheduler(0, flags, &raw const parameters) == 0
    };
    if !granted {
        ask_for_shortest_slice();
    }
}

/// Asks for the shortest slice for this thread alone; a kernel without slices (before Linux 6.12) changes nothing.
fn ask_for_shortest_slice() {
    if let Some(attributes) = attributes_of(0) {
        set_shortest_slice(attributes);
    }
}

/// Gives up the precedence of this thread, for the shortest slice; whether the kernel took it. Any thread may.
#[must_use]
pub fn become_ordinary() -> bool {
    let Some(mut attributes) = attributes_of(0) else {
        return false;
    };
    attributes.sched_policy = 0; // SCHED_OTHER
    attributes.sched_priority = 0;
    attributes.sched_nice = 0;
    attributes.sched_deadline = 0;
    attributes.sched_period = 0;
    set_shortest_slice(attributes)
}

fn set_shortest_slice(mut attributes: libc::sched_attr) -> bool {
    attributes.sched_flags = RESET_ON_FORK;
    attributes.sched_runtime = SHORTEST_SLICE_NS;
    // SAFETY: the attributes outlive the call, and their size is in them.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) == 0 }
}

/// The slice of the process's first thread, which moves the packets; none where the kernel has no slices, or the thread
/// is real-time.
#[must_use]
pub fn slice_ns() -> Option<u64> {
    let attributes = attributes_of(std::process::id())?;
    let ordinary = i64::from(attributes.sched_policy) == i64::from(libc::SCHED_OTHER);
    (ordinary && attributes.sched_runtime > 0).then_some(attributes.sched_runtime)
}

/// Scheduling attributes of a thread of this process; 0 is the calling one.
fn attributes_of(thread: u32) -> Option<libc::sched_attr> {
    // SAFETY: an all-zero sched_attr is valid, and the kernel writes no more than its size.
    unsafe {
        let mut attributes: libc::sched_attr = std::mem::zeroed();
        let size = size_of_val(&attributes);
        let answer = libc::syscall(
            libc::SYS_sched_getattr,
            thread,
            &raw mut attributes,
            size,
            0,
        );
        (answer == 0).then_some(attributes)
    }
}

/// Asks to keep all memory of the process where it is, that of later too; whether it is. From then on the process may
/// get no more memory than the system lets it lock, which is little for users that are not root.
#[must_use]
pub fn lock_memory() -> bool {
    // SAFETY: the call takes numbers.
    unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) == 0 }
}

/// Scheduling of the process's first thread, which moves the packets, now: `deadline`, `fifo`, or
/// `none` where it has no precedence over others.
#[must_use]
pub fn real_time() -> &'static str {
    // SAFETY: the calls take numbers.
    let policy = unsafe { libc::sched_getscheduler(libc::getpid()) };
    match policy & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_FIFO => "fifo",
        SCHED_DEADLINE => "deadline",
        _ => "none",
    }
}

/// Time before a due time at which to stop sleeping and spin, as wake-ups are late: as asked, or as
/// the cores allow.
#[must_use]
pub fn spin_ns(asked_ns: Option<u64>, cores: usize) -> u64 {
    asked_ns.unwrap_or(if cores <= FEW_CORES {
        SHORT_SPIN_NS
    } else {
        LONG_SPIN_NS
    })
}
