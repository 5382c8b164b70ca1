# SPDX-License-Identifier: Apache-2.0
"""The part of a plan that a run was about, as a study's part.json has it."""

from __future__ import annotations

import msgspec


class KeptPart(msgspec.Struct, frozen=True):
    """Bounds on the part: those of `quiclab.plan.part.Part` that a command may name."""

    cells: tuple[str, ...]
    blocks: int | None = None
    shard: tuple[int, ...] | None = None
    """Number of a shard and of how many."""
