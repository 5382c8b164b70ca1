# SPDX-License-Identifier: Apache-2.0
"""Pairs of releases: compared at the level of a whole search, and called a step only where the interval says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.model import Outcome
from quiclab.compare.release_pairs import PairsCompared, compare_pairs, least_pairs
from quiclab.compare.study import read_study

RELEASES = ("0.40", "0.42", "0.44", "0.46")
FAMILY = 5
STEP = ("0.42", "0.44")


def _compared(
    folder: Path, factor: float = 0.8, pairs: tuple[tuple[str, str], ...] = (STEP,), **shape: object
) -> PairsCompared:
    """Releases; the last two take `factor` of the time of the others."""
    asked = {
        "workloads": ("1 MB",),
        "paths": ("clean",),
        "voids": frozenset(),
        "blocks": 30,
        "aa_blocks": 0,
        "baselines": dict.fromkeys(RELEASES, RELEASES[0]),
        "factors": {"0.44": factor, "0.46": factor},
    }
    write_study(folder, Shape(**(asked | shape)))  # type: ignore[arg-type]
    rule = {"version": 1, "effect_pct": 2, "at_most": 60, "blocks": {}, "looks": [{}]}
    (folder / "sequential.json").write_text(json.dumps(rule))
    return compare_pairs(read_study(folder), pairs, FAMILY)


def test_a_pair_is_compared_with_the_older_release_as_its_baseline(tmp_path: Path) -> None:
    """Neighbours that share no baseline in the spec are compared with one another."""
    found = _compared(tmp_path)
    comparison = found.comparisons[STEP]
    assert (comparison.baseline.arm, comparison.other.arm, comparison.pairs) == (*STEP, 30)
    assert comparison.difference_pct is not None
    assert comparison.difference_pct == pytest.approx(-20, abs=4)
    assert found.is_step(STEP)
    assert not found.is_same(STEP)


def test_a_pair_alone_has_the_level_of_the_whole_search(tmp_path: Path) -> None:
    """Interval and p are those of five pairs, whether one of them is looked at or three are."""
    one = _compared(tmp_path / "one").comparisons[STEP]
    three = _compared(tmp_path / "three", pairs=(("0.40", "0.46"), STEP, ("0.40", "0.42"))).comparisons[STEP]
    assert one == three
    assert one.interval_pct is not None
    assert one.interval_pct.confidence == pytest.approx(1 - 0.05 / FAMILY)
    assert one.p is not None
    assert one.adjusted_p == min(1.0, FAMILY * one.p)


def test_a_difference_that_may_be_less_than_what_matters_is_no_step(tmp_path: Path) -> None:
    """A test that finds one decides nothing yet: its interval reaches from less than 2 % to more."""
    found = _compared(tmp_path, factor=0.975)
    comparison = found.comparisons[STEP]
    assert comparison.outcome is Outcome.OTHER_BETTER
    assert comparison.interval_pct is not None
    assert comparison.interval_pct.high > -2
    assert not found.is_step(STEP)
    assert not found.is_same(STEP)


def test_releases_without_a_step_are_the_same(tmp_path: Path) -> None:
    """The whole interval lies within what matters."""
    pair = ("0.40", "0.42")
    found = _compared(tmp_path, pairs=(pair,))
    assert found.is_same(pair)
    assert not found.is_step(pair)


def test_a_release_that_always_fails_is_told_and_is_no_step(tmp_path: Path) -> None:
    """Failures rank worst: without the word for it a release that does not run would look slow."""
    failures = frozenset(("clean/1 MB", "0.44", block) for block in range(30))
    found = _compared(tmp_path, failures=failures)
    assert found.failing.keys() == {"0.44"}
    assert found.failing["0.44"]


def test_a_release_that_has_not_run_has_no_comparison(tmp_path: Path) -> None:
    """A search asks for releases before their first trial."""
    found = _compared(tmp_path, pairs=(("0.40", "0.99"), STEP))
    assert found.comparisons.keys() == {STEP}
    assert not found.is_step(("0.40", "0.99"))
    assert not found.is_same(("0.40", "0.99"))


def test_more_pairs_are_needed_where_more_may_be_compared() -> None:
    """Each pair of trials that points the same way halves what chance explains."""
    assert [least_pairs(0.05, family) for family in (1, 3, 11, 125)] == [6, 8, 10, 13]
