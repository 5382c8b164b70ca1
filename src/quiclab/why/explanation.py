# SPDX-License-Identifier: Apache-2.0
"""The explanation of a cell: its time by waits, the verdicts on its causes, and the runs that put these to the test.

It is made once from a study's tables. The terminal, the JSON document, the report, the end of a run and the map of
causes render it, so that none of them can say another thing than the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from quiclab.compare import comparison_words
from quiclab.compare.model import Comparison, Conclusion, StudyAnalysis
from quiclab.compare.study_tables import OpenedStudy
from quiclab.model.errors import QuiclabError
from quiclab.why.account import Why
from quiclab.why.accounts import Step, Waterfall, pairs_of, waterfalls
from quiclab.why.cause_parts import Known, known_of
from quiclab.why.causes import SMALL_PCT, Status, Verdict, verdicts_of
from quiclab.why.confirm import judge
from quiclab.why.confirm.joint_records import KeptTogether, kept_together
from quiclab.why.confirm.records import Confirmation, confirmations
from quiclab.why.divergence import Role

_BY_RUN = {judge.Verdict.CONFIRMED: Status.CONFIRMED, judge.Verdict.REJECTED: Status.REJECTED}


@dataclass(frozen=True)
class DifferencePart:
    """A part of the difference that a headline names: one of the causes, or where there is none of the waits."""

    name: str
    difference_ms: float
    shown: bool
    """True if the pairs, or the records by themselves, show it."""
    luck: bool
    why: Why
    """The wait that has most of its time."""


@dataclass(frozen=True)
class Explanation:
    """The difference of two arms in one cell, and everything that is known of why there is one."""

    waterfall: Waterfall
    causes: tuple[Verdict, ...]
    """Verdicts on the parts of the difference, the largest first; empty where the tables name no mechanisms, and of a
    cell that is not judged."""
    alpha: float
    """Level of the tests of waits and causes."""
    cell_name: str = ""
    """Names of path and workload, as the figures have them."""
    runs: tuple[Confirmation, ...] = ()
    """Runs that put a cause of the cell to the test, those without a decision too."""
    joint_runs: tuple[KeptTogether, ...] = ()
    """Runs of the cell without several causes."""

    @property
    def comparison(self) -> Comparison:
        """The two arms in their cell, as the answer compares them."""
        return self.waterfall.comparison

    @property
    def judged(self) -> bool:
        """True if the cell is judged: of one that the laboratory disturbed too much nothing is shown."""
        return self.comparison.conclusion is not Conclusion.NOT_JUDGED

    @property
    def parts(self) -> tuple[DifferencePart, ...]:
        """The parts that make a difference, the largest first."""
        if self.causes:
            return tuple(
                DifferencePart(
                    each.title, each.step.difference_ms, each.status.found, each.status is Status.LUCK, each.most
                )
                for each in self.causes
                if each.status is not Status.IN_BOTH
            )
        large = [step for step in self.waterfall.steps if step.difference_ms and self._is_large(step)]
        return tuple(
            DifferencePart(step.label.heading, step.difference_ms, step.differs(self.alpha), luck=False, why=step.label)
            for step in sorted(large, key=lambda step: -abs(step.difference_ms))
            if isinstance(step.label, Why)
        )

    @property
    def first_stage(self) -> Step | None:
        """The stage of the transfer in which the arms first differ; None where none is shown to differ, and where it is
        the handshake: HTTP/2 and HTTP/3 differ there in nearly every cell, and the causes say by what."""
        shown = (step for step in self.waterfall.roles if step.differs(self.alpha) and self._is_large(step))
        first = next(shown, None)
        return None if first is None or first.label is Role.SET_UP else first

    def _is_large(self, step: Step) -> bool:
        return abs(step.difference_ms) >= SMALL_PCT / 100 * self.waterfall.gross_ms

    @property
    def rest_ms(self) -> float | None:
        """Difference of the parts that are too small to be told: with those of `causes` it adds up to that of the whole
        time; None where there are none."""
        if not self.causes or not self.waterfall.pairs:
            return None
        return self.waterfall.total.difference_ms - sum(verdict.step.difference_ms for verdict in self.causes)

    @property
    def runs_beside(self) -> tuple[Confirmation, ...]:
        """Runs that no verdict of the cell tells of: those before the last one, and those of causes that the cell's
        pairs show no more."""
        told = {verdict.tested.directory for verdict in self.causes if verdict.tested and verdict.status.names_one}
        return tuple(each for each in self.runs if each.directory not in told)


def explanations(
    study: OpenedStudy,
    analysis: StudyAnalysis,
    comparisons: Sequence[Comparison] | None = None,
    *,
    foretold: bool = True,
) -> tuple[Explanation, ...]:
    """Explain comparisons of an analysis, all of them by default, in their order.

    Where causes are `foretold`, pairs are counted that would show what is undecided, which takes a few tenths of a
    second for each part. Raises DecodeError for a table that cannot be read.
    """
    asked = analysis.comparisons if comparisons is None else comparisons
    found = waterfalls(study, asked, analysis.alpha, analysis.metric.name)
    if not found:
        return ()
    known = known_of(study, found[0].of.metric)
    runs, joint_runs = confirmations(study.directory), kept_together(study.directory)

    def explained(waterfall: Waterfall) -> Explanation:
        comparison = waterfall.comparison
        own = tuple(each for each in runs if each.is_of(comparison))
        arms = {comparison.baseline.arm, comparison.other.arm}
        return Explanation(
            waterfall,
            () if known is None else _causes(waterfall, known, analysis.alpha, own, foretold=foretold),
            analysis.alpha,
            comparison_words.cell_name(comparison, analysis),
            own,
            tuple(each for each in joint_runs if each.cell == comparison.cell_id and each.arm in arms),
        )

    return tuple(map(explained, found))


def readable_explanations(
    directory: Path,
    analysis: StudyAnalysis,
    comparisons: Sequence[Comparison] | None = None,
    *,
    foretold: bool = True,
) -> tuple[Explanation, ...] | None:
    """Explain comparisons of a study, those of all cells by default; None where its tables are not there, or are
    damaged or of another version."""
    try:
        return explanations(OpenedStudy(directory), analysis, comparisons, foretold=foretold)
    except (QuiclabError, pl.exceptions.PolarsError):
        return None


def _causes(
    waterfall: Waterfall, known: Known, alpha: float, runs: Sequence[Confirmation], *, foretold: bool
) -> tuple[Verdict, ...]:
    """Verdicts on a cell's causes, each with the last run that was to confirm it."""
    comparison = waterfall.comparison
    if not waterfall.pairs or comparison.conclusion is Conclusion.NOT_JUDGED:
        return ()
    shown = verdicts_of(known, pairs_of(comparison.baseline, comparison.other), alpha, foretold=foretold)
    last = {each.declared.mechanism: each for each in runs}
    return tuple(_tested(each, last[each.name]) if each.name in last else each for each in shown)


def _tested(verdict: Verdict, run: Confirmation) -> Verdict:
    """A verdict with the run that was to confirm it; a declaration that was changed afterwards counts for nothing."""
    shown = run.judgement.verdict if run.sound and run.judgement is not None else None
    if run.declared.is_of_path and shown is judge.Verdict.CONFIRMED:
        shown = None  # a condition of the difference, as runs of earlier versions called it
    status = _BY_RUN.get(shown, verdict.status) if verdict.status.names_one and shown else verdict.status
    return replace(verdict, status=status, tested=run)
