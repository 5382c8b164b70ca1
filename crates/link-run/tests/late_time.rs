// SPDX-License-Identifier: Apache-2.0
//! The time in which a direction was late, whatever packets show it.

use link_run::late_time::LateTime;

const BOUND: u64 = 100;

fn late(packets: &[(u64, u64)]) -> u64 {
    let mut time = LateTime::new(BOUND);
    for &(wrote_ns, late_ns) in packets {
        time.add(wrote_ns, late_ns);
    }
    time.sum_ns()
}

/// A stop counts once, however many packets came due in it: up to the bound before its end.
#[test]
fn a_stop_counts_once() {
    let expected = 5_000 - BOUND;
    assert_eq!(late(&[(15_000, 5_000)]), expected);
    let many: Vec<(u64, u64)> = (0..50).map(|i| (15_000, 5_000 - i * 100)).collect();
    assert_eq!(late(&many), expected);
}

/// Lateness within the bound counts nothing, and two stops add up.
#[test]
fn stops_add_up() {
    assert_eq!(late(&[(1_000, BOUND), (2_000, 10)]), 0);
    assert_eq!(
        late(&[(15_000, 5_000), (15_010, 20), (40_000, 1_000)]),
        5_000 + 1_000 - 2 * BOUND
    );
}
