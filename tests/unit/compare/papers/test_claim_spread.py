# SPDX-License-Identifier: Apache-2.0
"""A claim that an arm varies more than another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_paper import CLEAR, direction, judged
from synthetic_study import Shape, write_study

from quiclab.compare.papers.claim_verdict import Verdict


def varied(directory: Path, shape: Shape = CLEAR, share: float = 0.3) -> Path:
    """A study in which the times of h2 swing by this share from block to block, and those of h3 by a hundredth."""
    write_study(directory, shape)
    trials = pl.read_parquet(directory / "tables" / "trials.parquet").select("trial_id", "arm", "block")
    metrics = pl.read_parquet(directory / "metrics.parquet").join(trials, on="trial_id", how="left")
    swing = pl.when(pl.col("arm") == "h2").then(share).otherwise(0.01)
    wave = ((pl.col("block") * 7) % 20 - 9.5) / 9.5
    value = pl.when(pl.col("name") == "ttlb_ms").then(1000 * (1 + swing * wave)).otherwise("value")
    metrics.with_columns(value=value).drop("arm", "block").write_parquet(directory / "metrics.parquet")
    return directory


@pytest.mark.parametrize(
    ("expected", "arms", "verdict"),
    [
        ("higher", ["h3", "h2"], Verdict.AGREES),
        ("lower", ["h3", "h2"], Verdict.DIFFERS),
        ("lower", ["h2", "h3"], Verdict.AGREES),
    ],
)
def test_the_arm_that_swings_varies_more(tmp_path: Path, expected: str, arms: list[str], verdict: Verdict) -> None:
    """Coefficients of variation are told of both, and by how much the second one's is greater."""
    (found,) = judged(varied(tmp_path), direction(expected, kind="spread", arms=arms))
    (cell,) = found.cells
    assert (found.verdict, cell.n, cell.unit) == (verdict, 20, "%")
    assert cell.why.startswith("The coefficient of variation is ")
    assert cell.adjusted_p is not None
    assert cell.adjusted_p < 0.001
    assert cell.ours is not None
    assert (cell.ours > 0) == (arms[1] == "h2")


def test_equal_swings_decide_nothing(tmp_path: Path) -> None:
    """Arms that are not shown to differ are not shown to vary alike."""
    (found,) = judged(varied(tmp_path, share=0.01), direction("higher", kind="spread"))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.cells[0].why.endswith("that one of them varies more is not shown.")


def test_two_pairs_and_failed_trials_have_no_spread(tmp_path: Path) -> None:
    """Both decide nothing, and say why."""
    claim = direction("higher", kind="spread", workloads=["1 MB"])
    (few,) = judged(varied(tmp_path / "few", replace(CLEAR, blocks=2)), claim)
    assert (few.verdict, few.cells[0].ours) == (Verdict.INCONCLUSIVE, None)
    assert few.cells[0].why.startswith("Too few pairs for a spread")
    shape = replace(CLEAR, failures=frozenset({("loss/1 MB", "h2", 3)}))
    (failed,) = judged(varied(tmp_path / "failed", shape), claim)
    assert failed.cells[0].why == "1 of 20 trials of h2 failed: a spread has no meaning then."


@pytest.mark.parametrize(("most_pct", "verdict"), [(0.5, Verdict.AGREES), (90.0, Verdict.NOT_JUDGED)])
def test_a_disturbed_machine_could_have_made_the_spread(tmp_path: Path, most_pct: float, verdict: Verdict) -> None:
    """Swings of 60 ms are there in spite of a millisecond that the machine may have added, and not of 100."""
    shape = replace(CLEAR, disturbed={"h2": most_pct, "h3": 0.0})
    (found,) = judged(varied(tmp_path, shape, 0.06), direction("higher", kind="spread", arms=["h3", "h2"]))
    assert found.verdict is verdict
    assert ("disturbed" in found.cells[0].why) == (verdict is Verdict.NOT_JUDGED)
