# SPDX-License-Identifier: Apache-2.0
"""The command that goes on with a study, by what the study holds: wherever one is printed, it is this one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.model.errors import DecodeError
from quiclab.model.number_text import from_here
from quiclab.store.growth import read_growth

if TYPE_CHECKING:
    from quiclab.model.sequential_record import SequentialGrowth

OPEN = "open"
"""State of a comparison that is not decided, as looks keep it."""


def going_on(root: Path) -> str:
    """Return the command that goes on with the study in `root`: until it is decided, where it was asked or run so."""
    try:
        grown = read_growth(root)
    except DecodeError:  # it is told by what reads the study
        grown = None
    until = "" if grown is None else f" --until {grown.effect_pct:g}%"
    return f"quiclab run {from_here(root)}{until}"


def may_grow(grown: SequentialGrowth) -> bool:
    """True if the next look may plan more blocks: none was taken, or the last one left a cell open below its most."""
    if not grown.looks:
        return True
    states = grown.looks[-1].get("states")
    told = states.items() if isinstance(states, dict) else ()
    still_open = {str(comparison).partition(" ")[0] for comparison, state in told if state == OPEN}
    return any(grown.blocks.get(cell, 0) < grown.at_most for cell in still_open)
