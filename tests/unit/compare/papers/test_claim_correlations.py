# SPDX-License-Identifier: Apache-2.0
"""Claims that two metrics go together more strongly in one arm, against synthetic studies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_paper import CLEAR, direction, judged
from synthetic_study import write_study

from quiclab.compare.papers.claim_verdict import Verdict


def offsets(directory: Path) -> Path:
    """Give every trial an offset: in h3 it falls as the time to the last byte grows, in h2 it has nothing to do with
    it."""
    trials = pl.read_parquet(directory / "tables" / "trials.parquet").filter(pl.col("status") == "verified")
    metrics = pl.read_parquet(directory / "metrics.parquet")
    ttlb = dict(metrics.filter(pl.col("name") == "ttlb_ms").select("trial_id", "value").rows())
    rows = [
        {
            "trial_id": trial, "name": "offset", "unit": "", "better": "none", "note": None,
            "value": -ttlb[trial] if arm == "h3" else float(7 * block % 20),
        }
        for trial, arm, block in trials.select("trial_id", "arm", "block").rows()
    ]  # fmt: skip
    pl.concat([metrics, pl.DataFrame(rows, schema=metrics.schema)]).write_parquet(directory / "metrics.parquet")
    return directory


@pytest.mark.parametrize(
    ("expected", "arms", "verdict"),
    [
        ("higher", ["h2", "h3"], Verdict.AGREES),
        ("higher", ["h3", "h2"], Verdict.DIFFERS),
        ("lower", ["h3", "h2"], Verdict.AGREES),
        ("higher", ["h2", "h2"], Verdict.INCONCLUSIVE),
    ],
)
def test_a_correlation_is_stronger_in_one_arm(expected: str, arms: list[str], verdict: Verdict, tmp_path: Path) -> None:
    """Whatever its sign; arms of the same strength are undecided, not the same."""
    study = offsets(write_study(tmp_path, CLEAR))
    claim = direction(expected, kind="correlation", metric="offset", second_metric="ttlb_ms", arms=arms)
    (found,) = judged(study, claim)
    (cell,) = found.cells
    assert (found.verdict, cell.n, cell.unit) == (verdict, 20, "")
    assert "−1.00 in h3" in cell.why or arms == ["h2", "h2"]
    assert cell.adjusted_p is not None
    assert (cell.adjusted_p < 0.05) == (verdict is not Verdict.INCONCLUSIVE)


def test_a_correlation_with_a_failed_trial_or_without_values_is_undecided(tmp_path: Path) -> None:
    """A trial that failed has neither value; three trials have no correlation."""
    keys = {"kind": "correlation", "metric": "offset", "second_metric": "ttlb_ms", "workloads": ["1 MB"]}
    study = write_study(tmp_path / "failed", replace(CLEAR, failures=frozenset({("loss/1 MB", "h2", 3)})))
    (found,) = judged(offsets(study), direction("higher", **keys))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "1 of 20 trials of h2 failed: a correlation has no meaning then." in found.cells[0].why
    (few,) = judged(offsets(write_study(tmp_path / "few", replace(CLEAR, blocks=3))), direction("higher", **keys))
    assert few.verdict is Verdict.INCONCLUSIVE
    assert "h2 and h3: too few trials with both values" in few.cells[0].why
    (other,) = judged(study, direction("higher", **keys | {"second_metric": "stalls"}))
    assert other.verdict is Verdict.NOT_TESTABLE
