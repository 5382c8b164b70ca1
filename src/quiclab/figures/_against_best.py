# SPDX-License-Identifier: Apache-2.0
"""Every arm against the best arm of its cell (Yu and Benson 2021, Figure 8)."""

from __future__ import annotations

from itertools import combinations

import polars as pl

from quiclab import wording
from quiclab.analysis import comparison_words
from quiclab.analysis.compare import compare, decide_all
from quiclab.analysis.model import ArmResult, Comparison, StudyAnalysis

AGAINST_BEST = {
    **dict.fromkeys(("path_title", "workload_title", "arm", "best_arm", "cell_text", "details"), pl.String),
    **dict.fromkeys(("behind_pct", "alpha"), pl.Float64),
    **dict.fromkeys(("best", "significant"), pl.Boolean),
}


def against_best(analysis: StudyAnalysis) -> pl.DataFrame:
    """One row per cell and arm. The test is corrected over all pairs of arms of all cells, for which arm is the best is
    not known before they are compared."""
    pairs = _all_pairs(analysis)
    rows: list[dict[str, object]] = []
    for (path, workload), arms in _cells(analysis).items():
        known = [arm for arm in arms if arm.median is not None]
        if len(known) < 2:
            continue
        sign = 1.0 if analysis.metric.lower_is_better else -1.0
        best = min(known, key=lambda arm: sign * (arm.median or 0.0))
        for arm in arms:
            found = pairs.get((path, workload, best.arm, arm.arm))
            behind = None if found is None or found.difference_pct is None else -found.difference_pct
            sure = found is not None and found.outcome.significant
            told = [f"{arm.arm}: median {wording.quantity(arm.median, analysis.metric.unit)}"]
            if found is not None:
                told.append(f"best: {best.arm}, {wording.quantity(best.median, analysis.metric.unit)}")
                p, adjusted = (wording.p_text(value) or "–" for value in (found.p, found.adjusted_p))
                told.append(f"{found.pairs} pairs, p {p}, adjusted {adjusted}")
            rows.append(
                {
                    "path_title": analysis.path_titles.get(path, path),
                    "workload_title": analysis.workload_titles.get(workload, workload),
                    "arm": arm.arm,
                    "best_arm": best.arm,
                    "best": arm is best,
                    "behind_pct": behind,
                    "significant": sure,
                    "cell_text": "best" if arm is best else _text(found, behind, sure),
                    "details": "\n".join(told),
                    "alpha": analysis.alpha,
                }
            )
    return pl.DataFrame(rows, schema=AGAINST_BEST)


def _text(found: Comparison | None, behind: float | None, sure: bool) -> str:
    if sure:
        return wording.percent(behind) or "fails"
    return comparison_words.difference_text(found) if found is not None else "no data"


def _cells(analysis: StudyAnalysis) -> dict[tuple[str, str], list[ArmResult]]:
    """(path, workload) → its arms, the baseline first."""
    cells: dict[tuple[str, str], list[ArmResult]] = {}
    for c in analysis.comparisons:
        cells.setdefault((c.path, c.workload), [c.baseline]).append(c.other)
    return cells


def _all_pairs(analysis: StudyAnalysis) -> dict[tuple[str, str, str, str], Comparison]:
    """(path, workload, arm, other arm) → their comparison, both ways round."""
    found: dict[tuple[str, str, str, str], Comparison] = {}
    contrasts: list[list[tuple[str, str, str, str]]] = []
    for (path, workload), arms in _cells(analysis).items():
        for one, two in combinations(arms, 2):
            keys = [(path, workload, one.arm, two.arm), (path, workload, two.arm, one.arm)]
            cell = (f"{workload}/{path}", "main", workload, path)
            for key, (first, second) in zip(keys, ((one, two), (two, one)), strict=True):
                found[key] = compare(cell, first, second, analysis.metric, analysis.alpha)
            contrasts.append(keys)
    for way in (0, 1):
        keys = [both[way] for both in contrasts]
        found |= dict(zip(keys, decide_all([found[key] for key in keys], analysis.alpha), strict=True))
    return found
