# SPDX-License-Identifier: Apache-2.0
"""A study of a paper, judged when its trials are over, in a process of its own: `quiclab paper` enters the sandbox for
the next one, and must have no threads then."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quiclab.cli.paper_document import ClaimResult, JudgedStudy, StudyResult
from quiclab.model.errors import ExitCode
from quiclab.model.interval import Interval
from quiclab.model.study import Study
from quiclab.store.layout import StudyDir

if TYPE_CHECKING:
    from quiclab.cli.console import VisibleConsole
    from quiclab.compare.model import StudyAnalysis
    from quiclab.compare.papers.claims_section import ClaimInCell
    from quiclab.compare.study import Study as AnalysedStudy


@dataclass(frozen=True)
class RunStudy:
    """A study whose trials are over."""

    name: str
    study: Study
    study_dir: StudyDir
    code: int
    """Exit code of its trials."""
    held: frozenset[str]
    """Ids of its claims that belong to what was asked for."""


def judge_study(ran: RunStudy) -> JudgedStudy:
    """Decode what is not decoded yet, hold every claim against the study, and write its report. Raises DecodeError
    where the study cannot be read, HostError where the disk refuses."""
    from quiclab.cli.analyse import analyse
    from quiclab.cli.ending import lacking_text, pairs_lacking
    from quiclab.cli.run_document import counts
    from quiclab.compare.interim_analyses import look_notes, looks_at
    from quiclab.compare.papers.claims_section import claims_in_cells

    claims: list[ClaimResult] = []
    notes: list[str] = []

    def hold(study: AnalysedStudy, analysis: StudyAnalysis, _: VisibleConsole) -> None:
        caution, found = claims_in_cells(study, analysis)
        looks = looks_at(study, [analysis.metric.name])
        notes.extend(look_notes(looks, sequential=False) if looks is not None else ())
        notes.extend([caution] if caution else [])
        claims.extend(_claim(ran.name, each) for each in found)

    with redirect_stdout(io.StringIO()):  # the claims are all that is told
        report = analyse(ran.study_dir, show=hold)
    code = ran.code
    if code == ExitCode.NOT_JUDGED:
        lacking = pairs_lacking(ran.study_dir)
        code = _code_with(lacking, [each for each in claims if each.claim in ran.held])
        notes += [lacking_text(lacking)] * bool(lacking)
    result = StudyResult(
        ran.name,
        str(ran.study_dir.root),
        report.report,
        int(code),
        ran.study.blocks,
        counts(ran.study, ran.study_dir),
        tuple(notes),
    )
    return JudgedStudy(result, tuple(claims))


def _code_with(lacking: Collection[str], claims: Iterable[ClaimResult]) -> ExitCode:
    """Exit code of a study that lacks pairs of these cells: a good end where no claim is open for want of them."""
    from quiclab.compare.papers.claim_verdict import Verdict

    for each in claims:
        is_open = each.verdict in (Verdict.INCONCLUSIVE, Verdict.NOT_JUDGED)
        if is_open and (each.workload is None or f"{each.workload}/{each.path}" in lacking):
            return ExitCode.NOT_JUDGED
    return ExitCode.OK


def _claim(study: str, found: ClaimInCell) -> ClaimResult:
    """A claim as plain values: what the analysis has of them needs its libraries to be read."""
    claim, finding = found.judged.claim, found.finding
    first, second = claim.first_and_second
    return ClaimResult(
        study=study,
        claim=claim.id,
        text=claim.text,
        says=found.says,
        claim_verdict=found.judged.verdict.value,
        verdict=(finding or found.judged).verdict.value,
        why=finding.why if finding else claim.why,
        caveat=claim.why if finding else "",
        metric=claim.metric,
        unit=finding.unit if finding else "",
        first_arm=first,
        second_arm=second,
        workload=finding.workload or None if finding else None,
        path=finding.path or None if finding else None,
        paper=claim.expected.text if claim.expected else None,
        here=found.ours,
        ours_in_unit=_plain(finding.ours) if finding else None,
        interval_in_unit=_plain_interval(finding.interval) if finding else None,
        n=int(finding.n) if finding else 0,
        p=_plain(finding.p) if finding else None,
        adjusted_p=_plain(finding.adjusted_p) if finding else None,
    )


def _plain(value: float | None) -> float | None:
    """Return a number of NumPy's as one of Python's."""
    return None if value is None else float(value)


def _plain_interval(interval: Interval | None) -> Interval | None:
    return interval and Interval(float(interval.low), float(interval.high), float(interval.confidence))
