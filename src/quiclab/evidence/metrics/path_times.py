# SPDX-License-Identifier: Apache-2.0
"""The path as the packets met it, by the packet logs: throughput, round-trip time with its spread, reordering."""

from __future__ import annotations

from functools import lru_cache

import polars as pl

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Direction, Evidence, Unknown
from quiclab.evidence.metrics.path import each_link


@lru_cache(maxsize=2)
def _delivered(evidence: Evidence, direction: Direction) -> tuple[pl.DataFrame, ...]:
    """A frame for each link: what left it since the client's first packet, in the order of leaving, with its delay."""
    links = []
    for packets in each_link(evidence, direction):
        left = packets.filter(pl.col("action") == "delivered", ~pl.col("duplicate")).select(
            "index", "arrival_ns", "size_bytes", written_ns=pl.col("due_ns") + pl.col("lateness_ns").fill_null(0)
        )
        if left.is_empty():
            raise Unknown(f"no packet going {direction} was delivered")
        links.append(left.with_columns(delay_ns=pl.col("written_ns") - pl.col("arrival_ns")).sort("written_ns"))
    return tuple(links)


@lru_cache(maxsize=1)
def _rtt_ms(evidence: Evidence) -> pl.Series:
    """Delay of each packet towards the client, plus that of the first packet that went back afterwards.

    Over several links the delays add up, each as it was at the time of that packet.
    """
    total: pl.Series | None = None
    for down, up in zip(_delivered(evidence, "down"), _delivered(evidence, "up"), strict=True):
        back = up.select("arrival_ns", back_ns="delay_ns").sort("arrival_ns")
        pairs = down.select("delay_ns", arrival_ns="written_ns").join_asof(back, on="arrival_ns", strategy="forward")
        rtts = pairs.drop_nulls().select((pl.col("delay_ns") + pl.col("back_ns")) / 1e6).to_series()
        if total is None:
            total = rtts
        else:
            count = min(total.len(), rtts.len())
            total = total.head(count) + rtts.head(count)
    if total is None or total.is_empty():
        raise Unknown("no packet came back after one that had gone to the client")
    return total


def rtt_mean_ms(evidence: Evidence) -> float:
    """Arithmetic mean."""
    return float(_rtt_ms(evidence).mean())  # type: ignore[arg-type]


def rtt_sd_ms(evidence: Evidence) -> float:
    """Standard deviation."""
    spread = _rtt_ms(evidence).std()
    if spread is None:
        raise Unknown("there is a single round trip")
    return float(spread)  # type: ignore[arg-type]


def reordered_pct(evidence: Evidence, direction: Direction) -> float:
    """Share of packets that arrived after one that was sent later; the shares of several links are combined."""
    kept = 1.0
    for left in _delivered(evidence, direction):
        overtaken = left.filter(pl.col("index") < pl.col("index").cum_max())
        kept *= 1 - overtaken.height / left.height
    return 100 * (1 - kept)


def throughput_bit_per_s(evidence: Evidence, direction: Direction) -> float:
    """Throughput of the path; over several links, of the one at the receiver's end."""
    left = _delivered(evidence, direction)[-1 if direction == "up" else 0]
    span_ns = int(left["written_ns"].max()) - evidence.zero_ns  # type: ignore[arg-type]
    if span_ns <= 0:
        raise Unknown("nothing was delivered since the client's first packet")
    return int(left["size_bytes"].cast(pl.Int64).sum()) * 8e9 / span_ns


PATH_TIMES = (
    Metric(
        "path_rtt_mean_ms",
        "mean round-trip time of the path",
        "ms",
        "none",
        "Mean round-trip time of the path: for each packet going down its time on the links, queue included, and that "
        "of the first packet that went up after it.",
        rtt_mean_ms,
    ),
    Metric(
        "path_rtt_sd_ms",
        "standard deviation of the path's round-trip time",
        "ms",
        "none",
        "Standard deviation of the same round-trip times.",
        rtt_sd_ms,
    ),
    Metric(
        "path_reordered_up_pct",
        "share of packets reordered going up",
        "%",
        "none",
        "Share of the packets going up that left the links after a packet that had reached them later.",
        lambda evidence: reordered_pct(evidence, "up"),
    ),
    Metric(
        "path_reordered_down_pct",
        "share of packets reordered going down",
        "%",
        "none",
        "Share of the packets going down that left the links after a packet that had reached them later.",
        lambda evidence: reordered_pct(evidence, "down"),
    ),
    Metric(
        "path_throughput_down_bit_per_s",
        "throughput of the path going down",
        "bit/s",
        "none",
        "Bits of the packets that the links handed to the client, over the time from its first packet to the last one.",
        lambda evidence: throughput_bit_per_s(evidence, "down"),
    ),
)
