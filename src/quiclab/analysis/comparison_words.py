# SPDX-License-Identifier: Apache-2.0
"""Comparisons, arms and cells as text, the same in the terminal, on the page and in figures."""

from __future__ import annotations

from quiclab.analysis.model import ArmResult, Comparison, Metric, Outcome, StudyAnalysis
from quiclab.statistics import smallest_p
from quiclab.wording import interval_text, level, percent


def within_pairs(comparison: Comparison, analysis: StudyAnalysis) -> str:
    """What `shift_pct` and its interval are of: the controls of a sequential study have a fixed number of pairs."""
    return "median within pairs" if analysis.sequential and comparison.kind == "main" else "shift within pairs"


def shift_interval(comparison: Comparison, nominal: float) -> str:
    """Return the interval of the shift; where too few pairs attain that level, the level that they attain at most."""
    attained = 1 - smallest_p(comparison.pairs)
    if comparison.interval_pct is None and 0 < attained < nominal:
        return f"none (at most {level(attained)})"
    return interval_text(comparison.interval_pct, nominal)


def faster(metric: Metric) -> str:
    """The word for better: times are faster, other quantities better."""
    return "faster" if metric.unit in {"ms", "us", "s"} else "better"


def winner(comparison: Comparison) -> str:
    """Name of the better arm; "" where there is none."""
    if comparison.outcome is Outcome.OTHER_BETTER:
        return comparison.other.arm
    return comparison.baseline.arm if comparison.outcome is Outcome.BASELINE_BETTER else ""


def difference_text(comparison: Comparison) -> str:
    """What stands in the cell: the difference if it is significant, else nothing, or why there is no answer."""
    if comparison.outcome.significant:
        return percent(comparison.difference_pct) or f"{_failing(comparison)} fails"
    return {Outcome.UNDECIDED: "undecided", Outcome.NOT_MEASURED: "no data"}.get(comparison.outcome, "")


def _failing(comparison: Comparison) -> str:
    worse = comparison.baseline if winner(comparison) == comparison.other.arm else comparison.other
    return worse.arm


def sign_convention(analysis: StudyAnalysis) -> str:
    """What positive and negative, red and blue mean, for the study's arms."""
    arms = " or ".join(dict.fromkeys(c.other.arm for c in analysis.comparisons)) or "the other arm"
    baseline = analysis.comparisons[0].baseline.arm if analysis.comparisons else "the baseline"
    word = faster(analysis.metric)
    return f"Positive, red: {arms} is {word}. Negative, blue: {baseline} is {word}."


def place(comparison: Comparison, analysis: StudyAnalysis) -> str:
    """The cell by the names that the figures use: `1 % loss, 5 MB`."""
    path = analysis.path_titles.get(comparison.path, comparison.path)
    return f"{path}, {analysis.workload_titles.get(comparison.workload, comparison.workload)}"


def whys(analysis: StudyAnalysis) -> list[str]:
    """Why cells have no answer, the cells of one reason together."""
    places: dict[str, list[str]] = {}
    for comparison in analysis.comparisons:
        if comparison.why:
            places.setdefault(comparison.why, []).append(place(comparison, analysis))
    every = len(analysis.comparisons)
    return [f"{why} ({'every cell' if len(at) == every > 1 else '; '.join(at)})" for why, at in places.items()]


def trouble(arm: ArmResult) -> str:
    """Failures, unproven, void and damaged trials and unknown values of an arm in a cell; "" where there is none."""
    counts = (
        (arm.failures, "failed"),
        (arm.unproven, "unproven"),
        (arm.voids, "void"),
        (arm.damaged, "damaged"),
        (arm.unmeasured, "unmeasured"),
    )
    return ", ".join(f"{count} {word}" for count, word in counts if count)
