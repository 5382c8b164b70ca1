# SPDX-License-Identifier: Apache-2.0
"""All numbers of the map as a table of the page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from quiclab.compare import comparison_words
from quiclab.compare.model import Comparison, StudyAnalysis
from quiclab.model import number_text
from quiclab.model.text_table import TextTable


def results_table(analysis: StudyAnalysis) -> TextTable:
    """A row per comparison, the controls last, or one per cell of a single arm; the note says how it was decided."""
    if analysis.alone:
        return _alone_table(analysis)
    return TextTable(
        "All numbers",
        _method(analysis),
        ("network", "size", "baseline", "median", "failed", "invalid", "other", "median", "failed", "invalid", "pairs",
         comparison_words.difference_heading(analysis.metric),
         f"its {number_text.level(analysis.confidence)} interval", "p", "adjusted p", "conclusion",
         "slow tail", "Mann–Whitney p", "Welch p"),
        tuple(_result(comparison, analysis) for comparison in (*analysis.comparisons, *analysis.controls)),
        "There is nothing to compare.",
    )  # fmt: skip


def alone_rows(analysis: StudyAnalysis) -> Iterator[tuple[str, ...]]:
    """Network, size and numbers of each cell of a study with a single arm: `ALONE` has their headings."""
    quantity = partial(number_text.quantity, unit=analysis.metric.unit)
    for each in analysis.alone:
        interval = ""
        if (of := each.arm.interval) is not None:
            interval = number_text.ends_text(of.low, of.high, quantity)
        yield (
            analysis.path_titles.get(each.path, each.path),
            analysis.workload_titles.get(each.workload, each.workload),
            number_text.quantity(each.arm.median, analysis.metric.unit),
            interval,
            str(len(each.arm.trials)),
            str(each.arm.failures),
            str(each.arm.voids),
        )


ALONE = ("network", "size", "median", "its interval", "trials", "failed", "void")


def _alone_table(analysis: StudyAnalysis) -> TextTable:
    levels = sorted({number_text.level(of.confidence) for each in analysis.alone if (of := each.arm.interval)})
    note = (
        f"{analysis.metric.title}. Intervals are those of the median, exact, at {' and '.join(levels)}."
        if levels
        else ""
    )
    return TextTable("All numbers", note, ALONE, tuple(alone_rows(analysis)), "No trial has run.")


def _result(comparison: Comparison, analysis: StudyAnalysis) -> tuple[str, ...]:
    sides: list[str] = []
    for arm in (comparison.baseline, comparison.other):
        sides += [arm.arm, number_text.quantity(arm.median, analysis.metric.unit), str(arm.failures), str(arm.voids)]
    path, size = comparison.path, comparison.workload
    return (
        analysis.path_titles.get(path, path),
        analysis.workload_titles.get(size, size),
        *sides,
        str(comparison.pairs),
        comparison_words.estimate_text(comparison, analysis.metric),
        comparison_words.estimate_interval(comparison, analysis.metric, analysis.confidence),
        *map(number_text.p_text, (comparison.p, comparison.adjusted_p)),
        comparison_words.conclusion_words(comparison, analysis.matters_pct),
        comparison_words.tail_words(comparison.tail, analysis.metric),
        *map(number_text.p_text, (comparison.mann_whitney_p, comparison.welch_p)),
    )


def _method(analysis: StudyAnalysis) -> str:
    """Meaning of each number, and null hypothesis of each test."""
    decided = _sequential(analysis) if analysis.sequential else _fixed(analysis)
    levels = comparison_words.interval_levels(analysis)
    return " ".join((_DIFFERENCE, decided, levels, _conclusions(analysis), _BESIDE))


_DIFFERENCE = (
    "Difference within pairs: how much more (+) or less (−) the other arm has in the typical pair, in per cent of the "
    "baseline's value: −12 % of a time is 12 % less time. It comes "
    "from the ratios of the two trials of each block, in which what they share cancels, and so need not be the "
    "difference of the medians. Where a value of zero has no ratio, it is in the metric's unit."
)
_BESIDE = (
    "Mann–Whitney (null hypothesis: both arms have the same distribution) and Welch (the same mean) are shown for "
    "comparison: they treat the trials as independent, ignore the blocks, are not corrected and decide nothing. Failed "
    "trials rank worst and leave Welch blank."
)


def _conclusions(analysis: StudyAnalysis) -> str:
    matters = f"{analysis.matters_pct:g} %"
    return (
        f"What matters here is {matters} (`matters` in the spec). Different, but by less than {matters}: the whole "
        f"interval is. Unclear whether by {matters}: the estimate is less, the interval reaches further. Equivalent: "
        f"no difference was found, and the whole interval is less than {matters}, also that of the slow tail: p90 of "
        "both arms by its ratio, with a 95 % interval by resampling pairs; the median is equivalent where the tail "
        "differs, is inconclusive, or is not known."
    )


def _fixed(analysis: StudyAnalysis) -> str:
    return (
        "Estimate and interval are those of Hodges and Lehmann on the logarithms of the ratios (the median of the "
        "means of every two of them), told in per cent. The exact signed-rank test "
        f"of the log ratios decides, at {analysis.alpha:g} after Benjamini–Hochberg over {analysis.tested} "
        "comparisons. Its null hypothesis: the log ratios within pairs are symmetric about zero, as they are where "
        "the arms could be exchanged. Unequal spread of times that are skewed even as logarithms breaks "
        "that: equal medians are then called different more often than the level says."
    )


def _sequential(analysis: StudyAnalysis) -> str:
    return (
        "The typical pair is the median one, of the logarithms of the ratios. Decided at "
        f"{analysis.alpha:g} by {analysis.decided_by}: the null hypothesis is that this median is zero. Interval and p "
        "are its own, and hold however often the study was looked at. Controls (A/A) have a fixed number of pairs, the "
        "estimate of Hodges and Lehmann, and the exact signed-rank test."
    )
