# SPDX-License-Identifier: Apache-2.0
"""Waterfalls from tables that were written by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from quiclab.accounting import Part
from quiclab.analysis.accounts import Waterfall, waterfalls, why_without
from quiclab.analysis.compare import arm_result, compare
from quiclab.analysis.model import ArmResult, Metric, TrialResult
from quiclab.opened import open_study
from quiclab.tables import OF_STUDY, TABLES

TTLB = Metric("ttlb_ms", "time to last byte", "ms", lower_is_better=True)
PAIRS = 8


def _arm(name: str, status: str = "verified") -> ArmResult:
    trials = [TrialResult(f"{ord(name[-1]):x}{block}", block, status, 100.0, "") for block in range(PAIRS)]
    return arm_result(name, trials, PAIRS, 0, TTLB)


def _write(study: Path, trial_id: str, **parts_ms: float) -> None:
    """The account of a trial, with parts in the order given."""
    folder = study / "tables" / "account"
    folder.mkdir(parents=True, exist_ok=True)
    rows, at_ns = [], 0
    for part, ms in parts_ms.items():
        until_ns = at_ns + round(ms * 1e6)
        rows.append((part, at_ns, until_ns, None, None, 5_000_000 if part == "busy" else None, None))
        at_ns = until_ns
    pl.DataFrame(rows, TABLES["account"].schema(), orient="row").write_parquet(folder / f"{trial_id}.parquet")


def _study(folder: Path, lacking: int = 0) -> Path:
    """h3 saves 20 ms of set-up and loses 30 ms of busy time in each pair; its idle time varies around h2's."""
    (folder / "tables").mkdir()
    OF_STUDY["trials"].empty().write_parquet(folder / "tables" / "trials.parquet")
    for block in range(PAIRS):
        noise = (-1) ** block * (block // 2)
        _write(folder, f"{ord('2'):x}{block}", set_up=40 + block / 10, request=10, busy=800, idle_awaiting=50)
        if block >= lacking:
            h3 = {"set_up": 20.0, "request": 10.0, "busy": 830 + block / 10, "idle_awaiting": 50.0 + noise}
            _write(folder, f"{ord('3'):x}{block}", **h3)
    return folder


def _waterfall(study: Path, other: ArmResult | None = None) -> Waterfall:
    comparison = compare(("1MB/p", "main", "1MB", "p"), _arm("h2"), other or _arm("h3"), TTLB, 0.05)
    return waterfalls(open_study(study), [comparison], 0.05)[0]


def test_parts_add_up_and_those_that_differ_are_told(tmp_path: Path) -> None:
    """Set-up and busy time differ in each pair by nearly the same, idle time by chance."""
    found = _waterfall(_study(tmp_path))
    assert found.pairs == PAIRS
    assert sum(step.difference_ms for step in found.steps) == pytest.approx(found.total.difference_ms)
    assert found.total.difference_ms == pytest.approx(10, abs=0.5)
    assert [step.part for step in found.steps if step.differs(0.05)] == [Part.SET_UP, Part.BUSY]
    assert found.gross_ms > 50
    assert found.served_bytes == (5e6, 5e6)


def test_parts_hold_at_once(tmp_path: Path) -> None:
    """Each of seven intervals errs a seventh as often as the one of the whole."""
    found = _waterfall(_study(tmp_path))
    intervals = [step.interval_ms for step in (found.steps[0], found.total)]
    assert [each.confidence for each in intervals if each] == pytest.approx([1 - 0.05 / 7, 0.95])


def test_pairs_without_an_account_are_counted(tmp_path: Path) -> None:
    """A trial without rows takes its pair with it, and nothing is filled in."""
    found = _waterfall(_study(tmp_path, lacking=3))
    assert (found.pairs, found.without, found.first_without) == (PAIRS - 3, 3, f"{ord('3'):x}0")
    assert why_without(open_study(tmp_path), found) == "the trial has no log of its link's packets"


def test_failed_trials_have_no_account(tmp_path: Path) -> None:
    """What did not end has no time to share out."""
    found = _waterfall(_study(tmp_path), _arm("h3", "failed"))
    assert (found.pairs, found.without, found.steps) == (0, 0, ())


def test_a_study_of_an_older_version_has_none(tmp_path: Path) -> None:
    """Without the table all pairs lack an account; nothing is raised."""
    (tmp_path / "tables").mkdir()
    OF_STUDY["trials"].empty().write_parquet(tmp_path / "tables" / "trials.parquet")
    found = _waterfall(tmp_path)
    assert (found.pairs, found.without) == (0, PAIRS)
