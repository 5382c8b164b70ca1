# SPDX-License-Identifier: Apache-2.0
"""A paper's claims held against a study: every cell of every claim with our number and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from quiclab.compare.analyse import tolerated_pct
from quiclab.compare.cell_comparison import compare, decide_all, turned
from quiclab.compare.conclusions import conclude_all
from quiclab.compare.model import ArmResult, Comparison, Metric, StudyAnalysis
from quiclab.compare.not_judged import TRY_AGAIN, advice_for
from quiclab.compare.papers.claim_cells import Cells, Obstacle
from quiclab.compare.papers.claim_correlations import Strengths, correlation_verdict, obstacle, strengths
from quiclab.compare.papers.claim_counts import bounded_cell, compared_cell, count_of
from quiclab.compare.papers.claim_finding import CountedCell, Finding, Judged, Place
from quiclab.compare.papers.claim_numbers import Number, difference_of, number_of
from quiclab.compare.papers.claim_spread import Spreads, spread_verdict, spreads
from quiclab.compare.papers.claim_verdict import Verdict, claim_verdict, direction_verdict, number_verdict
from quiclab.compare.papers.paper import CORRELATION, COUNT, INTERACTION, SPREAD, Claim, Expected, Paper
from quiclab.compare.study import Study
from quiclab.model import number_text
from quiclab.store.go_on import going_on

Key = tuple[str, str, frozenset[str], str]
"""Workload, path, two arms, metric: a comparison, whichever way round."""


@dataclass(frozen=True)
class _Measured:
    """All that claims are held against, by cell."""

    cells: Cells
    analysis: StudyAnalysis
    compared: dict[Key, Comparison]
    strengths: dict[Place, Strengths]
    spreads: dict[Place, Spreads]


def judge(study: Study, analysis: StudyAnalysis, paper: Paper) -> tuple[Judged, ...]:
    """Every claim, in the paper's order."""
    cells = Cells(study, paper.changed)
    measured = _Measured(
        cells,
        analysis,
        _compared(paper.claims, cells, analysis),
        strengths(paper.claims, cells, analysis.alpha),
        spreads(paper.claims, cells),
    )
    command, tolerated = f"`{going_on(study.directory)}`", tolerated_pct(study)

    def advised(finding: Finding) -> Finding:
        return replace(finding, why=advice_for(finding.why, command, tolerated))

    found = []
    for claim in paper.claims:
        counted: tuple[CountedCell, ...] = ()
        findings: tuple[Finding, ...] = ()
        if claim.testable and claim.expected is not None:
            places = [(workload, path) for workload in claim.workloads for path in claim.paths]
            if claim.kind == COUNT:
                counted = tuple(_counted(claim, *place, len(places), measured) for place in places)
                counted = tuple(replace(each, finding=advised(each.finding)) for each in counted)
                findings = (count_of(claim.expected, counted, 1 - analysis.alpha),)
            else:
                findings = tuple(advised(_finding(claim, claim.expected, *place, measured)) for place in places)
        found.append(Judged(claim, claim_verdict([finding.verdict for finding in findings]), findings, counted))
    return tuple(found)


def _compared(claims: Iterable[Claim], cells: Cells, analysis: StudyAnalysis) -> dict[Key, Comparison]:
    """The comparison that decides each direction: the map's own where it has it, so that the page does not contradict
    itself; the others are decided among themselves, as one family."""
    known: dict[Key, Comparison] = {
        (c.workload, c.path, frozenset((c.baseline.arm, c.other.arm)), analysis.metric.name): c
        for c in analysis.comparisons
    }
    rest: dict[Key, Comparison] = {}
    for claim in filter(_is_decided_by_pairs, claims):
        for workload, path in ((workload, path) for workload in claim.workloads for path in claim.paths):
            keys = [(workload, path, frozenset((side, claim.sides[-1])), claim.metric) for side in claim.sides[:-1]]
            if all(key in known or key in rest for key in keys) or cells.obstacle(claim, workload, path):
                continue
            *others, last = cells.sides(claim, workload, path)
            metric = cells.metric(claim.metric)
            for key, other in zip(keys, others, strict=True):
                if key not in known and key not in rest:
                    rest[key] = compare(("", "main", workload, path), other, last, metric, analysis.alpha)
    decided = dict(zip(rest, decide_all(list(rest.values()), analysis.alpha), strict=True))
    family = [(each, cells.metric(key[-1])) for key, each in decided.items()]
    concluded = conclude_all(family, analysis.alpha, analysis.matters_pct)
    return known | dict(zip(rest, concluded, strict=True))


def _is_decided_by_pairs(claim: Claim) -> bool:
    """True if comparisons of two sides decide the claim."""
    if not claim.testable or claim.expected is None or claim.kind in (CORRELATION, SPREAD):
        return False
    return bool(claim.expected.direction) or (claim.counted is not None and claim.counted.direction is not None)


def _decided(claim: Claim, side: str, workload: str, path: str, measured: _Measured) -> Comparison:
    """The comparison of the claim's last side with another one, which is its baseline."""
    found = measured.compared[workload, path, frozenset((side, claim.sides[-1])), claim.metric]
    return found if found.baseline.arm == side else turned(found)


