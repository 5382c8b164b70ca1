# SPDX-License-Identifier: Apache-2.0
"""Growth of a study that goes on until it is decided, as its sequential.json has it."""

from __future__ import annotations

import msgspec

from quiclab.model.link_account import Number


class SequentialGrowth(msgspec.Struct, frozen=True):
    """Rule by which the study stops, and how far it has grown."""

    effect_pct: Number
    """A cell is alike when its whole interval is smaller than this, either way."""
    at_most: int
    """Pairs of a cell."""
    looks: tuple[dict[str, object], ...]
    """Looks so far: what was seen of each comparison, and of how many pairs."""
    blocks: dict[str, int]
    """Cell → blocks that are planned."""
    alpha: Number | None = None
    """Level of its tests."""
    arms: dict[str, tuple[tuple[str, ...], ...]] = {}
    """Cell → arms of each of its first blocks, where these are not all, as in a history of releases."""
