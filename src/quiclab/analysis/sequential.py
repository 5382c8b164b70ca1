# SPDX-License-Identifier: Apache-2.0
"""A study that went on until each cell was decided: tested so that the error rate holds however often it was looked at.

Each comparison has a confidence sequence of the median of its differences within pairs, in per cent of the baseline's
value in that pair, at alpha divided by the number of comparisons: with all of them together, at any time, the chance of
one wrong statement is at most alpha.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from quiclab import statistics, wording
from quiclab.analysis import comparison_words
from quiclab.analysis.compare import decide, values_within_pairs
from quiclab.analysis.model import Comparison, Metric, StudyAnalysis
from quiclab.analysis.refusals import refusal
from quiclab.analysis.study import Study
from quiclab.store.own_files import read_own
from quiclab.text_table import TextTable

FILE = "sequential.json"
DIFFERENT, ALIKE, OPEN = "different", "alike", "open"


@dataclass(frozen=True)
class Rule:
    """Rule by which a sequential study stops."""

    effect_pct: float
    """A cell is alike when its whole interval is smaller than this, either way."""
    at_most: int
    """Pairs of a cell."""
    looks: int
    """How often it was looked at so far."""
    blocks: dict[str, int]
    """Cell → blocks that are planned."""


def rule_of(study: Study) -> Rule | None:
    """Return the rule by which the study stops; None where its number of pairs was fixed before it ran."""
    try:
        found: dict[str, Any] = json.loads(read_own(study.directory / FILE))
        return Rule(float(found["effect_pct"]), int(found["at_most"]), len(found["looks"]), dict(found["blocks"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def relative_differences(comparison: Comparison, metric: Metric) -> npt.NDArray[np.float64]:
    """One per pair, in per cent of the baseline's value: positive where the other arm is better; ±inf by failures."""
    baseline, other = values_within_pairs(comparison.baseline, comparison.other, metric)
    differences = (1.0 if metric.lower_is_better else -1.0) * statistics.differences_in_order(baseline, other)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(np.isfinite(baseline), 100 * differences / np.abs(baseline), differences)
    return np.where((differences == 0) | np.isinf(differences), differences, relative)


def sequentially(main: Sequence[Comparison], metric: Metric, alpha: float) -> list[Comparison]:
    """The comparisons with p and intervals that hold at any time, corrected after Bonferroni, and their outcomes."""
    decided = []
    for comparison in main:
        differences = relative_differences(comparison, metric)
        p = statistics.anytime_p(differences) if comparison.pairs else None
        interval = statistics.median_sequence(differences, alpha / len(main))
        middle = statistics.median(differences)
        shift = float(middle) if differences.size and not np.isnan(middle) else None
        found = replace(comparison, p=p, interval_pct=interval, shift_pct=shift)
        least_p = statistics.anytime_p(np.ones(comparison.pairs)) * len(main)
        decided.append(decide(found, None if p is None else min(1.0, p * len(main)), alpha, least_p, len(main)))
    return decided


def state(comparison: Comparison, effect_pct: float, alpha: float, cells: int) -> str:
    """`different`, `alike` (no difference as large as the effect), or `open`; a cell that is refused, as one of so many
    `cells`, stays open."""
    interval = comparison.interval_pct
    if interval is None or refusal(comparison, alpha, cells) is not None:
        return OPEN
    if interval.low > 0 or interval.high < 0:
        return DIFFERENT
    return ALIKE if -effect_pct < interval.low and interval.high < effect_pct else OPEN


def sequential_note(study: Study, alpha: float, comparisons: int) -> tuple[str, ...]:
    """What must be said of every number of such a study."""
    rule = rule_of(study)
    if rule is None:
        return ()
    return (
        f"This study was sequential: it went on until each cell was decided (different, or alike to within "
        f"{rule.effect_pct:g} %), with at most {rule.at_most} pairs a cell, and was looked at "
        f"{wording.counted(rule.looks, 'time')}. p and intervals of the comparison are those of a confidence "
        f"sequence for the median within pairs, at {alpha:g} / {comparisons} comparisons (Bonferroni): they hold "
        "however often one looks. Other intervals on this page are those of a fixed number of pairs: after "
        "stopping early they are somewhat too narrow.",
    )


def sequential_table(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """What each cell was decided by; none of a study that was not sequential."""
    rule = rule_of(study)
    if rule is None:
        return []
    words = {
        DIFFERENT: "different",
        ALIKE: f"alike to within {rule.effect_pct:g} %",
        OPEN: f"open: {rule.at_most} pairs at most",
    }
    rows = tuple(
        (
            comparison_words.place(comparison, analysis),
            comparison.other.arm,
            words[state(comparison, rule.effect_pct, analysis.alpha, len(analysis.comparisons))],
            wording.percent(comparison.shift_pct),
            wording.interval_text(comparison.interval_pct),
            wording.p_text(comparison.adjusted_p),
            str(comparison.pairs),
        )
        for comparison in analysis.comparisons
    )
    return [
        TextTable(
            "When it stopped",
            "The median difference within pairs, in per cent of the baseline's value in the pair, with the interval in "
            "which it lies at any time. The number of pairs was not fixed: it follows from what was measured.",
            ("cell", "arm", "decided", "median", "interval, %", "adjusted p", "pairs"),
            rows,
            "There is nothing to compare.",
        )
    ]
