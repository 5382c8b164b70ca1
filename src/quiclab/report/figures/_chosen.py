# SPDX-License-Identifier: Apache-2.0
"""Choice of the trials that a figure of single trials shows: one of each arm of one cell."""

from __future__ import annotations

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
    compared = analysis.comparisons if cell is None else (*analysis.comparisons, *analysis.controls)
    found = [c for c in compared if cell in (None, c.cell_id)]
    if not found:
        known = dict.fromkeys(c.cell_id for c in (*analysis.comparisons, *analysis.controls))
        raise SpecError(f"the study has no cell {cell!r}", nearest(cell or "", known, "it has"))
    largest = max(found, key=lambda c: abs(c.difference_pct or 0) if c.outcome.significant else -1)
    here = [c for c in compared if c.cell_id == largest.cell_id]
    arms = [here[0].baseline, *(comparison.other for comparison in here)]
    trials = {arm.arm: trial for arm in arms if (trial := _trial(arm, block)) is not None}
    if not trials:
        raise _without_trials(largest.cell_id, arms, block, analysis.metric.title)
    which = "median trials" if block is None else f"block {block}"
    return Chosen(largest.cell_id, f"{comparison_words.cell_name(largest, analysis)} ({which})", trials)


def _trial(arm: ArmResult, block: int | None) -> str | None:
    if block is None:
        return arm.median_trial.trial_id if arm.median_trial else None
    return next((trial.trial_id for trial in arm.trials if trial.block == block), None)


def _without_trials(cell_id: str, arms: list[ArmResult], block: int | None, metric: str) -> SpecError:
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
