# SPDX-License-Identifier: Apache-2.0
"""A difference that trials side by side may have brought about is told as one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare import run_notes
from quiclab.compare.analyse import analyse_study

QUIET = replace(Shape(), failures=frozenset(), voids=frozenset(), workloads=("1 MB",), paths=("loss",))


def _at_once(study: Path, number: float) -> Path:
    """The study, whose trials ran so many at a time."""
    file = study / "metrics.parquet"
    value = pl.when(pl.col("name") == "trials_at_once").then(number).otherwise("value")
    pl.read_parquet(file).with_columns(value=value).write_parquet(file)
    return study


@pytest.mark.parametrize(("number", "least_pct", "told"), [(2.0, 99.0, True), (1.0, 99.0, False), (2.0, 1.0, False)])
def test_only_a_small_difference_of_trials_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: float, least_pct: float, told: bool
) -> None:
    """The arms of this study differ by more than a per cent, which nothing beside them brings about."""
    monkeypatch.setattr(run_notes, "MAY_COST_PCT", least_pct)
    analysis = analyse_study(_at_once(write_study(tmp_path / "study", QUIET), number))
    assert any("may come of trials that ran side by side" in note for note in analysis.notes) is told
