# SPDX-License-Identifier: Apache-2.0
"""All numbers of the map as a table of the page."""

from __future__ import annotations

from quiclab import wording
from quiclab.analysis import comparison_words
from quiclab.analysis.model import Comparison, StudyAnalysis
from quiclab.text_table import TextTable


def results_table(analysis: StudyAnalysis) -> TextTable:
    """A row per comparison, the controls last; the note says how it was decided."""
    return TextTable(
        "All numbers",
        _method(analysis),
        ("network", "size", "baseline", "median", "failed", "void", "other", "median", "failed", "void", "pairs",
         "difference of medians", *_typical(analysis), "p", "adjusted p", "Mann–Whitney p",
         "Welch p"),
        tuple(_result(comparison, analysis) for comparison in (*analysis.comparisons, *analysis.controls)),
        "There is nothing to compare.",
    )  # fmt: skip


def _result(comparison: Comparison, analysis: StudyAnalysis) -> tuple[str, ...]:
    sides: list[str] = []
    for arm in (comparison.baseline, comparison.other):
        sides += [arm.arm, wording.quantity(arm.median, analysis.metric.unit), str(arm.failures), str(arm.voids)]
    path, size = comparison.path, comparison.workload
    return (
        analysis.path_titles.get(path, path),
        analysis.workload_titles.get(size, size),
        *sides,
        str(comparison.pairs),
        comparison_words.difference_text(comparison),
        wording.percent(comparison.shift_pct),
        comparison_words.shift_interval(comparison, analysis.confidence),
        *map(wording.p_text, (comparison.p, comparison.adjusted_p, comparison.mann_whitney_p, comparison.welch_p)),
    )


def _typical(analysis: StudyAnalysis) -> tuple[str, str]:
    """Headings of what the test is about, and of its interval."""
    name = "median within pairs" if analysis.sequential else "shift within pairs"
    return name, f"its {wording.level(analysis.confidence)} interval, %"


def _method(analysis: StudyAnalysis) -> str:
    """What each number is, and which null hypothesis each test has."""
    return " ".join((_DIFFERENCE, _sequential(analysis) if analysis.sequential else _fixed(analysis), _BESIDE))


_DIFFERENCE = (
    "Difference of medians: (median of the baseline − median of the other arm) / median of the baseline × 100; blank "
    "where the test that decides does not find it."
)
_BESIDE = (
    "Mann–Whitney (null hypothesis: both arms have the same distribution) and Welch (the same mean) are shown for "
    "comparison: they treat the trials as independent, ignore the blocks, are not corrected and decide nothing. Failed "
    "trials rank worst and leave Welch blank."
)


def _fixed(analysis: StudyAnalysis) -> str:
    return (
        "Shift within pairs: Hodges–Lehmann, the median of the means of every two differences within pairs, in per "
        "cent of the baseline's median; the interval is its own and is not corrected. The exact signed-rank test "
        f"of the pairs decides, at {analysis.alpha:g} after Benjamini–Hochberg over {analysis.tested} "
        "comparisons. Its null hypothesis: the differences within pairs are symmetric about zero, as they are where "
        "the arms could be exchanged. Unequal spread of skewed times alone breaks that: equal medians are then called "
        "different more often than the level says. A small p says that the arms differ; medians and shift say how."
    )


def _sequential(analysis: StudyAnalysis) -> str:
    return (
        "Median within pairs: of the differences in per cent of the baseline's value in the pair. Decided at "
        f"{analysis.alpha:g} by {analysis.decided_by}: the null hypothesis is that this median is zero. Interval and p "
        "are its own, and hold however often the study was looked at. Controls (A/A) have a fixed number of pairs, the "
        "shift of Hodges and Lehmann, and the exact signed-rank test."
    )
