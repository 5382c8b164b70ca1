// SPDX-License-Identifier: Apache-2.0
//! Spinning before a due time, and naps.

use link_run::timer::{fitting_nap_ns, spin_ns, Naps};

/// A spin that is asked for is kept to, however few the cores.
#[test]
fn a_spin_that_is_asked_for_is_kept_to() {
    for asked_ns in [0, 150_000] {
        assert_eq!(spin_ns(Some(asked_ns), 1), asked_ns);
        assert_eq!(spin_ns(Some(asked_ns), 64), asked_ns);
    }
}

/// The ends need cores more than the link does where there are few.
#[test]
fn few_cores_are_left_to_the_ends() {
    assert_eq!(spin_ns(None, 2), 60_000);
    assert_eq!(spin_ns(None, 3), 200_000);
}

/// A nap leaves time to wake up from it; where there is too little, none is taken.
#[test]
fn a_nap_ends_well_before_something_is_due() {
    assert_eq!(fitting_nap_ns(34_000), 9_000);
    assert_eq!(fitting_nap_ns(29_000), 0);
    assert_eq!(fitting_nap_ns(0), 0);
}

/// The kernel stops only real-time threads that never sleep.
#[test]
fn a_thread_that_is_not_real_time_needs_no_naps() {
    assert_eq!(Naps::default().in_time_ns(1_000_000), 0);
}
