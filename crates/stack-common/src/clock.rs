// SPDX-License-Identifier: Apache-2.0
//! The clock of every instant in an account.

/// `CLOCK_MONOTONIC` in nanoseconds, the laboratory's clock.
#[must_use]
pub fn monotonic_ns() -> u64 {
    // SAFETY: timespec is plain old data, and the kernel only writes into it.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
        time
    };
    // Neither part of this clock is ever negative.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::monotonic_ns;

    /// The clock counts from the start of the machine, and never goes back.
    #[test]
    fn it_goes_on() {
        let before = monotonic_ns();
        assert!(before > 0 && monotonic_ns() >= before);
    }
}
