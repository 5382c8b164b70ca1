# SPDX-License-Identifier: Apache-2.0
"""A paper's claims held against a study: every cell of every claim with our number and a verdict.

A paper's claim that two metrics go together more strongly in one arm than in another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from quiclab.compare import statistics
from quiclab.compare.cell_comparison import compare, decide_all, turned
from quiclab.compare.conclusions import conclude_all
from quiclab.compare.model import ArmResult, Comparison, Conclusion, Metric, StudyAnalysis
from quiclab.compare.paired import values_within_pairs
from quiclab.compare.papers.claim_cells import Cells
from quiclab.compare.papers.claim_numbers import difference_of, number_of
from quiclab.compare.papers.claim_verdict import Verdict, claim_verdict, direction_verdict, number_verdict
from quiclab.compare.papers.paper import CORRELATION, INTERACTION, Claim, Expected, Paper
from quiclab.compare.statistics import Correlation, Interval, Stronger
from quiclab.compare.study import Study
from quiclab.evidence.metrics import title_of
from quiclab.model import number_text

Place = tuple[str, str, str]
"""Claim, workload and path."""


@dataclass(frozen=True)
class Strengths:
    """The correlations of both arms in one cell."""

    first: Correlation | None
    second: Correlation | None
    told: Stronger | None
    """Difference of the two correlations; None where one of them is not known."""
    adjusted_p: float | None = None
    """Value of p, adjusted over all correlations that the paper's claims are about (Benjamini and Hochberg)."""

    @property
    def count(self) -> int:
        """Trials of the arm that has fewer with both values."""
        return min(each.count if each else 0 for each in (self.first, self.second))


def strengths(claims: Iterable[Claim], cells: Cells, alpha: float) -> dict[Place, Strengths]:
    """Strengths of correlation that all claims about them are held against, where the study has the cells."""
    found: dict[Place, Strengths] = {}
    for claim in claims:
        if claim.kind != CORRELATION or not claim.testable or claim.expected is None:
            continue
        for workload, path in ((workload, path) for workload in claim.workloads for path in claim.paths):
            if not obstacle(claim, workload, path, cells):
                found[claim.id, workload, path] = _strengths(claim, workload, path, cells, alpha)
    p = np.array([each.told.p if each.told else math.nan for each in found.values()], dtype=np.float64)
    adjusted = statistics.adjusted_p_values(p)
    return {
        place: replace(each, adjusted_p=None if math.isnan(own) else float(own))
        for (place, each), own in zip(found.items(), adjusted, strict=True)
    }


def obstacle(claim: Claim, workload: str, path: str, cells: Cells) -> str:
    """Reason why a claim about a correlation cannot be tested in a cell; empty if it can."""
    both = (claim, msgspec.structs.replace(claim, metric=claim.second_metric))
    return next(filter(None, (cells.obstacle(each, workload, path) for each in both)), "")


def correlation_verdict(claim: Claim, found: Strengths, alpha: float) -> tuple[Verdict, str]:
    """Return the verdict in one cell, with both correlations and the reason where it does not agree."""
    if found.first is None or found.second is None or found.told is None:
        few = [arm for arm, each in zip(claim.arms, (found.first, found.second), strict=True) if each is None]
        why = f"{number_text.listed(few)}: too few trials with both values, or always the same value."
        return Verdict.UNDECIDED, why
    each = [
        f"{one.rho:+.2f}".replace("-", "−") + f" in {arm}"
        for arm, one in zip(claim.arms, (found.first, found.second), strict=True)
    ]
    rhos = f"Spearman's ρ with {title_of(claim.second_metric)} is {number_text.listed(each)}"
    if (found.adjusted_p or 0.0) > alpha:
        return Verdict.UNDECIDED, f"{rhos}; that one of them is stronger is not shown."
    direction = "higher" if found.told.difference > 0 else "lower"
    assert claim.expected is not None
    agrees = direction == claim.expected.direction
    return (Verdict.AGREES if agrees else Verdict.DIFFERS), f"{rhos}."


def _strengths(claim: Claim, workload: str, path: str, cells: Cells, alpha: float) -> Strengths:
    first, second = (_correlation_claim_correlations(claim, workload, path, arm, cells) for arm in claim.arms)
    told = statistics.stronger(first, second, 1 - alpha) if first and second else None
    return Strengths(first, second, told)


def _correlation_claim_correlations(
    claim: Claim, workload: str, path: str, arm: str, cells: Cells
) -> Correlation | None:
    one, other = (cells.arm(metric, workload, path, arm) for metric in (claim.metric, claim.second_metric))
    return statistics.rank_correlation(*values_within_pairs(one, other, cells.metric(claim.metric)))


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
    conclusion: Conclusion | None = None
    """Conclusion of a direction's comparison beside what matters."""


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
    compared = _compared(paper.claims, cells, analysis)
    correlated = strengths(paper.claims, cells, analysis.alpha)
    found = []
    for claim in paper.claims:
        expected = claim.expected
        findings = (
            tuple(
                _correlation(claim, workload, path, cells, correlated, analysis)
                if claim.kind == CORRELATION
                else _finding(claim, expected, workload, path, cells, compared, analysis)
                for workload in claim.workloads
                for path in claim.paths
            )
            if claim.testable and expected is not None
            else ()
        )
        found.append(Judged(claim, claim_verdict([finding.verdict for finding in findings]), findings))
    return tuple(found)