def _finding(claim: Claim, expected: Expected, workload: str, path: str, measured: _Measured) -> Finding:
    if claim.kind == CORRELATION:
        return _correlation(claim, workload, path, measured)
    cells, analysis = measured.cells, measured.analysis
    if (found := cells.obstacle(claim, workload, path)) is not None:
        return _cannot(found, workload, path)
    if claim.kind == SPREAD:
        return _spread(claim, workload, path, measured)
    metric = cells.metric(claim.metric)
    if expected.direction:
        decided = _decided(claim, claim.sides[0], workload, path, measured)
        finding = _direction(expected.direction, decided, metric, analysis.matters_pct)
    else:
        of, sides = difference_of if claim.kind == "difference" else number_of, cells.sides(claim, workload, path)
        ours = of(sides, metric, claim.statistic, analysis.alpha)
        verdict, why = number_verdict(expected, ours)
        if lost := _lost_pairs(sides, ours):
            verdict, why = Verdict.NOT_JUDGED, lost
        finding = Finding(workload, path, verdict, why, ours.estimate, ours.interval, ours.unit, ours.count)
    doubt = _doubt(claim, workload, path, cells, _needs_values(claim, expected))
    if doubt and finding.verdict is not Verdict.NOT_TESTABLE:
        return replace(finding, verdict=Verdict.INCONCLUSIVE, why=doubt)
    return finding


def _cannot(obstacle: Obstacle, workload: str, path: str) -> Finding:
    """The finding in a cell in which the claim cannot be tested."""
    verdict = Verdict.NOT_JUDGED if obstacle.is_disturbed else Verdict.NOT_TESTABLE
    return Finding(workload, path, verdict, obstacle.why)


def _lost_pairs(sides: Sequence[ArmResult], ours: Number) -> str:
    """Reason for not judging a number that too few values are left for; empty where the laboratory left enough."""
    lost = len({block for side in sides for block in side.lost_blocks})
    if ours.obstacle or ours.interval is not None or not lost:
        return ""
    ran = number_text.counted(ours.count + lost, "block")
    return f"Disturbed: {ours.count} of {ran} count, which are too few for an interval. {TRY_AGAIN}"


def _counted(claim: Claim, workload: str, path: str, places: int, measured: _Measured) -> CountedCell:
    """One of the cells of a count."""
    cells, analysis, counted = measured.cells, measured.analysis, claim.counted
    assert counted is not None
    if (obstacle := cells.obstacle(claim, workload, path)) is not None:
        finding = _cannot(obstacle, workload, path)
        return CountedCell(finding, finding.verdict.value)
    metric = cells.metric(claim.metric)
    if counted.direction is None:
        # Of all cells of the claim together the intervals hold 1 − alpha (Bonferroni).
        ours = number_of(cells.sides(claim, workload, path), metric, claim.statistic, analysis.alpha / places)
        verdict, state = bounded_cell(counted, ours)
        finding = Finding(workload, path, verdict, "", ours.estimate, ours.interval, ours.unit, ours.count)
    else:
        found = [_decided(claim, side, workload, path, measured) for side in claim.sides[:-1]]
        verdict, state = compared_cell(counted, [(each, metric) for each in found])
        finding = replace(_direction(counted.direction, found[0], metric, analysis.matters_pct), verdict=verdict)
        if len(found) > 1:
            finding = Finding(workload, path, verdict, "", n=min(each.pairs for each in found))
    needs_values = "mean" if counted.direction is None and claim.statistic == "mean" else ""
    if (doubt := _doubt(claim, workload, path, cells, needs_values)) and verdict is not Verdict.NOT_TESTABLE:
        return CountedCell(replace(finding, verdict=Verdict.INCONCLUSIVE, why=doubt), Verdict.INCONCLUSIVE.value)
    return CountedCell(finding, state)


def _correlation(claim: Claim, workload: str, path: str, measured: _Measured) -> Finding:
    if (found := obstacle(claim, workload, path, measured.cells)) is not None:
        return _cannot(found, workload, path)
    both = measured.strengths[claim.id, workload, path]
    verdict, why = correlation_verdict(claim, both, measured.analysis.alpha)
    if doubt := _doubt(claim, workload, path, measured.cells, CORRELATION):
        verdict, why = Verdict.INCONCLUSIVE, doubt
    ours, interval, p = (both.told.difference, both.told.interval, both.told.p) if both.told else (None, None, None)
    return Finding(workload, path, verdict, why, ours, interval, "", both.count, p, both.adjusted_p)


def _spread(claim: Claim, workload: str, path: str, measured: _Measured) -> Finding:
    found = measured.spreads[claim.id, workload, path]
    verdict, why = spread_verdict(claim, found, measured.analysis.alpha)
    if doubt := _doubt(claim, workload, path, measured.cells, SPREAD):
        verdict, why = Verdict.INCONCLUSIVE, doubt
    if found.measured is None:
        return Finding(workload, path, verdict, why)
    ours = found.measured.change_pct
    return Finding(workload, path, verdict, why, ours, None, "%", found.measured.count, found.p, found.adjusted_p)


def _needs_values(claim: Claim, expected: Expected) -> str:
    """Part of a claim that has no meaning where a trial failed; empty where failed trials rank worst."""
    if claim.kind == INTERACTION:
        return "ratio of arms"
    return "mean" if claim.statistic == "mean" and not expected.direction else ""


def _doubt(claim: Claim, workload: str, path: str, cells: Cells, needs_values: str) -> str:
    """Reason why these trials decide nothing whatever their numbers are; empty if they may."""
    arms = [cells.arm(claim.metric, workload, path, arm) for arm in claim.arm_names]
    failed = ", ".join(
        f"{arm.failures} of {len(arm.trials)} trials of {arm.arm} failed" for arm in arms if arm.failures
    )
    if failed and needs_values:
        return f"{failed}: a {needs_values} has no meaning then."
    if failed and cells.describes_only(claim.metric):
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
