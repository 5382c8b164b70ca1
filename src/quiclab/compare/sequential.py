# SPDX-License-Identifier: Apache-2.0
"""A study that went on until each cell was decided: tested so that the error rate holds however often it was looked at.

Each comparison has the sequential signed-rank test of its log ratios within pairs, with the confidence sequence of
their pseudomedian, at alpha divided by the number of comparisons: with all of them together, at any time, the chance of
one wrong statement is at most alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quiclab.compare import comparison_words, statistics
from quiclab.compare.between_ends import greatest_p
from quiclab.compare.cell_comparison import decide, with_typical
from quiclab.compare.model import Comparison, Conclusion, Metric, StudyAnalysis
from quiclab.compare.paired import FloatArray, when_complete, within_pairs
from quiclab.compare.statistics import Shift
from quiclab.compare.study import Study
from quiclab.model import number_text
from quiclab.model.text_table import TextTable
from quiclab.store.go_on import OPEN
from quiclab.store.growth import read_growth


@dataclass(frozen=True)
class Rule:
    """Rule by which a sequential study stops."""

    effect_pct: float
    """A cell is alike when its whole interval is smaller than this, either way."""
    at_most: int
    """Pairs of a cell."""
    looks: int
    """Number of looks so far."""
    blocks: dict[str, int]
    """Cell → blocks that are planned."""


def rule_of(study: Study) -> Rule | None:
    """Return the rule by which the study stops; None where its number of pairs was fixed before it ran. Raises
    DecodeError where the file that holds it cannot be read."""
    found = read_growth(study.directory)
    return None if found is None else Rule(float(found.effect_pct), found.at_most, len(found.looks), found.blocks)


def sequentially(main: Sequence[Comparison], metric: Metric, alpha: float) -> list[Comparison]:
    """The comparisons with p and intervals that hold at any time, corrected after Bonferroni, and their outcomes."""
    decided = []
    for comparison in main:
        pairs = within_pairs(comparison.baseline, comparison.other, metric)
        order = _in_time(comparison, pairs.blocks)

        def typical(values: FloatArray, order: list[int] = order) -> Shift:
            return statistics.anytime_shift(values[order], alpha / len(main))

        def p_of(values: FloatArray, order: list[int] = order) -> float:
            return statistics.anytime_p(values[order])

        p = greatest_p(pairs.between, p_of, lambda values: typical(values).estimate) if comparison.pairs else None
        found = with_typical(replace(comparison, p=p), pairs, typical)
        least_p = statistics.anytime_p(np.ones(comparison.pairs)) * len(main)
        decided.append(decide(found, None if p is None else min(1.0, p * len(main)), alpha, least_p))
    return decided


def _in_time(comparison: Comparison, blocks: Sequence[int]) -> list[int]:
    """Places of these blocks' pairs, in the order in which they came: a block that was void at first comes later."""
    arms = [{trial.block: trial for trial in arm.trials} for arm in (comparison.baseline, comparison.other)]
    came = [when_complete((arms[0][block], arms[1][block])) for block in blocks]
    return sorted(range(len(blocks)), key=came.__getitem__)


def state(comparison: Comparison) -> str:
    """Conclusion of the comparison, or `open` where it is not known yet whether a difference that matters is there."""
    return comparison.conclusion.value if comparison.conclusion.decided else OPEN


def sequential_note(study: Study, alpha: float, comparisons: int) -> tuple[str, ...]:
    """Caveat on every number of such a study."""
    rule = rule_of(study)
    if rule is None:
        return ()
    level = f"{alpha:g}" if comparisons == 1 else f"{alpha:g} / {comparisons} comparisons (Bonferroni)"
    return (
        f"This study was sequential: it was to end when decided (different, or equivalent to within "
        f"{rule.effect_pct:g} %), with at most {rule.at_most} pairs a cell; looked at "
        f"{number_text.counted(rule.looks, 'time')}. Its p and intervals hold however often one looks "
        f"(sequential signed-rank test at {level}). "
        "Intervals of causes, factors and other metrics suppose a fixed number of pairs: after an early stop they are "
        "too narrow.",
    )


def sequential_table(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """Table of what each cell was decided by; none of a study that was not sequential."""
    rule = rule_of(study)
    if rule is None:
        return []
    rows = tuple(
        (
            comparison_words.cell_name(comparison, analysis),
            comparison.other.arm,
            _decided(comparison, rule),
            comparison_words.estimate_text(comparison, analysis.metric),
            comparison_words.estimate_interval(comparison, analysis.metric, analysis.confidence),
            number_text.p_text(comparison.adjusted_p),
            str(comparison.pairs),
        )
        for comparison in analysis.comparisons
    )
    return [
        TextTable(
            "When it stopped",
            "The difference in the typical pair (Hodges–Lehmann, in per cent of the baseline), with the "
            "interval in which it lies at any time. The number of pairs was not fixed: it follows from what was "
            "measured.",
            (
                "cell",
                "arm",
                "decided",
                comparison_words.difference_heading(analysis.metric),
                "its interval",
                "adjusted p",
                "pairs",
            ),
            rows,
            "There is nothing to compare.",
        )
    ]


def _decided(comparison: Comparison, rule: Rule) -> str:
    if comparison.conclusion.decided or comparison.conclusion is Conclusion.NOT_JUDGED:
        return comparison_words.conclusion_words(comparison, rule.effect_pct)
    return f"open: {rule.at_most} pairs at most"
