# SPDX-License-Identifier: Apache-2.0
"""Choice of the trials that a figure of single trials shows: one of each arm of one cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quiclab.compare import comparison_words
from quiclab.compare.model import ArmResult, StudyAnalysis
from quiclab.model.errors import SpecError, nearest


@dataclass(frozen=True)
class Chosen:
    """One trial per arm, the baseline first."""

    cell_id: str
    title: str
    trials: dict[str, str]
    """Arm → trial_id."""


def choose(analysis: StudyAnalysis, cell: str | None = None, block: int | None = None) -> Chosen:
    """The median trial of each arm, or all trials of one block; of the cell with the largest difference, or of `cell`.

    Raises SpecError for a cell or a block that the study does not have.
    """
    cells = analysis.cells(controls=True)
    if cell is None:
        cell = analysis.most_different
    if cell is None:
        raise SpecError("the study has no cell of which a trial has ended", "run its blocks")
    if cell not in cells:
        raise SpecError(f"the study has no cell {cell!r}", nearest(cell, cells, "it has"))
    place, arms = cells[cell].place, cells[cell].arms
    trials = {arm.arm: trial for arm in arms if (trial := _trial(arm, block)) is not None}
    if not trials:
        raise _without_trials(cell, arms, block, analysis.metric.title)
    which = "median trials" if block is None else f"block {block}"
    return Chosen(cell, f"{comparison_words.cell_name(place, analysis)} ({which})", trials)


def _trial(arm: ArmResult, block: int | None) -> str | None:
    if block is None:
        return arm.median_trial.trial_id if arm.median_trial else None
    return next((trial.trial_id for trial in arm.trials if trial.block == block), None)


def _without_trials(cell_id: str, arms: Sequence[ArmResult], block: int | None, metric: str) -> SpecError:
    trials = [trial for arm in arms for trial in arm.trials]
    if not trials:
        return SpecError(f"the cell {cell_id} has no trial", "every trial was void, or none has been run")
    if block is not None:
        blocks = sorted({trial.block for trial in trials})
        return SpecError(
            f"the cell {cell_id} has no trial in block {block}", f"it has blocks {blocks[0]} to {blocks[-1]}"
        )
    if any(trial.status == "verified" for trial in trials):
        told = f"no verified trial of the cell {cell_id} has a value of {metric}, by which a trial is chosen"
        return SpecError(told, "name a block (--block) or another metric (--metric)")
    return SpecError(f"the cell {cell_id} has no verified trial", "every trial failed")
