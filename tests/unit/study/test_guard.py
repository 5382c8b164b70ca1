# SPDX-License-Identifier: Apache-2.0
"""How many trials may run side by side, from what the machine did to those before."""

from __future__ import annotations

from dataclasses import replace

import pytest
from trial_records import record
from unit.study.rows import ROW

from quiclab.study.guard import BUSY, CALM, ArmInCell, Guard, Guards, Strain, Waits, strain_of

ARM, OTHER_ARM = ("object", "plain", "h2"), ("object", "plain", "h3")
_MS = 10**6
_ALONE_NS = 20_000


def _strain(each_ns: int, *, late: float = 0.1, void: bool = False) -> Strain:
    """A transfer of 25 round trips whose client has 1000 wake-ups, each of which waits so long."""
    waits = {"client": Waits(1000 * each_ns, 1000)}
    return Strain(waits, transfer_ns=1000 * _MS, rtt_ns=40 * _MS, late=late, void=void)


def _guard(most: int = 8) -> Guard:
    guard = Guard(most)
    guard.ran_alone(ARM, _strain(_ALONE_NS))
    return guard


def _after(guard: Guard, strain: Strain, trials: int, arm: ArmInCell = ARM) -> int:
    for _ in range(trials):
        guard.ran_beside_others(arm, strain)
    return guard.at_once


def test_the_estimate_counts_wake_ups_that_others_wait_for() -> None:
    """Two of a program in each round trip and twenty of handshakes; all where there are no more."""
    assert _strain(120_000).longer_than({"client": _ALONE_NS}) == pytest.approx((20 + 2 * 25) * 0.1 / 1000)
    few = Strain({"client": Waits(40 * _MS, 40)}, transfer_ns=1000 * _MS, rtt_ns=1 * _MS, late=0.0)
    assert few.longer_than({"client": 0.0}) == pytest.approx(0.04)
    assert _strain(_ALONE_NS // 2).longer_than({"client": _ALONE_NS}) < 0


def test_it_rises_while_trials_are_calm() -> None:
    """By one at a time, up to what is allowed."""
    guard = _guard(most=3)
    assert guard.at_once == 2
    assert _after(guard, _strain(_ALONE_NS), 3) == 2
    assert _after(guard, _strain(_ALONE_NS), 1) == 3
    assert _after(guard, _strain(_ALONE_NS), 50) == 3
    assert Guard(1).at_once == 1


def _waiting(share: float) -> int:
    """How long a wake-up must wait for a transfer to be so much longer by estimate."""
    return round(_ALONE_NS + share * 1000 * _MS / 70)


def test_it_falls_where_they_wait_and_does_not_try_at_once_again() -> None:
    """Only after many trials, when the machine may be quiet again."""
    guard = _guard()
    assert _after(guard, _strain(_waiting((CALM + BUSY) / 2)), 60) == 2
    assert _after(guard, _strain(_waiting(1.1 * BUSY)), 4) == 1
    assert _after(guard, _strain(_ALONE_NS), 90) == 1
    assert _after(guard, _strain(_ALONE_NS), 20) >= 2


def test_late_links_keep_it_from_rising_and_void_trials_make_it_fall() -> None:
    """One void trial may be anything's fault."""
    assert _after(_guard(), _strain(_ALONE_NS, late=0.6), 60) == 2
    for void, at_once in ((1, 2), (2, 1)):
        guard = _guard()
        _after(guard, _strain(_ALONE_NS, void=True), void)
        assert _after(guard, _strain(_ALONE_NS), 4 - void) == at_once


def test_the_arm_that_is_disturbed_most_decides() -> None:
    """However calm the other one is: it alone would look slower than it is."""
    guard = _guard()
    guard.ran_alone(OTHER_ARM, _strain(_ALONE_NS))
    _after(guard, _strain(_ALONE_NS), 4)
    assert guard.at_once == 3
    _after(guard, _strain(_waiting(1.1 * BUSY)), 3, OTHER_ARM)
    assert _after(guard, _strain(_ALONE_NS), 9) == 3
    assert _after(guard, _strain(_waiting(1.1 * BUSY)), 1, OTHER_ARM) == 2


def test_an_arm_that_never_ran_alone_says_nothing() -> None:
    """A void trial teaches nothing either."""
    guard = Guard(4)
    guard.ran_alone(ARM, _strain(_ALONE_NS, void=True))
    assert not guard.knows(ARM)
    guard.ran_alone(ARM, _strain(_ALONE_NS))
    assert guard.knows(ARM)


def test_a_trial_without_counts_has_no_strain() -> None:
    """A kernel that does not count waits says nothing of them."""
    document = {"time_ns": {"transfer": 5}, "host": {"cost": {"client": {"run_delay": {"sum_ns": None}}}}, "link": {}}
    assert strain_of(record(document), 1, 1) == Strain({}, 5, 1, 0.0)
    cost = {
        "run_delay": {"sum_ns": 300},
        "transfer": {"voluntary_switches": 4, "involuntary_switches": 2},
    }
    document = {"time_ns": {"transfer": 5}, "host": {"cost": {"server": cost}}, "status": "void"}
    link = {"lateness": {"p99_ns": 50}}
    assert strain_of(record(document | {"link": link}), 1, 100) == Strain(
        {"server": Waits(300, 6)}, 5, 1, 0.5, void=True
    )


def test_waits_for_memory_count_whole_and_those_for_disks_do_not() -> None:
    """Whichever task waited: in the worst case one of the trial's."""
    document = {"time_ns": {"transfer": 1000}, "host": {"stalled_ns": {"cpu": 500, "io": 700, "memory": 20}}}
    assert strain_of(record(document), 1, 1).longer_than({}) == pytest.approx(0.02)
    guard = _guard()
    swapping = replace(_strain(_ALONE_NS), memory_ns=15 * _MS)
    assert _after(guard, swapping, 4) == 1


def test_each_cell_has_a_number_of_its_own() -> None:
    """Trials of one say nothing of another; those of the A/A control count for their cell."""
    guards = Guards(8)
    assert guards.highest == 2
    short, long = ROW, replace(ROW, workload="large")
    assert guards.guard_of(replace(short, cell_id="object/plain/aa-h3", arm="h3#1")) is guards.guard_of(short)
    for row, strain in ((short, _strain(_waiting(2 * BUSY))), (long, _strain(_ALONE_NS))):
        guards.guard_of(row).ran_alone(ARM, _strain(_ALONE_NS))
        _after(guards.guard_of(row), strain, 6)
    assert (guards.guard_of(short).at_once, guards.guard_of(long).at_once, guards.highest) == (1, 3, 3)
