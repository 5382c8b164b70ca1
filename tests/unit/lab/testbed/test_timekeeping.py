# SPDX-License-Identifier: Apache-2.0
"""What the numbers of the link's self-test mean for studies, in words."""

from __future__ import annotations

import pytest

from quiclab.lab.testbed.timekeeping import Timekeeping


def _measured(
    p99_ns: int,
    *,
    real_time: str = "none",
    load: float = 0.1,
    waited: float = 0.02,
    slice_ns: int | None = 100_000,
) -> Timekeeping:
    return Timekeeping(2000, 1000, p99_ns, 2 * p99_ns, real_time, load, 2, waited, slice_ns, 0.0, 0.0)


@pytest.mark.parametrize(
    ("p99_ns", "verdict"),
    [
        (90_000, "1 us (p50), 90 us (p99), 180 us (max): punctual enough for every path"),
        (
            1_200_000,
            "1.2 ms (p99), 2.4 ms (max): enough for paths of at most 10 Mbit/s, or with an RTT of at least 120 ms",
        ),
        (50_000_000, "too late for nearly every path; many trials would be disturbed and repeated"),
    ],
)
def test_the_verdict_names_the_paths_that_can_bear_it(p99_ns: int, verdict: str) -> None:
    """By the bounds of decision 4: a packet's time of service, and a share of the delay."""
    assert verdict in _measured(p99_ns).summary
    assert bool(_measured(p99_ns).remedy) == (p99_ns > 100_000)


def test_what_would_help_follows_from_what_is_the_matter() -> None:
    """Nobody is told to become root where the link has priority, or to end programs where there are none."""
    assert "end other programs (load 3.0 on 2 processors)" in _measured(10**6, load=3).remedy
    assert "as root" in _measured(10**6, load=3).remedy
    assert "as root" not in _measured(10**6, real_time="deadline").remedy
    assert "leave a processor idle" in _measured(10**6).remedy


def test_how_the_link_is_scheduled_is_told() -> None:
    """A kernel without slices is named with the one that has them; root's link needs none."""
    assert "slice 100 us" in _measured(10**6).summary
    assert "6.12" not in _measured(10**6).remedy
    assert "no slices" in _measured(10**6, slice_ns=None).summary
    assert "Linux 6.12" in _measured(10**6, slice_ns=None).remedy
    real_time = _measured(10**6, real_time="deadline", slice_ns=None)
    assert "deadline" in real_time.summary
    assert "6.12" not in real_time.remedy


def test_a_punctual_link_does_not_hide_that_the_ends_must_wait() -> None:
    """With real-time priority the link keeps time on a machine on which every trial is void."""
    busy = _measured(30_000, real_time="deadline", load=15, waited=0.8)
    assert (
        "programs without priority wait 80% of their time for a processor: many trials would be disturbed"
        in busy.summary
    )
    assert busy.remedy.startswith("end other programs (load 15.0 on 2 processors)")
    assert "slower" not in busy.remedy
    assert not busy.for_every_path
