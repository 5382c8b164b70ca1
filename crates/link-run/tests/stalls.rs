// SPDX-License-Identifier: Apache-2.0
//! Stalls of the thread, in made-up time.

use link_run::stalls::Stalls;

const MS: u64 = 1_000_000;

/// Steps of work are no stall, however many follow each other.
#[test]
fn work_is_no_stall() {
    let mut stalls = Stalls::new(0);
    for step in 1..10_000 {
        stalls.look(step * 100_000);
    }
    assert_eq!(stalls.since_ns(0), 0);
}

/// Packets that were due in the middle of a stall waited for its rest, and for all that
/// followed.
#[test]
fn only_the_time_after_the_instant_counts() {
    let mut stalls = Stalls::new(0);
    for at_ns in [10 * MS, 10 * MS + 1000, 13 * MS, 13 * MS + 1000] {
        stalls.look(at_ns);
    }
    assert_eq!(stalls.since_ns(0), 10 * MS + 3 * MS - 1000);
    assert_eq!(stalls.since_ns(4 * MS), 6 * MS + 3 * MS - 1000);
    assert_eq!(stalls.since_ns(11 * MS), 2 * MS);
    assert_eq!(stalls.since_ns(13 * MS), 0);
}
