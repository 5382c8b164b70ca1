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
