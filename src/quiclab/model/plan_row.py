# SPDX-License-Identifier: Apache-2.0
"""A plan row: everything that identifies one trial. Its identity comes from its content, never from its position."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class PlanRow:
    """One trial of the plan."""

    trial_id: str
    """Id of the trial, 16 hex digits: a hash of (study seed, cell, block, arm)."""
    kind: Literal["main", "aa"]
    cell_id: str
    """Id of the cell: `workload/path`, or `workload/path/aa-arm`."""
    workload: str
    path: str
    arm: str
    """Label in the comparison: the arm's name, in A/A cells `arm#1` or `arm#2`."""
    arm_name: str
    """Name of the arm of the spec that runs."""
    baseline_arm: str
    """Label of the arm in this cell that its differences are relative to; its own of a baseline."""
    block: int
    """Number of the block within its cell, from 0."""
    block_id: str
    """Hash of (study seed, cell, block): names the block across its attempts."""
    seed: int
    """Seed of 64 bits, from (study seed, cell, block): the same for all trials of a block."""
    position: int
    """Position in the order of the whole plan, from 0, as it was when the trial was planned first; a block that is run
    again draws its inner order anew."""


def by_block(rows: Iterable[PlanRow]) -> dict[str, list[PlanRow]]:
    """Rows of each block together, by its id, in the order of the rows."""
    blocks: dict[str, list[PlanRow]] = {}
    for row in rows:
        blocks.setdefault(row.block_id, []).append(row)
    return blocks
