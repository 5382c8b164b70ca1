# SPDX-License-Identifier: Apache-2.0
"""A part of a plan: the first blocks, of all cells or of some, for a first look; every n-th block, for a machine of n.

Its trials are those of the whole plan, with their identities, seeds and places, so that a later run goes on from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from quiclab.model.errors import SpecError, nearest
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.plan.size import plan_size


@dataclass(frozen=True)
class Part:
    """Bounds on the part of a plan that a run does for now: without any, it is all."""

    blocks: int | None = None
    """First blocks of each cell, A/A cells included; None is all."""
    cells: tuple[str, ...] = ()
    """Ids of the cells that run; empty is all. A/A cells run where they are named."""
    shard: tuple[int, int] | None = None
    """Number of a shard, from 1, and of how many: it has every so many blocks of each cell. None is all."""
    block_id: str | None = None
    """The one block of one cell that a worker of a cluster runs; None is all."""

    @property
    def is_whole(self) -> bool:
        """True if nothing is left out."""
        return self == WHOLE

    def rows_of(self, rows: Iterable[PlanRow]) -> tuple[PlanRow, ...]:
        """The rows of this part, in their order."""
        return tuple(
            row
            for row in rows
            if (self.blocks is None or row.block < self.blocks)
            and (not self.cells or row.cell_id in self.cells)
            and (self.shard is None or row.block % self.shard[1] == self.shard[0] - 1)
            and (self.block_id is None or row.block_id == self.block_id)
        )


WHOLE = Part()
"""All of a plan."""


def check_part(part: Part, study: Study) -> None:
    """Raise SpecError for a part that the plan of the study does not have, with all that is wrong about it."""
    wrong = tuple(_mistakes(part, study))
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        told = tuple(f"{each.message} ({each.hint})" for each in wrong)
        raise SpecError("the plan has no such part", "`quiclab plan SPEC` shows its cells and blocks", told)


def _mistakes(part: Part, study: Study) -> Iterator[SpecError]:
    if part.blocks is not None and not 1 <= part.blocks <= study.blocks:
        yield SpecError(
            f"--blocks {part.blocks}: the spec plans {study.blocks} blocks of each cell",
            f"give 1 to {study.blocks}; for more of them, change blocks in the spec",
        )
    if part.shard is not None and not 1 <= part.shard[0] <= part.shard[1] <= study.blocks:
        number, of = part.shard
        yield SpecError(
            f"--shard {number}/{of}: the spec plans {study.blocks} blocks of each cell, and a shard has whole blocks",
            f"give I/N with I from 1 to N, and N at most {study.blocks}",
        )
    size = plan_size(study).cells
    cells = {rows[0].cell_id: rows[0].kind for rows, _ in size}
    for cell in dict.fromkeys(part.cells):
        if cell not in cells:
            known = sorted(cells, key=lambda name: (cells[name] != "main", name))
            yield SpecError(f"--cell {cell}: the spec has no such cell", nearest(cell, known, "it has"))
    kept = [number for rows, number in size if not part.cells or rows[0].cell_id in part.cells]
    first = part.blocks if part.blocks is not None and part.blocks > 0 else study.blocks
    most = min(max(kept, default=study.blocks), first)
    if part.shard is not None and most < part.shard[0] <= part.shard[1] <= study.blocks:
        number, of = part.shard
        yield SpecError(
            f"--shard {number}/{of} has none of the {most} blocks that --blocks and --cell leave",
            f"leave this shard out; those from 1/{of} to {most}/{of} have blocks",
        )
