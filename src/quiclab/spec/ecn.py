# SPDX-License-Identifier: Apache-2.0
"""Explicit congestion notification: where a path marks, and what TCP then does."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from quiclab.model.study import Aqm, CoDel, Direction, DualPi2, FqCoDel, Path, Pie, Step, Tcp

Marks = Literal["ect", "ect1"]
"""Senders whose packets a queue marks: all that understand ECN, or only those that send ECT(1), as in L4S."""


def marking(direction: Direction) -> frozenset[Marks]:
    """Marks that a direction sets, in its queue, now or after a scheduled change, or in the place of random loss."""
    managed = [direction.aqm, *(change.aqm for change in direction.schedule)]
    by_loss: frozenset[Marks] = frozenset({"ect"} if direction.loss_as == "ecn mark" else ())
    return by_loss | frozenset(marks for aqm in managed if (marks := _marks(aqm)) is not None)


def _marks(aqm: Aqm | Literal["none"] | None) -> Marks | None:
    if isinstance(aqm, DualPi2):
        return "ect"
    if isinstance(aqm, Step):
        return "ect1"
    return "ect" if isinstance(aqm, CoDel | FqCoDel | Pie) and aqm.ecn else None


def tcp_on(path: Path, tcp: Tcp, later: Path | None = None) -> Tcp:
    """TCP's settings for a path and the one that may take its place later (`later`): where the spec leaves ECN open, it
    is on if either path marks."""
    if tcp.ecn is not None:
        return tcp
    links = [*path.links, *(later.links if later else ())]
    return replace(tcp, ecn=any(marking(link.up) | marking(link.down) for link in links))
