# SPDX-License-Identifier: Apache-2.0
"""Scope of a figure: a study, and which of its cells, blocks, arms and packets are to be shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from quiclab.compare.model import StudyAnalysis
from quiclab.compare.rows import distributions
from quiclab.compare.study import Study, read_record, read_study
from quiclab.compare.study_tables import OpenedStudy
from quiclab.model.errors import SpecError, nearest
from quiclab.model.proof_record import Proof
from quiclab.model.resolved_record import ResolvedArm
from quiclab.report.figures._chosen import Chosen, choose


@dataclass(frozen=True)
class Window:
    """The packets that a sequence diagram shows."""

    packets: int = 40
    """The first so many in the time that is shown."""
    from_ms: float = 0.0
    until_ms: float | None = None
    """End of the time that is shown; None is no end."""


WHOLE = Window()
"""The first packets of a transfer."""


@dataclass(frozen=True)
class Asked:
    """The part of a study that a figure is to show, and how."""

    study: OpenedStudy
    analysis: StudyAnalysis
    cell: str | None = None
    """Cell whose trials are shown; None is the cell with the largest significant difference."""
    block: int | None = None
    """Block whose trials are shown; None is the median trial of each arm."""
    other: str | None = None
    """The arm that is compared with the baseline, where a figure shows only two; None is the first."""
    factor: str | None = None
    """The factor of the study that is the x axis; None is the only one that varies."""
    overlaid: tuple[int, ...] = ()
    """Further blocks, whose trials the figures over time lay over the others."""
    window: Window = WHOLE
    """The packets that a sequence diagram shows."""
    shape: str = "box"
    """The look of a distribution: `box` or `violin`."""

    @cached_property
    def files(self) -> Study:
        """The study's spec, trials and metrics as the analysis reads them."""
        return read_study(self.study.directory)

    def arm(self, name: str) -> ResolvedArm | None:
        """Return an arm as the study's spec has it, that of an A/A control too; None where it does not tell."""
        return self.files.arms.get(name.partition("#")[0])

    def proof(self, trial_id: str) -> Proof:
        """Return what a trial proved to have run; nothing where its trial.json does not tell."""
        return read_record(self.study.directory / "trials" / trial_id).proof

    def chosen(self) -> Chosen:
        """Return the trials that are shown, one of each arm."""
        return choose(self.analysis, self.cell, self.block)

    def over_blocks(self, gathered: Callable[[OpenedStudy, Mapping[str, str]], pl.DataFrame]) -> pl.DataFrame:
        """Return `gathered` (of a study and arm → trial) over every block that is asked for, named by `trial`."""
        blocks = dict.fromkeys((self.block, *self.overlaid))
        return pl.concat(
            gathered(self.study, replace(self, block=block).chosen().trials).with_columns(
                pl.lit("median trial" if block is None else f"block {block}").alias("trial")
            )
            for block in blocks
        )

    def trials_by_arm(self) -> dict[str, list[str]]:
        """Return the trial of each arm in the block that is asked for; without one, all verified ones of the cell."""
        chosen = self.chosen()
        if self.block is not None:
            return {arm: [trial] for arm, trial in chosen.trials.items()}
        rows = distributions(self.analysis).filter(cell_id=chosen.cell_id, status="verified")
        return {arm: rows.filter(arm=arm)["trial_id"].to_list() for arm in chosen.trials}

    def trials_of_cell(self) -> pl.DataFrame:
        """Return all trials of the cell, in the columns of `distributions`."""
        cell = self.chosen().cell_id if self.cell is None else self.cell
        rows = distributions(self.analysis).filter(cell_id=cell, kind="main")
        if not rows.height:
            raise SpecError(f"the study has no cell {cell!r}", nearest(cell, self.analysis.cells(), "it has"))
        return rows
