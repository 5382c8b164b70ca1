# SPDX-License-Identifier: Apache-2.0
"""Explicit congestion notification on the wire: which end takes part, and what the path marked."""

from __future__ import annotations

from collections.abc import Callable, Collection

import polars as pl

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Direction, End, Evidence, Unknown

_ECT1, _ECT0, _CE = 1, 2, 3


def _share_pct(evidence: Evidence, end: End, direction: Direction, codepoints: Collection[int]) -> float:
    packets = evidence.packets(end, direction).drop_nulls("ecn")
    if packets.is_empty():
        raise Unknown(f"the {end}'s capture holds no packet going {direction} whose header is known")
    return 100 * packets.filter(pl.col("ecn").is_in(codepoints)).height / packets.height


def _both(name: str, title: str, doc: str, compute: Callable[[Evidence, Direction], float]) -> tuple[Metric, ...]:
    ways: tuple[Direction, ...] = ("up", "down")
    return tuple(
        Metric(
            name.format(way),
            title.format(way),
            "%",
            "none",
            doc.format(way),
            lambda evidence, way=way: compute(evidence, way),  # type: ignore[misc]
        )
        for way in ways
    )


def ect_pct(evidence: Evidence, direction: Direction) -> float:
    """Share of packets with ECT(0), ECT(1) or CE at the end that sends; no sender sets CE by itself."""
    return _share_pct(evidence, "client" if direction == "up" else "server", direction, (_ECT1, _ECT0, _CE))


def ce_pct(evidence: Evidence, direction: Direction) -> float:
    """Share of packets with CE at the end that receives."""
    return _share_pct(evidence, "server" if direction == "up" else "client", direction, (_CE,))


ECN = (
    *_both(
        "ecn_capable_{}_pct",
        "share of ECN-capable packets going {}",
        "Share of the packets sent {} that are ECN-capable: ECT(0), ECT(1) or CE.",
        ect_pct,
    ),
    *_both(
        "ecn_ce_{}_pct",
        "share of packets marked CE going {}",
        "Share of the packets that arrived {} marked Congestion Experienced (CE).",
        ce_pct,
    ),
)
