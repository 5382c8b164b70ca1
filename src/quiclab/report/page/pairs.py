# SPDX-License-Identifier: Apache-2.0
"""Trials that stand side by side on a page: the median trial of every arm of a cell, then every block."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl

from quiclab.compare import comparison_words
from quiclab.compare.model import ArmResult, Comparison, MeasuredCell, StudyAnalysis
from quiclab.compare.study import Study
from quiclab.store.layout import Attempt, StudyDir


def folder_of(analysis: StudyAnalysis) -> str:
    """Folder of the pages of pairs in a study."""
    return f"{analysis.page}/pairs"


@dataclass(frozen=True)
class ShownTrial:
    """One trial on the page of a pair."""

    arm: str
    trial_id: str
    block: int
    status: str
    """Status of its last attempt."""
    reason: str
    value: float | None
    folders: tuple[str, ...]
    """Folders of its attempts, the last one first, relative to the study."""


@dataclass(frozen=True)
class Pair:
    """Trials that stand side by side, one of each arm: a page."""

    file: str
    """Path of the page, relative to the study."""
    title: str
    """`block 3`, or the median trials."""
    cell: str
    cell_title: str
    block: int | None
    """Block of the trials; None where each is the median trial of its arm."""
    trials: tuple[ShownTrial, ...]
    """One trial of each arm, the baseline first."""

    @property
    def trouble(self) -> str:
        """`1 failed`; "" where every trial counts."""
        words = [each.status for each in self.trials if each.status != "verified"]
        return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))


@dataclass(frozen=True)
class Cell:
    """One cell with its pairs in the order in which a reader steps through them."""

    cell_id: str
    title: str
    difference: str
    """Difference of every other arm, a text each."""
    pairs: tuple[Pair, ...]

    def neighbours(self, pair: Pair) -> tuple[Pair | None, Pair | None]:
        """The pairs before and after it."""
        steps = list(pairwise((None, *self.pairs, None)))
        place = self.pairs.index(pair)
        return steps[place][0], steps[place + 1][1]


def cells_of(study: Study, analysis: StudyAnalysis) -> list[Cell]:
    """Every cell that has a trial, the controls last; also where nothing could be compared."""
    compared: dict[str, list[Comparison]] = {}
    for comparison in (*analysis.comparisons, *analysis.controls):
        compared.setdefault(comparison.cell_id, []).append(comparison)
    measured = analysis.cells(controls=True)
    rows = study.trials.filter(pl.col("trial_id").is_not_null() & pl.col("cell_id").is_not_null())
    attempts = {
        str(cell_id): group.with_columns(pl.col("block").fill_null(-1), pl.col("attempt").fill_null(1))
        for (cell_id,), group in rows.group_by("cell_id", maintain_order=True)
    }
    order = dict.fromkeys([*measured, *attempts])
    return [
        _cell(number, cell_id, measured.get(cell_id), compared.get(cell_id, []), attempts[cell_id], analysis)
        for number, cell_id in enumerate((cell for cell in order if cell in attempts), 1)
    ]


def _cell(
    number: int,
    cell_id: str,
    measured: MeasuredCell | None,
    compared: list[Comparison],
    rows: pl.DataFrame,
    analysis: StudyAnalysis,
) -> Cell:
    arms = {arm.arm: arm for arm in measured.arms} if measured else {}
    title = comparison_words.cell_name(measured.place, analysis) if measured else cell_id
    if compared and compared[0].kind != "main":
        title += f", {compared[0].baseline.arm.partition('#')[0]} against itself"
    folder = f"{folder_of(analysis)}/{number}-{_file_name(cell_id)}"
    values = {trial.trial_id: trial.value for arm in arms.values() for trial in arm.trials}
    known = _trials(rows, list(arms), values, StudyDir(Path()))
    blocks: dict[int, list[ShownTrial]] = {}
    for trial in known:
        blocks.setdefault(trial.block, []).append(trial)
    pairs = [
        Pair(f"{folder}/block-{block}.html", f"block {block}", cell_id, title, block, tuple(blocks[block]))
        for block in sorted(blocks)
    ]
    medians = _medians(arms, known)
    if medians:
        pairs.insert(0, Pair(f"{folder}/median.html", "the median trial of each arm", cell_id, title, None, medians))
    differences = [
        f"{comparison.other.arm}: {comparison_words.difference_text(comparison, analysis.metric)}"
        for comparison in compared
    ]
    return Cell(cell_id, title, "; ".join(differences), tuple(pairs))


def _trials(
    rows: pl.DataFrame, order: list[str], values: Mapping[str, float | None], study: StudyDir
) -> list[ShownTrial]:
    """Every trial by its last attempt, arms in the order of the comparison."""
    trials = []
    for (trial_id,), tries in rows.sort("attempt").group_by("trial_id", maintain_order=True):
        last = tries.row(-1, named=True)
        folders = [
            str(study.folder(Attempt(str(trial_id), row["attempt"], row["status"], "")))
            for row in tries.iter_rows(named=True)
        ]
        trials.append(
            ShownTrial(
                str(last["arm"]), str(trial_id), last["block"], str(last["status"]), last["reason"] or "",
                values.get(str(trial_id)), tuple(dict.fromkeys(reversed(folders))),
            )
        )  # fmt: skip
    return sorted(trials, key=lambda trial: (order.index(trial.arm) if trial.arm in order else len(order), trial.arm))


def _medians(arms: Mapping[str, ArmResult], known: list[ShownTrial]) -> tuple[ShownTrial, ...]:
    by_id = {trial.trial_id: trial for trial in known}
    medians = [arm.median_trial for arm in arms.values()]
    return tuple(by_id[trial.trial_id] for trial in medians if trial is not None and trial.trial_id in by_id)


def _file_name(cell_id: str) -> str:
    """A cell's name as part of a file's: letters, digits and dots, not too long."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", cell_id).strip("-.")[:60] or "cell"
