# SPDX-License-Identifier: Apache-2.0
"""The order of the trials within a block: balanced over the blocks of a cell, and drawn at random all the same.

What a trial leaves behind helps or harms the next one. Two blocks after each other are mirror images, so in each two of
them every arm runs as often before another one as after it. With more than two arms the pairs of blocks go through the
rows of a Latin square: after twice as many blocks as there are arms, each arm was at each place twice. Which arm has
which place in the square, the order of its rows, and which of two blocks is the mirror image are drawn from the seed,
so that each order of a block is as likely as any other. A block that is run again has an order of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace

from quiclab.model.plan_row import PlanRow

FIRST_ATTEMPT = 1
"""Attempts of a block are counted from one."""


def balanced_order(seed: int, cell_id: str, block: int, arms: int) -> tuple[int, ...]:
    """Order of the numbers 0 to arms - 1 in the first attempt at a block; later blocks do not change it."""
    pair = block // 2
    square = pair // arms
    arm_of = _shuffled(arms, "arms of a square", seed, cell_id, square)
    row = _shuffled(arms, "rows of a square", seed, cell_id, square)[pair % arms]
    order = tuple(arm_of[(row + place) % arms] for place in range(arms))
    mirrored = (block + int(digest("mirror image", seed, cell_id, pair), 16)) % 2
    return order[::-1] if mirrored else order


def draw_order(block_id: str, attempt: int, arms: int) -> tuple[int, ...]:
    """A random order of the numbers 0 to arms - 1; the same for the same block and attempt."""
    return _shuffled(arms, "order", block_id, attempt)


def order_block(rows: Iterable[PlanRow], attempt: int) -> tuple[PlanRow, ...]:
    """Trials of one block in the order of an attempt, whatever order they are given in.

    Attempts count from 1: the first is the plan's. A void block is run again as the next attempt, in a newly drawn
    order.
    """
    if attempt == FIRST_ATTEMPT:
        return tuple(sorted(rows, key=lambda row: row.position))
    listed = sorted(rows, key=lambda row: row.arm)
    return tuple(listed[number] for number in draw_order(listed[0].block_id, attempt, len(listed)))


def as_kept(rows: Iterable[PlanRow], positions: Mapping[str, int]) -> tuple[PlanRow, ...]:
    """Rows with the positions that a study has for them by trial: what was planned by an earlier version, or when the
    study had fewer blocks, keeps its order."""
    return tuple(replace(row, position=positions.get(row.trial_id, row.position)) for row in rows)


def digest(purpose: str, *content: str | int) -> str:
    """SHA-256 of a purpose and a content, in hex. Names cannot hold the separator."""
    return hashlib.sha256("\0".join([purpose, *map(str, content)]).encode()).hexdigest()


def _shuffled(many: int, purpose: str, *content: str | int) -> tuple[int, ...]:
    return tuple(sorted(range(many), key=lambda number: digest(purpose, *content, number)))
