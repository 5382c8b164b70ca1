# SPDX-License-Identifier: Apache-2.0
"""Occasions follow from when trials ran and on which boot."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from quiclab.lab.testbed.clock import boot_id
from quiclab.study.tables import PAUSE, Span, occasions, span_of

START = datetime(2026, 3, 1, 10, tzinfo=UTC)


def spans(*trials: tuple[float, str]) -> dict[int, Span]:
    """Trials of a minute each, by the hour at which they begin and their boot."""
    begun = [START + timedelta(hours=hour) for hour, _ in trials]
    return {
        n: Span(t, t + timedelta(minutes=1), boot) for n, (t, (_, boot)) in enumerate(zip(begun, trials, strict=True))
    }


def test_a_run_without_a_long_pause_is_one_occasion() -> None:
    """However long it takes, and whatever order its trials are given in."""
    hours = [0.9 * n for n in range(20)]
    assert set(occasions(spans(*((hour, "a") for hour in reversed(hours)))).values()) == {1}


def test_another_boot_another_machine_or_another_hour_is_another_occasion() -> None:
    """Counted in the order of time."""
    found = occasions(spans((5, "b"), (0, "a"), (0.1, "a"), (0.2, "b"), (9, "c"), (9.1, "c")))
    assert found == {1: 1, 2: 1, 3: 2, 0: 3, 4: 4, 5: 4}


def test_the_pause_is_counted_from_the_end_of_a_trial() -> None:
    """A long trial is no pause."""
    long = Span(START, START + timedelta(hours=3), "a")
    for pause, last in ((timedelta(minutes=59), 1), (PAUSE, 2)):
        after = Span(long.ended + pause, long.ended + pause, "a")
        assert occasions({1: long, 2: after}) == {1: 1, 2: last}


def test_a_trial_of_an_earlier_version_has_no_boot() -> None:
    """Then only pauses tell."""
    assert set(occasions(spans((0, "a"), (0.1, ""), (0.2, "b"), (4, ""))).values()) == {1, 2}


def test_trial_json_tells_when_it_ran() -> None:
    """A time without a zone counts as UTC; what is no time tells nothing."""
    told = {
        "started_utc": "2026-03-01T10:00:00.000+00:00",
        "boot_id": "a",
        "time_ns": {"ready": 10**9, "run": 2 * 10**9},
    }
    assert span_of(told) == Span(START, START + timedelta(seconds=3), "a")
    assert span_of({"started_utc": "2026-03-01T10:00:00"}) == Span(START, START, "")
    assert span_of({"started_utc": "yesterday"}) is None
    assert span_of({}) is None


def test_this_boot_has_an_id() -> None:
    """The same each time it is asked for."""
    assert len(boot_id()) == 36
    assert boot_id() == boot_id()
