# SPDX-License-Identifier: Apache-2.0
"""Sentences about the time that the laboratory added, and a table of the repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import polars as pl

from quiclab.compare import comparison_words
from quiclab.compare.disturbance import is_delayed, with_most
from quiclab.compare.model import ArmResult, Comparison, Metric, Selection, StudyAnalysis
from quiclab.compare.study import Study
from quiclab.model import number_text
from quiclab.model.text_table import TextTable


def disturbance_notes(study: Study, main: Sequence[Comparison], metric: Metric) -> tuple[str, ...]:
    """Return what must be said at the answer: how much of the differences may be the machine's, which answers rest on
    fewer pairs than planned, and of how many trials it is not known what was added."""
    return (*_disturbed(main), *_fewer(main), *(_unknown(study) if is_delayed(metric) else ()))


def _disturbed(main: Sequence[Comparison]) -> tuple[str, ...]:
    told = [each for each in main if comparison_words.disturbance_words(each.disturbance_pct)]
    if not told:
        return ()
    most = max(each.disturbance_pct for each in told)
    cells = _listed(told, main, lambda each: f"{number_text.percent(each.disturbance_pct, signed=False)}")
    words = comparison_words.disturbance_words(most)
    return (f"{words[:1].upper()}{words[1:]}; the intervals allow for it ({cells}).",)


def _fewer(main: Sequence[Comparison]) -> tuple[str, ...]:
    told = [each for each in main if each.lost and each.conclusion.decided]
    cells = _listed(told, main, comparison_words.pairs_words)
    return (
        (f"Some answers rest on fewer pairs than planned, as trials were disturbed each time: {cells}.",)
        if told
        else ()
    )


def _listed(told: Sequence[Comparison], main: Sequence[Comparison], of: Callable[[Comparison], str]) -> str:
    several = len({each.other.arm for each in main}) > 1
    named = [
        f"{each.workload}/{each.path}{f' ({each.other.arm})' if several else ''} {of(each)}"
        for each in sorted(told, key=lambda each: -each.disturbance_pct)
    ]
    return "; ".join(named[:_NAMED] + ([f"{len(named) - _NAMED} more"] if len(named) > _NAMED else []))


def _unknown(study: Study) -> tuple[str, ...]:
    main = study.trials.filter((pl.col("kind") == "main") & (pl.col("status") == "verified"))
    unknown = with_most(study, main)["most_ms"].null_count()
    if not unknown:
        return ()
    which = "any trial" if unknown == main.height else number_text.counted(unknown, "trial")
    return (f"It is not known how much this machine added to the time of {which}: intervals do not allow for it.",)


_NAMED = 5
"""Most cells that a sentence names."""


def repeats_table(analysis: StudyAnalysis) -> TextTable:
    """Return the table of what the repeats may have selected: a row for each arm of a cell with repeated attempts."""
    rows = [
        (
            comparison_words.cell_name(comparison, analysis),
            arm.arm,
            str(len(arm.trials)),
            str(selection.attempts),
            number_text.percent(selection.shift_pct),
        )
        for comparison, arm, selection in _selections(analysis.comparisons)
    ]
    return TextTable(
        "Repeated trials",
        "A trial that this machine disturbed is repeated, and slow trials may be disturbed more often. So the repeated "
        "attempts are held against the trials that count of the same blocks, both without the time that the machine is "
        "predicted to have added: by so much the arm's time would change if they counted in their place. "
        "Intervals allow for it.",
        ("cell", "arm", "trials", "repeated attempts", "time would change by"),
        tuple(rows),
        "No trial was repeated, or it is not known how long repeated ones would have taken.",
    )


def _selections(main: Iterable[Comparison]) -> list[tuple[Comparison, ArmResult, Selection]]:
    """Comparison, arm and what its repeats select, each arm of a cell once."""
    found: dict[tuple[str, str], tuple[Comparison, ArmResult, Selection]] = {}
    for comparison in main:
        for arm in (comparison.baseline, comparison.other):
            if arm.selection is not None:
                found.setdefault((comparison.cell_id, arm.arm), (comparison, arm, arm.selection))
    return list(found.values())
