// SPDX-License-Identifier: Apache-2.0
//! How long the link sleeps and spins, on a clock of its own.

use link_run::timer::Spin;

const MICROSECOND: u64 = 1000;
const SECOND: u64 = 1_000_000_000;
/// A turn of the loop that finds nothing to do.
const TURN: u64 = MICROSECOND;

/// Waits for packets with even gaps during a second, with wake-ups that are never late, and says how long was spun.
fn spun_ns(mut spin: Spin, gap_ns: u64) -> u64 {
    let (mut now_ns, mut spun_ns) = (0, 0);
    for due_ns in (gap_ns..=SECOND).step_by(usize::try_from(gap_ns).unwrap()) {
        while now_ns < due_ns {
            let sleep_ns = spin.sleep_ns(now_ns, due_ns);
            now_ns += sleep_ns.max(TURN);
            spun_ns += if sleep_ns == 0 { TURN } else { 0 };
        }
    }
    spun_ns
}

/// A spin that is asked for is kept to, however few the cores.
#[test]
fn a_fixed_spin_is_kept_to() {
    for (fixed_ns, packets) in [(0, 0), (150 * MICROSECOND, 1000)] {
        let spin = Spin::new(Some(fixed_ns), 1, 0);
        assert_eq!(spun_ns(spin, 1000 * MICROSECOND), fixed_ns * packets);
    }
}

/// Few packets are all waited for with a long spin.
#[test]
fn sparse_packets_get_long_spins() {
    let spin = Spin::new(None, 2, 0);
    assert_eq!(spun_ns(spin, 10_000 * MICROSECOND), 100 * 200 * MICROSECOND);
}

/// Many packets leave half a core to others where cores are few, and get their long spins where they are not.
#[test]
fn dense_packets_get_short_spins_where_cores_are_few() {
    let gap_ns = 125 * MICROSECOND;
    let few = spun_ns(Spin::new(None, 2, 0), gap_ns);
    assert!((SECOND * 4 / 10..SECOND * 55 / 100).contains(&few), "{few}");
    let many = spun_ns(Spin::new(None, 4, 0), gap_ns);
    assert_eq!(many, SECOND);
}