def _compared(claims: Iterable[Claim], cells: Cells, analysis: StudyAnalysis) -> dict[Key, Comparison]:
    """The comparison that decides each direction: the map's own where it has it, so that the page does not contradict
    itself; the others are decided among themselves, as one family."""
    known: dict[Key, Comparison] = {
        (c.workload, c.path, frozenset((c.baseline.arm, c.other.arm)), analysis.metric.name): c
        for c in analysis.comparisons
    }
    rest: dict[Key, Comparison] = {}
    for claim in claims:
        if not claim.testable or claim.expected is None or not claim.expected.direction or claim.kind == CORRELATION:
            continue
        for workload, path in ((workload, path) for workload in claim.workloads for path in claim.paths):
            key = (workload, path, frozenset(claim.sides), claim.metric)
            if key not in known and key not in rest and not cells.obstacle(claim, workload, path):
                first, second = cells.sides(claim, workload, path)
                metric = cells.metric(claim.metric)
                rest[key] = compare(("", "main", workload, path), first, second, metric, analysis.alpha)
    decided = dict(zip(rest, decide_all(list(rest.values()), analysis.alpha), strict=True))
    family = [(each, cells.metric(key[-1])) for key, each in decided.items()]
    concluded = conclude_all(family, analysis.alpha, analysis.matters_pct)
    return known | dict(zip(rest, concluded, strict=True))


def _finding(
    claim: Claim, expected: Expected, workload: str, path: str, cells: Cells, compared: dict[Key, Comparison],
    analysis: StudyAnalysis,
) -> Finding:  # fmt: skip
    obstacle = cells.obstacle(claim, workload, path)
    if obstacle:
        return Finding(workload, path, Verdict.NOT_TESTABLE, obstacle)
    metric = cells.metric(claim.metric)
    arms = [cells.arm(claim.metric, workload, path, arm) for arm in claim.arms]
    doubt = _doubt(arms, cells.describes_only(claim.metric), _needs_values(claim, expected))
    if expected.direction:
        decided = compared[workload, path, frozenset(claim.sides), claim.metric]
        decided = decided if decided.baseline.arm == claim.sides[0] else turned(decided)
        found = _direction(expected.direction, decided, metric, analysis.matters_pct)
    else:
        of = difference_of if claim.kind == "difference" else number_of
        ours = of(arms, metric, claim.statistic, analysis.alpha)
        verdict, why = number_verdict(expected, ours)
        found = Finding(workload, path, verdict, why, ours.estimate, ours.interval, ours.unit, ours.count)
    if doubt and found.verdict is not Verdict.NOT_TESTABLE:
        return replace(found, verdict=Verdict.UNDECIDED, why=doubt)
    return found


def _correlation(
    claim: Claim, workload: str, path: str, cells: Cells, correlated: dict[Place, Strengths], analysis: StudyAnalysis
) -> Finding:
    told = obstacle(claim, workload, path, cells)
    if told:
        return Finding(workload, path, Verdict.NOT_TESTABLE, told)
    found = correlated[claim.id, workload, path]
    verdict, why = correlation_verdict(claim, found, analysis.alpha)
    arms = [cells.arm(claim.metric, workload, path, arm) for arm in claim.arms]
    if doubt := _doubt(arms, True, CORRELATION):
        verdict, why = Verdict.UNDECIDED, doubt
    ours, interval, p = (found.told.difference, found.told.interval, found.told.p) if found.told else (None, None, None)
    return Finding(workload, path, verdict, why, ours, interval, "", found.count, p, found.adjusted_p)


def _needs_values(claim: Claim, expected: Expected) -> str:
    """Part of a claim that has no meaning where a trial failed; empty where failed trials rank worst."""
    if claim.kind == INTERACTION:
        return "ratio of arms"
    return "mean" if claim.statistic == "mean" and not expected.direction else ""


def _doubt(arms: list[ArmResult], describes_only: bool, needs_values: str) -> str:
    """Reason why these trials decide nothing whatever their numbers are; empty if they may."""
    told = (f"{arm.failures} of {len(arm.trials)} trials of {arm.arm} failed" for arm in arms if arm.failures)
    failed = ", ".join(dict.fromkeys(told))
    if failed and needs_values:
        return f"{failed}: a {needs_values} has no meaning then."
    if failed and describes_only:
        return f"{failed}: this metric has no worst value to give them."
    return ""


def _direction(expected: str, found: Comparison, metric: Metric, matters_pct: float) -> Finding:
    verdict, why = direction_verdict(expected, found, metric, matters_pct)
    in_pct = found.difference_pct is not None or found.interval_pct is not None
    ours, interval = (found.difference_pct, found.interval_pct) if in_pct else (found.difference, found.interval)
    return Finding(
        found.workload, found.path, verdict, why, ours, interval, "%" if in_pct else metric.unit, found.pairs,
        found.p, found.adjusted_p, found.conclusion,
    )  # fmt: skip
