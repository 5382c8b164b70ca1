# SPDX-License-Identifier: Apache-2.0
"""Findings of a stage of a search, read from the tables of its study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quiclab.compare.analyse import analyse_study, usual_metric
from quiclab.compare.differences_by_block import differences_by_block
from quiclab.compare.model import Comparison, Conclusion, Outcome, StudyAnalysis
from quiclab.compare.sequential import state
from quiclab.compare.study import read_study
from quiclab.model.errors import DecodeError
from quiclab.store.go_on import OPEN
from quiclab.store.layout import StudyDir
from quiclab.study.confirm.confirming_run import Judged
from quiclab.study.tables import make_tables
from quiclab.study.tune.result import JudgedDifference, NeighbourResult, SideEffect

_BESIDES = (
    *("ttfb_ms", "setup_ms", "retransmitted_bytes", "wire_bytes_up", "wire_bytes_down", "queue_max_bytes"),
    *("server_cpu_ms_per_mb", "proxy_cpu_ms_per_mb", "client_cpu_ms_per_mb"),
)
"""Metrics that a setting may change beside the one that is tuned."""


def _has_tables(directory: Path) -> bool:
    """Make the tables of a stage; False where no trial of it is over, as its time was."""
    try:
        make_tables(StudyDir(directory))
    except DecodeError:
        if any(StudyDir(directory).root.glob("trials/*/trial.json")):
            raise
        return False
    return True


def raced(directory: Path) -> dict[str, dict[int, float]]:
    """Arm → block → 100 ln(its value / that of the baseline), with the other sign where more is better: below zero the
    arm is the better one."""
    if not _has_tables(directory):
        return {}
    analysis = analyse_study(directory)
    better = 1.0 if analysis.metric.lower_is_better else -1.0
    return {
        each.other.arm: {block: better * value for block, value in differences_by_block(each, analysis.metric).items()}
        for each in analysis.comparisons
    }


def judged_so_far(directory: Path) -> Judged:
    """State of the fresh blocks, by the sequential test: `undecided` or the conclusion. It is final once the gain is
    known well enough, too: its interval is no wider than itself."""
    if not _has_tables(directory):
        return Judged("undecided", False, 0, 0, ())
    found = analyse_study(directory).comparisons
    if not found:
        return Judged("undecided", False, 0, 0, ())
    if state(found[0]) == OPEN:
        return Judged("undecided", False, found[0].pairs, 0, ())
    interval, gain = found[0].interval_pct, found[0].difference_pct
    is_known = interval is not None and gain is not None and interval.high - interval.low <= abs(gain)
    final = not found[0].outcome.significant or is_known
    return Judged(found[0].conclusion.text, final, found[0].pairs, 0, ())


def tested(directory: Path) -> JudgedDifference | None:
    """Finding of the fresh blocks about the setting, by the sequential test; None of no pair."""
    if not _has_tables(directory):
        return None
    analysis = analyse_study(directory)
    found = next(iter(analysis.comparisons), None)
    return None if found is None or not found.pairs else _tested(found, analysis)


def over_neighbours(directory: Path) -> tuple[NeighbourResult, ...]:
    """Finding of each neighbouring network, in the order of the study; corrected for all of them."""
    if not _has_tables(directory):
        return ()
    analysis = analyse_study(directory)
    return tuple(
        NeighbourResult(analysis.path_titles[each.path], _tested(each, analysis))
        for each in analysis.comparisons
        if each.pairs
    )


def side_effects(directory: Path) -> tuple[SideEffect, ...]:
    """Other metrics that the fresh blocks show to differ: their sequential tests, corrected after Bonferroni for all
    that have a value."""
    if not _has_tables(directory):
        return ()
    usual = usual_metric(read_study(directory))
    found = [(each, analyse_study(directory, each)) for each in _BESIDES if each != usual]
    known = [(name, each) for name, each in found if each.comparisons and each.comparisons[0].pairs]
    shown = []
    for name, analysis in known:
        comparison = analysis.comparisons[0]
        if comparison.p is not None and comparison.p * len(known) <= analysis.alpha:
            before, after = comparison.baseline.median, comparison.other.median
            metric = analysis.metric
            shown.append(SideEffect(name, metric.title, metric.unit, before, after, comparison.difference_pct))
    return tuple(shown)


_VERDICTS: Mapping[Outcome, str] = {Outcome.OTHER_BETTER: "faster", Outcome.BASELINE_BETTER: "slower"}


def _tested(comparison: Comparison, analysis: StudyAnalysis) -> JudgedDifference:
    verdict = _VERDICTS.get(comparison.outcome, "not shown")
    if comparison.conclusion is Conclusion.NOT_JUDGED:
        verdict = "not judged"
    elif comparison.conclusion in (Conclusion.ALIKE, Conclusion.MEDIAN_ALIKE):
        verdict = "equivalent"
    interval = comparison.interval_pct
    return JudgedDifference(
        verdict,
        comparison.difference_pct,
        None if interval is None else interval.low,
        None if interval is None else interval.high,
        analysis.confidence if interval is None else interval.confidence,
        comparison.pairs,
        comparison.baseline.median,
        comparison.other.median,
    )
