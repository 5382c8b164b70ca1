// SPDX-License-Identifier: Apache-2.0
//! `CLOCK_MONOTONIC`, the one clock of every time that is written, and its distance from `CLOCK_REALTIME`.

/// Nanoseconds of a clock.
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec; the clocks that are asked for here exist on every Linux.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
#[must_use]
pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CPU time that this process has used so far.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time that this thread has used so far.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// `CLOCK_REALTIME` minus `CLOCK_MONOTONIC`: the best of a few tries, each taken between two readings of the other.
#[must_use]
pub fn realtime_minus_monotonic_ns() -> i64 {
    (0..8)
        .map(|_| {
            let before = monotonic_ns();
            let realtime = read(libc::CLOCK_REALTIME);
            let after = monotonic_ns();
            (
                after - before,
                signed(realtime) - signed(before.midpoint(after)),
            )
        })
        .min_by_key(|(width, _)| *width)
        .map_or(0, |(_, offset)| offset)
}

fn signed(time_ns: u64) -> i64 {
    i64::try_from(time_ns).unwrap_or(i64::MAX)
}

/// Turns the kernel's time stamps, which are of `CLOCK_REALTIME`, into instants of `CLOCK_MONOTONIC`.
#[derive(Debug)]
pub struct StampClock {
    realtime_minus_monotonic_ns: i64,
    measured_ns: u64,
}

/// Time for which a measured distance of the two clocks is believed.
const BELIEVED_NS: u64 = 10_000_000;
/// A stamp that seems older is believed only by a distance measured just now: the clock may have been set.
const OLD_NS: u64 = 5_000_000;

impl Default for StampClock {
    fn default() -> Self {
        Self {
            realtime_minus_monotonic_ns: realtime_minus_monotonic_ns(),
            measured_ns: monotonic_ns(),
        }
    }
}

impl StampClock {
    /// The instant of a stamp that was made before `now_ns`.
    pub fn monotonic_ns(&mut self, stamp_ns: u64, now_ns: u64) -> u64 {
        let at_ns = self.mapped(stamp_ns);
        let age_ns = now_ns.wrapping_sub(at_ns);
        if age_ns > OLD_NS || now_ns.saturating_sub(self.measured_ns) > BELIEVED_NS {
            *self = Self::default();
        }
        self.mapped(stamp_ns).min(now_ns)
    }

    fn mapped(&self, stamp_ns: u64) -> u64 {
        stamp_ns.wrapping_add_signed(-self.realtime_minus_monotonic_ns)
    }
}
