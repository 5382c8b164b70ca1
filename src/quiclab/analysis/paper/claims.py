# SPDX-License-Identifier: Apache-2.0
"""A paper's claims held against a study: every cell of every claim with our number and a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from quiclab import statistics
from quiclab.analysis.compare import compare, decide, differences_within_pairs
from quiclab.analysis.model import ArmResult, Comparison, Metric, Outcome, StudyAnalysis
from quiclab.analysis.paper.claim_cells import Cells
from quiclab.analysis.paper.claim_numbers import number_of
from quiclab.analysis.paper.claim_verdict import Verdict, of_cells, of_direction, of_number
from quiclab.analysis.paper.paper import Claim, Expected, Paper
from quiclab.analysis.refusals import refusal, too_slow
from quiclab.analysis.study import Study
from quiclab.statistics import Interval

Key = tuple[str, str, frozenset[str], str]
"""Workload, path, two arms, metric: a comparison, whichever way round."""


@dataclass(frozen=True)
class Finding:
    """One cell of a claim."""

    workload: str
    path: str
    verdict: Verdict
    why: str
    """A sentence where it does not agree."""
    ours: float | None = None
    """Our number for the quantity of the paper; for a direction, the change of the second arm beside the first."""
    interval: Interval | None = None
    unit: str = ""
    n: int = 0
    """Pairs of two arms, trials of one."""
    p: float | None = None
    adjusted_p: float | None = None


@dataclass(frozen=True)
class Judged:
    """A claim with all of its cells; one that the paper's file calls not testable has none."""

    claim: Claim
    verdict: Verdict
    cells: tuple[Finding, ...]

    @property
    def tested(self) -> int:
        """Cells that could be tested."""
        return sum(cell.verdict is not Verdict.NOT_TESTABLE for cell in self.cells)


def judge(study: Study, analysis: StudyAnalysis, paper: Paper) -> tuple[Judged, ...]:
    """Every claim, in the paper's order."""
    cells = Cells(study, paper.changed)
    adjusted = _adjusted(paper.claims, cells, analysis)
    found = []
    for claim in paper.claims:
        expected = claim.expected
        findings = (
            tuple(
                _finding(claim, expected, workload, path, cells, adjusted, analysis.alpha)
                for workload in claim.workloads
                for path in claim.paths
            )
            if claim.testable and expected is not None
            else ()
        )
        found.append(Judged(claim, of_cells([finding.verdict for finding in findings]), findings))
    return tuple(found)


def _adjusted(claims: Iterable[Claim], cells: Cells, analysis: StudyAnalysis) -> dict[Key, float | None]:
    """Adjusted p of each comparison: the map's own where it has the comparison, so that the page does not contradict
    itself; the others are adjusted among themselves."""
    known: dict[Key, float | None] = {
        (c.workload, c.path, frozenset((c.baseline.arm, c.other.arm)), analysis.metric.name): c.adjusted_p
        for c in analysis.comparisons
    }
    rest: dict[Key, float] = {}
    for claim in claims:
        if not claim.testable or claim.expected is None or not claim.expected.direction:
            continue
        for workload, path in ((workload, path) for workload in claim.workloads for path in claim.paths):
            key = (workload, path, frozenset(claim.arms), claim.metric)
            if key not in known and not cells.obstacle(claim, workload, path):
                first, second = (cells.arm(claim.metric, workload, path, arm) for arm in claim.arms)
                compared = _compared(workload, path, first, second, cells.metric(claim.metric), analysis.alpha)
                tested = compared.p is not None and refusal(compared, analysis.alpha) is None
                rest[key] = compared.p if tested and compared.p is not None else math.nan
    values = statistics.adjusted_p_values(np.array(list(rest.values())))
    return known | {key: None if math.isnan(p) else float(p) for key, p in zip(rest, values, strict=True)}


def _finding(
    claim: Claim, expected: Expected, workload: str, path: str, cells: Cells, adjusted: dict[Key, float | None],
    alpha: float,
) -> Finding:  # fmt: skip
    obstacle = cells.obstacle(claim, workload, path)
    if obstacle:
        return Finding(workload, path, Verdict.NOT_TESTABLE, obstacle)
    metric = cells.metric(claim.metric)
    arms = [cells.arm(claim.metric, workload, path, arm) for arm in claim.arms]
    doubt = _doubt(arms, cells.describes_only(claim.metric), claim.statistic if not expected.direction else "")
    if expected.direction:
        key = (workload, path, frozenset(claim.arms), claim.metric)
        found = _direction(expected.direction, workload, path, arms[0], arms[1], metric, adjusted.get(key), alpha)
    else:
        ours = number_of(arms, metric, claim.statistic, alpha)
        verdict, why = of_number(expected, ours)
        found = Finding(workload, path, verdict, why, ours.estimate, ours.interval, ours.unit, ours.count)
    if doubt and found.verdict is not Verdict.NOT_TESTABLE:
        return replace(found, verdict=Verdict.UNDECIDED, why=doubt)
    return found


def _doubt(arms: list[ArmResult], describes_only: bool, statistic: str) -> str:
    """Why these trials decide nothing whatever their numbers are; empty if they may."""
    failed = ", ".join(
        f"{arm.failures} of {len(arm.trials)} trials of {arm.arm} failed" for arm in arms if arm.failures
    )
    if failed and statistic == "mean":
        return f"{failed}: a mean has no meaning then."
    if failed and describes_only:
        return f"{failed}: this metric has no worst value to give them."
    return too_slow(arms[0], arms[-1])


def _compared(
    workload: str, path: str, first: ArmResult, second: ArmResult, metric: Metric, alpha: float
) -> Comparison:
    return compare(("", "main", workload, path), first, second, metric, alpha)


def _direction(
    expected: str, workload: str, path: str, first: ArmResult, second: ArmResult, metric: Metric,
    adjusted_p: float | None, alpha: float,
) -> Finding:  # fmt: skip
    found = decide(_compared(workload, path, first, second, metric, alpha), adjusted_p, alpha)
    better = statistics.hodges_lehmann(differences_within_pairs(first, second, metric), 1 - alpha)
    if first.median == 0:
        found = _of_nothing(found, better.estimate, alpha)
    verdict, why = of_direction(expected, found, metric.lower_is_better)
    sign = -1.0 if metric.lower_is_better else 1.0
    if found.shift_pct is not None:
        ours, interval, unit = found.shift_pct, found.interval_pct, "%"
    else:
        ours, interval, unit = better.estimate, better.interval, metric.unit
    return Finding(
        workload, path, verdict, why, None if math.isnan(ours) else sign * ours,
        interval.scaled(sign) if interval else None, unit, found.pairs, found.p, found.adjusted_p,
    )  # fmt: skip


def _of_nothing(found: Comparison, better: float, alpha: float) -> Comparison:
    """Return the comparison decided by its differences, where a median of 0 allows no percentage."""
    p = found.adjusted_p if found.adjusted_p is not None else found.p
    significant = p is not None and p <= alpha and statistics.smallest_p(found.pairs) <= alpha
    if found.outcome is not Outcome.UNDECIDED or not significant or math.isnan(better) or better == 0:
        return found
    return replace(found, outcome=Outcome.OTHER_BETTER if better > 0 else Outcome.BASELINE_BETTER, why="")
