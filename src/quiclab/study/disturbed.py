# SPDX-License-Identifier: Apache-2.0
"""Blocks that the laboratory disturbed in every attempt: their cells have fewer pairs than were planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from quiclab.model.plan_row import PlanRow, by_block
from quiclab.store.layout import Attempt


@dataclass(frozen=True)
class DisturbedBlocks:
    """Blocks that stayed void, counted for each cell."""

    compared: Mapping[str, int]
    """Cell that is compared → its blocks."""
    controls: Mapping[str, int]
    """Cell of the A/A control → its blocks."""


NONE = DisturbedBlocks({}, {})


def disturbed_blocks(rows: Iterable[PlanRow], attempts: Mapping[str, Sequence[Attempt]]) -> DisturbedBlocks:
    """Count the blocks with a trial whose last attempt is void, in the order of `rows`."""
    stayed = [
        block[0]
        for block in by_block(rows).values()
        if any(row.trial_id in attempts and attempts[row.trial_id][-1].status == "void" for row in block)
    ]
    compared, controls = (
        dict(Counter(row.cell_id for row in stayed if (row.kind == "aa") == control)) for control in (False, True)
    )
    return DisturbedBlocks(compared, controls)
