# SPDX-License-Identifier: Apache-2.0
"""Remarks by hand on single trials, and the results both ways: with all trials, and without the excluded ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import polars as pl

from quiclab.compare import comparison_words
from quiclab.compare.analyse import analyse
from quiclab.compare.model import Comparison, StudyAnalysis
from quiclab.compare.study import Study
from quiclab.model import number_text
from quiclab.model.errors import DecodeError
from quiclab.model.text_table import TextTable
from quiclab.store.remarks import excluded, read_remarks


def remark_tables(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """Return the remarks and the results without the excluded trials; no table where there are no remarks.

    A file that cannot be read is told: the answer does not hang on it.
    """
    try:
        remarks = read_remarks(study.directory)
    except DecodeError as error:
        return [TextTable("Remarks by hand", "", (), (), f"They cannot be shown: {error}; {error.hint}.")]
    if not remarks:
        return []
    tables = [_remarks(study)]
    return [*tables, both_ways(study, analysis)] if excluded(remarks) else tables


def without(study: Study, trial_ids: Iterable[str]) -> Study:
    """The study less the blocks that hold one of these trials: a block that lacks a trial is no block."""
    blocks = study.trials.filter(pl.col("trial_id").is_in(list(trial_ids))).select("cell_id", "block").unique()
    return dataclasses.replace(study, trials=study.trials.join(blocks, on=["cell_id", "block"], how="anti"))


def both_ways(study: Study, analysis: StudyAnalysis) -> TextTable:
    """Every comparison that the exclusions touch: in cells with an excluded trial, and wherever the outcome changes."""
    pairs = _pairs(study, analysis)
    typical, interval = (
        comparison_words.difference_heading(analysis.metric),
        f"its {number_text.level(analysis.confidence)} interval",
    )
    return TextTable(
        "With and without the excluded trials",
        "The answer above is that of all trials. Without: the blocks that hold an excluded trial are left out, and all "
        "is tested again. An exclusion that was decided after a look at the numbers can produce any result.",
        ("cell", "arm", "pairs", typical, interval, "adjusted p", "pairs without", f"{typical} without",
         f"{interval} without", "adjusted p without", "outcome"),
        tuple((*_row(old, analysis), *_row(new, analysis)[2:], _change(old, new)) for old, new in pairs),
        "No comparison changes.",
    )  # fmt: skip


def remark_lines(study: Study, analysis: StudyAnalysis) -> list[str]:
    """Return lines for the terminal: what is excluded, and what the results are without it."""
    try:
        out = excluded(read_remarks(study.directory))
    except DecodeError as error:
        return [f"Remarks by hand cannot be shown: {error}; {error.hint}."]
    lines = [f"Excluded by hand: trial {trial_id}, because {reason}." for trial_id, reason in out.items()]
    for old, new in _pairs(study, analysis) if out else []:
        lines.append(
            f"{comparison_words.cell_name(old, analysis)}, {old.other.arm}: with all {_difference(old, analysis)}; "
            f"without the excluded {_difference(new, analysis)}; {_change(old, new)}."
        )
    return lines


def _pairs(study: Study, analysis: StudyAnalysis) -> list[tuple[Comparison, Comparison]]:
    out = excluded(read_remarks(study.directory))
    cells = set(study.trials.filter(pl.col("trial_id").is_in(list(out)))["cell_id"])
    rest = analyse(without(study, out), analysis.metric.name, sequential=analysis.sequential)
    found = {(each.cell_id, each.other.arm): each for each in (*rest.comparisons, *rest.controls)}
    pairs = []
    for old in (*analysis.comparisons, *analysis.controls):
        new = found.get((old.cell_id, old.other.arm))
        if new is not None and (old.cell_id in cells or new.outcome is not old.outcome):
            pairs.append((old, new))
    return pairs


def _row(comparison: Comparison, analysis: StudyAnalysis) -> tuple[str, ...]:
    p = comparison.p if comparison.kind == "aa" else comparison.adjusted_p
    return (
        comparison_words.cell_name(comparison, analysis),
        comparison.other.arm,
        str(comparison.pairs),
        comparison_words.estimate_text(comparison, analysis.metric),
        comparison_words.estimate_interval(comparison, analysis.metric, analysis.confidence),
        number_text.p_text(p),
    )


def _difference(comparison: Comparison, analysis: StudyAnalysis) -> str:
    shown = comparison_words.difference_words(comparison, analysis.metric) or "no difference that can be told"
    return f"{shown} ({number_text.counted(comparison.pairs, 'pair')})"


def _change(old: Comparison, new: Comparison) -> str:
    words = [each.outcome.value.replace("_", " ") for each in (old, new)]
    return f"{words[0]}, either way" if words[0] == words[1] else f"{words[0]} becomes {words[1]}"


def _remarks(study: Study) -> TextTable:
    rows = []
    trials = {row["trial_id"]: row for row in study.trials.iter_rows(named=True)}
    for remark in read_remarks(study.directory):
        trial = trials.get(remark.trial_id, {})
        what = "excluded" if remark.kind == "exclusion" else "note"
        place = (trial.get("cell_id"), trial.get("arm"), trial.get("block"))
        state = f"taken back {remark.undone_utc}" if remark.undone_utc else "holds"
        shown = ("–" if value is None else str(value) for value in place)
        rows.append((remark.trial_id, *shown, what, remark.text, remark.said_utc, state))
    return TextTable(
        "Remarks by hand on single trials",
        "Every excluded trial is still in the study, and in every other number of this page.",
        ("trial", "cell", "arm", "block", "", "annotation", "when", ""),
        tuple(rows),
        "Nothing.",
    )
