# SPDX-License-Identifier: Apache-2.0
"""Study → ordered trials. Pure: the same study gives the same plan on every machine.

Identities and seeds are hashes of content, never of position, so a plan can grow: more blocks, workloads or paths leave
every trial that was planned before unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType
from typing import Literal

from quiclab.model.errors import SpecError
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.plan.order import balanced_order, digest


@dataclass(frozen=True)
class _Cell:
    """One cell: the arms of each of its blocks, as (label, name of the arm in the spec, label of its baseline)."""

    kind: Literal["main", "aa"]
    cell_id: str
    workload: str
    path: str
    arms: tuple[tuple[str, str, str], ...]
    blocks: int


def make_plan(study: Study) -> tuple[PlanRow, ...]:
    """All trials in the order in which they run.

    Blocks are dealt in rounds: a round has one block of every cell, in random order, so that a drift of the machine
    meets all cells alike. Cells with fewer blocks (A/A) are spread evenly over the rounds. Inside a block the arms
    run back to back, in an order that is balanced over the blocks of the cell (`balanced_order`).
    """
    return tuple(planned_rows(study))


def planned_rows(study: Study) -> Iterator[PlanRow]:
    """The rows of `make_plan` one after the other: the first of them are there at once, however long the plan is."""
    position = count()
    for cell, block in _wanted(study, _dealt(study)):
        for row in _block(cell, block, study.seed):
            yield replace(row, position=next(position))


def first_blocks(study: Study) -> Iterator[tuple[tuple[PlanRow, ...], int]]:
    """The rows of one block of every cell, and how many blocks of the cell run; their positions are not known."""
    if not study.only_blocks:
        yield from ((tuple(_block(cell, 0, study.seed)), cell.blocks) for cell in _cells(study) if cell.blocks)
        return
    blocks: dict[str, dict[str, list[PlanRow]]] = {}
    for row in planned_rows(study):
        blocks.setdefault(row.cell_id, {}).setdefault(row.block_id, []).append(row)
    yield from ((tuple(next(iter(of_cell.values()))), len(of_cell)) for of_cell in blocks.values())


def grow_plan(
    study: Study, blocks: Mapping[str, int], arms: Mapping[str, Sequence[Collection[str]]] = MappingProxyType({})
) -> tuple[PlanRow, ...]:
    """Extend the plan by more blocks of some cells (`blocks` has their total by cell), again dealt in rounds.

    Of a cell in `arms` the first blocks have these arms alone, block by block, and the others all. Their order is that
    of a whole block without the others, so that it is balanced over any two blocks with the same arms.
    """
    rows = list(make_plan(study))
    most = max(blocks.values(), default=0)
    for block in range(study.blocks, most):
        more = [cell for cell in _cells(study) if cell.kind == "main" and blocks.get(cell.cell_id, 0) > block]
        for cell in sorted(more, key=lambda cell: digest("place in round", study.seed, cell.cell_id, block)):
            for row in _block(cell, block, study.seed):
                rows.append(replace(row, position=len(rows)))
    if not arms:
        return tuple(rows)
    kept = (row for row in rows if _is_chosen(row, arms.get(row.cell_id, ())))
    return tuple(replace(row, position=position) for position, row in enumerate(kept))


def _is_chosen(row: PlanRow, arms: Sequence[Collection[str]]) -> bool:
    """True if a trial's block, whose arms stand in `arms` by its number where these are not all, has its arm."""
    return row.block >= len(arms) or row.arm in arms[row.block]


def _dealt(study: Study) -> Iterator[tuple[_Cell, int]]:
    """Every block of every cell, in the order of the plan."""
    cells = list(_cells(study))
    rounds = max(cell.blocks for cell in cells)
    dealt = dict.fromkeys(cells, 0)
    for number in range(rounds):
        here = []
        for cell in cells:
            block = dealt[cell]
            if block < cell.blocks and (2 * block + 1) * rounds // (2 * cell.blocks) == number:  # middle of its share
                here.append((digest("place in round", study.seed, cell.cell_id, block), cell, block))
                dealt[cell] += 1
        yield from ((cell, block) for _, cell, block in sorted(here, key=lambda each: each[0]))


def _wanted(study: Study, blocks: Iterable[tuple[_Cell, int]]) -> Iterable[tuple[_Cell, int]]:
    """All blocks, or only those that the spec names. Raises SpecError for one that is not in the plan."""
    if not study.only_blocks:
        return blocks
    by_id = {_block_id(study.seed, cell, block): (cell, block) for cell, block in blocks}
    if unknown := [each for each in study.only_blocks if each not in by_id]:
        hint = "the id of a block follows from seed, cell and number: `quiclab plan --json` lists them"
        raise SpecError(f"only_blocks: the plan has no block {', '.join(unknown)}", hint)
    return [each for block_id, each in by_id.items() if block_id in study.only_blocks]


def _block_id(study_seed: int, cell: _Cell, block: int) -> str:
    return digest("block", study_seed, cell.cell_id, block)[:16]


def _block(cell: _Cell, block: int, study_seed: int) -> Iterator[PlanRow]:
    """Trials of a block, one of each arm, in the order of the first attempt; their positions are not known yet."""
    arms = sorted(cell.arms)
    order = balanced_order(study_seed, cell.cell_id, block, len(arms))
    for label, arm_name, baseline in (arms[number] for number in order):
        yield PlanRow(
            trial_id=digest("trial", study_seed, cell.cell_id, block, label)[:16],
            kind=cell.kind,
            cell_id=cell.cell_id,
            workload=cell.workload,
            path=cell.path,
            arm=label,
            arm_name=arm_name,
            baseline_arm=baseline,
            block=block,
            block_id=_block_id(study_seed, cell, block),
            seed=int(digest("seed", study_seed, cell.cell_id, block)[:16], 16),
            position=0,
        )


def _cells(study: Study) -> Iterator[_Cell]:
    arms = tuple((arm.name, arm.name, study.baseline_of(arm)) for arm in study.measured_arms)
    for path in study.paths:
        for workload in study.measured_workloads:
            cell_id = f"{workload.name}/{path.name}"
            yield _Cell("main", cell_id, workload.name, path.name, arms, study.blocks)
    aa = study.aa
    for arm in study.measured_arms:
        first, second = f"{arm.name}#1", f"{arm.name}#2"
        cell_id = f"{aa.workload}/{aa.path}/aa-{arm.name}"
        twins = ((first, arm.name, first), (second, arm.name, first))
        yield _Cell("aa", cell_id, aa.workload, aa.path, twins, aa.blocks)
