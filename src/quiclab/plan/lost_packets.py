# SPDX-License-Identifier: Apache-2.0
"""Paths over which nothing arrives any more from some instant on: every packet is lost or damaged, for good."""

from __future__ import annotations

from quiclab.model.study import Path
from quiclab.spec.outage import endless_outage


def loss_warnings(path: Path) -> list[str]:
    """Say from when on nothing arrives over a path, a sentence for each direction of a link. A spec by which nothing
    ever arrives is refused when it is read."""
    found = []
    for link in path.links:
        over = f"Path {path.name}" + (f", link {link.name}," if path.more_links else "")
        for side, direction in (("up", link.up), ("down", link.down)):
            if (start := endless_outage(direction)) is not None:
                then = "trials that are not over by then will fail. Add a later change that ends it, if it is an outage"
                found.append(f"{over} loses every packet {side} from {start} on (loss or corrupt = 100 %): {then}.")
    return found
