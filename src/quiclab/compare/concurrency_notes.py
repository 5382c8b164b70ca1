# SPDX-License-Identifier: Apache-2.0
"""Whether a difference is as small as what trials that run side by side may do to one another."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from quiclab.compare.model import Comparison
from quiclab.compare.study import Study
from quiclab.model import number_text

MAY_COST_PCT = 1.0
"""How much longer trials may take beside others: docs/decisions/0014, which has what was measured."""


def side_by_side_notes(study: Study, main: Sequence[Comparison]) -> tuple[str, ...]:
    """Return what must be said at the answer where trials ran side by side and arms differ by less than that may do."""
    at_once = study.metrics.filter(pl.col("name") == "trials_at_once", pl.col("value") > 1)
    small = [
        each
        for each in main
        if each.outcome.significant and each.difference_pct is not None and abs(each.difference_pct) < MAY_COST_PCT
    ]
    if at_once.is_empty() or not small:
        return ()
    return (
        f"{number_text.counted(len(small), 'difference')} of less than {MAY_COST_PCT:g} % may come of trials that ran "
        "side by side, as these may take longer by as much, one arm more than another: run the study again with "
        "--jobs 1 to tell (docs/how-to/run-side-by-side.md).",
    )
