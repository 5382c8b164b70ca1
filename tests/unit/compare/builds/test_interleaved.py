# SPDX-License-Identifier: Apache-2.0
"""Two builds in one study, seen as two studies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quiclab.compare.builds.gate import Verdict, judge, parse_bound
from quiclab.compare.builds.interleaved import two_builds
from quiclab.compare.builds.two_studies import compare_studies
from quiclab.compare.study import METRICS, TRIALS, Study


def interleaved(factor: float) -> Study:
    """Ten blocks that differ by far more than the builds of h3, and an A/A cell."""
    rng = np.random.default_rng(3)
    trials, metrics = [], []
    for block in range(10):
        minute = float(rng.lognormal(0, 1))
        for kind, arm, scale in (("main", "h3-old", 1.0), ("main", "h3-new", factor), ("aa", "h3-old#1", 1.0)):
            trial_id = f"{len(trials):08x}"
            cell = "1MB/far" if kind == "main" else "1MB/far/aa-h3-old"
            trials.append((trial_id, 1, kind, cell, "1MB", "far", arm, "h3-old", block, 0, "verified", None))
            metrics.append((trial_id, "ttlb_ms", 100 * minute * scale, "ms", "lower", None))
    resolved = {"seed": 1, "arms": [{"name": "h3-old"}, {"name": "h3-new"}], "paths": [], "workloads": []}
    tables = (
        pl.DataFrame(trials, schema=TRIALS, orient="row"),
        pl.DataFrame(metrics, schema=METRICS, orient="row"),
    )
    return Study(Path("nowhere"), resolved, *tables, ())


@pytest.mark.parametrize(("factor", "expected"), [(1.1, Verdict.FAILED), (1.0, Verdict.PASSED)])
def test_what_both_builds_share_is_no_noise(factor: float, expected: Verdict) -> None:
    """Blocks differ by a factor of e, the builds by 10 % in each: exactly that is found."""
    old, new = two_builds(interleaved(factor), "-old", "-new")
    assert old.tables("arms") == new.tables("arms") == [{"name": "h3"}]
    assert old.names("arms") == ["h3"]
    found = compare_studies(old, new, ["ttlb_ms"], ["h3"], [], interleaved=True)
    (change,) = found.changes
    assert (change.arm, change.pairs) == ("h3", 10)
    assert change.change_pct == pytest.approx(100 * (factor - 1), abs=1e-9)
    assert [each.verdict for each in judge([(parse_bound("ttlb > +3%"), "ttlb_ms")], found.changes, 0.05)] == [expected]
    assert found.pairing.startswith("Interleaved")
