# SPDX-License-Identifier: Apache-2.0
"""Rate at which this study's own test calls a difference what cannot be one: an arm against itself."""

from __future__ import annotations

import numpy as np

from quiclab.compare import statistics
from quiclab.compare.model import ArmResult, Metric, StudyAnalysis
from quiclab.compare.paired import FloatArray, values_of, within_pairs
from quiclab.compare.statistics import Interval
from quiclab.model import number_text
from quiclab.model.text_table import TextTable

CONFIDENCE = 0.95
TOO_OFTEN = 2
"""Times the nominal rate: a study that cannot exclude this has not shown that its test keeps its level."""

Samples = list[tuple[str, FloatArray]]
"""Cell, and the differences in it of what is alike."""


def false_alarm_table(analysis: StudyAnalysis) -> TextTable:
    """A/A cells, and in every main cell each arm against itself, block against next block."""
    controls = [(c.cell_id, within_pairs(c.baseline, c.other, analysis.metric).values) for c in analysis.controls]
    arms = {(c.cell_id, arm.arm): arm for c in analysis.comparisons for arm in (c.baseline, c.other)}
    own = [(cell, against_itself(arm, analysis.metric)) for (cell, _), arm in arms.items()]
    rows = [
        row
        for what, samples in (
            ("A/A cells", controls),
            ("an arm against itself, from block to block", own),
            ("both", [*controls, *own]),
        )
        if (row := _row(what, samples, analysis.alpha)) is not None
    ]
    return TextTable(
        "False alarms between neighbours",
        f"How often the signed-rank test at {analysis.alpha:g} finds a difference where there is none: in the A/A "
        "cells, and in every cell between an arm's trials of one block and those of the next (every other difference "
        f"is turned round). It may do so in {100 * analysis.alpha:g} % of the tests. If the whole interval is above "
        "that, something disturbs the trials from one block to the next: trust no result of this study. If the "
        f"interval reaches {TOO_OFTEN * 100 * analysis.alpha:g} %, there are too few tests to tell. Slow changes "
        "cancel here: the table “Independence of the pairs” looks for them. The arms of a cell share their blocks, so "
        "the interval counts each cell as one test.",
        ("tests of", "tests", "cells", "found a difference", "share", "95 % interval", "allowed", ""),
        tuple(rows),
        "Too few pairs: no test of an arm against itself could have called anything different.",
    )


def against_itself(arm: ArmResult, metric: Metric) -> FloatArray:
    """Log ratios of each block's trial and the next one's (differences where a value has no ratio), every block once;
    every other one is turned round, so that a steady drift adds to none of the signs."""
    values = values_of(arm.trials, metric)
    logarithms = statistics.logarithms(values)
    values = values if logarithms is None else logarithms
    pairs = values.size // 2
    differences = statistics.paired_differences(values[0 : 2 * pairs : 2], values[1 : 2 * pairs : 2])
    differences[1::2] *= -1
    return differences


def _row(what: str, samples: Samples, alpha: float) -> tuple[str, ...] | None:
    tested = [(cell, each) for cell, each in samples if statistics.smallest_p(int(np.count_nonzero(each))) <= alpha]
    if not tested:
        return None
    alarms = sum(statistics.signed_rank(each).p <= alpha for _, each in tested)
    cells, share = len({cell for cell, _ in tested}), alarms / len(tested)
    interval = statistics.share_interval(share * cells, cells, CONFIDENCE)
    return (
        what,
        str(len(tested)),
        str(cells),
        str(alarms),
        number_text.percent(100 * share, signed=False),
        f"{100 * interval.low:.1f} … {100 * interval.high:.1f} %",
        number_text.percent(100 * alpha, signed=False),
        false_alarm_verdict(interval, alpha),
    )


def false_alarm_verdict(share: Interval, alpha: float) -> str:
    """Return the verdict on the interval of the share that was called different."""
    if share.low > alpha:
        return "too many"
    return "no more than alpha" if share.high < TOO_OFTEN * alpha else "too few to tell"
