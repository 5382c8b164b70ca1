# SPDX-License-Identifier: Apache-2.0
"""Sizes of a plan, by arithmetic: the same for ten blocks as for a hundred thousand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.model.units import Duration
from quiclab.plan.duration import Senders, expected_duration
from quiclab.plan.make import first_blocks


@dataclass(frozen=True)
class PlanSize:
    """Numbers of cells, blocks and trials of a plan."""

    cells: tuple[tuple[tuple[PlanRow, ...], int], ...]
    """Rows of one block of every cell, and how many blocks the cell has."""
    left_out: tuple[tuple[PlanRow, int], ...] = ()
    """Rows that some blocks of their cell do not have, and how many blocks these are."""

    @property
    def samples(self) -> tuple[PlanRow, ...]:
        """One trial of each arm of each cell: what is true of all trials of its kind is true of it."""
        return tuple(row for rows, _ in self.cells for row in rows)

    @property
    def blocks(self) -> int:
        """Blocks of all cells."""
        return sum(blocks for _, blocks in self.cells)

    @property
    def pairs(self) -> int:
        """Blocks that every cell has, A/A cells apart."""
        return min((blocks for rows, blocks in self.cells if rows[0].kind == "main"), default=0)

    @property
    def trials(self) -> int:
        """Trials of all cells, A/A cells included."""
        return sum(len(rows) * blocks for rows, blocks in self.cells) - sum(blocks for _, blocks in self.left_out)

    @property
    def controls(self) -> int:
        """Trials of A/A cells."""
        return sum(len(rows) * blocks for rows, blocks in self.cells if rows[0].kind == "aa")

    def expected(self, study: Study, senders: Senders = MappingProxyType({})) -> Duration:
        """Estimate of all trials, one after the other."""
        planned = [(row, blocks) for rows, blocks in self.cells for row in rows]
        planned += [(row, -blocks) for row, blocks in self.left_out]
        return Duration(sum(expected_duration(row, study, senders).ns * blocks for row, blocks in planned))


def plan_size(
    study: Study,
    grown: Mapping[str, int] = MappingProxyType({}),
    arms: Mapping[str, Sequence[Collection[str]]] = MappingProxyType({}),
) -> PlanSize:
    """Return the size of the plan that `make_plan` makes, or `grow_plan` of cells that have `grown`, with these `arms`.
    Raises SpecError as these do."""
    cells = tuple(
        (rows, max(blocks, grown.get(rows[0].cell_id, 0) if rows[0].kind == "main" else 0))
        for rows, blocks in first_blocks(study)
    )
    lacking = [
        (row, sum(row.arm not in each for each in arms.get(row.cell_id, ()))) for rows, _ in cells for row in rows
    ]
    return PlanSize(cells, tuple((row, blocks) for row, blocks in lacking if blocks))
