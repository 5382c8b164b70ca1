// SPDX-License-Identifier: Apache-2.0
//! How long the link spins before a due time.

use link_run::timer::spin_ns;

/// A spin that is asked for is kept to, however few the cores.
#[test]
fn a_spin_that_is_asked_for_is_kept_to() {
    for asked_ns in [0, 150_000] {
        assert_eq!(spin_ns(Some(asked_ns), 1), asked_ns);
        assert_eq!(spin_ns(Some(asked_ns), 64), asked_ns);
    }
}

/// Where cores are few the ends need them more than the link does.
#[test]
fn few_cores_are_left_to_the_ends() {
    assert_eq!(spin_ns(None, 2), 60_000);
    assert_eq!(spin_ns(None, 3), 200_000);
}
