# SPDX-License-Identifier: Apache-2.0
"""Clocks mapped to each other from packets that both saw."""

from __future__ import annotations

import numpy as np
import pytest

from quiclab.logs.decoders.clocks import fit_clock

SECOND = 10**9


def exchange(
    rng: np.random.Generator, offset_ns: int, drift: float, step_ns: int, packets: int = 4000, delay_ns: int = 30_000
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(times of a program's clock, of the capture's, whether the program came first) over ten seconds."""
    captured = np.sort(rng.integers(0, 10 * SECOND, packets))
    earlier = rng.random(packets) < 0.5
    lag = rng.exponential(delay_ns, packets).astype(np.int64) + 2000
    true = np.where(earlier, captured - lag, captured + lag)
    program = (true * (1 - drift)).astype(np.int64) - offset_ns
    return program // step_ns * step_ns, captured, earlier


@pytest.mark.parametrize("step_ns", [1, 1000, 1_000_000])
@pytest.mark.parametrize("drift", [0.0, 3e-5, -2e-4])
@pytest.mark.parametrize("offset_ns", [0, -7 * SECOND, 1_700_000_000 * SECOND])
def test_the_true_instants_lie_within_the_uncertainty(offset_ns: int, drift: float, step_ns: int) -> None:
    """Whatever the offset, the drift and the step, mapped times are off by no more than is said, and that is little."""
    times, others, earlier = exchange(np.random.default_rng(7), offset_ns, drift, step_ns)
    placement = fit_clock(times, others, earlier, step_ns)
    assert placement is not None
    mapped = times + placement.offset_ns + np.round((times - placement.zero_ns) * placement.drift).astype(np.int64)
    exact = (times + offset_ns) / (1 - drift)
    assert np.abs(mapped - exact).max() <= placement.uncertainty_ns + 1
    assert placement.uncertainty_ns < 3 * step_ns + 60_000
    assert placement.joined_packets == times.size


def test_a_clock_across_the_path_is_known_to_half_a_round_trip() -> None:
    """Where the only other log is the far end's, the bound is the delay of the path, and it is said."""
    times, others, earlier = exchange(np.random.default_rng(1), 5 * SECOND, 0.0, 1, delay_ns=1)
    others = np.where(earlier, others + 20_000_000, others - 20_000_000)
    placement = fit_clock(times, others, earlier, 1)
    assert placement is not None
    assert 19_900_000 < placement.uncertainty_ns < 20_100_000
    assert abs(placement.offset_ns - 5 * SECOND) <= placement.uncertainty_ns


def test_one_way_only_gives_one_bound() -> None:
    """A log of received packets alone: the tightest bound, with the spread of the gaps as what is unknown."""
    times, others, earlier = exchange(np.random.default_rng(2), 100, 0.0, 1)
    placement = fit_clock(times[~earlier], others[~earlier], earlier[~earlier], 1)
    assert placement is not None
    assert abs(placement.offset_ns - 100) <= placement.uncertainty_ns


def test_what_cannot_be_one_connection_is_not_placed() -> None:
    """No packet in common, or clocks that would have to run at absurdly different speeds: None."""
    none = np.array([], dtype=np.int64)
    assert fit_clock(none, none, none.astype(bool), 1) is None
    times = np.arange(0, SECOND, 10**6)
    assert fit_clock(times, times * 3, np.arange(times.size) % 2 == 0, 1) is None
