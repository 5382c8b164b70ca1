# SPDX-License-Identifier: Apache-2.0
"""The path as measured, from the packet log: what it did to the packets, beside what it was asked to do."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from quiclab.metrics._api import Metric
from quiclab.metrics.evidence import Direction, Evidence, Unknown

_LOSS = ("loss_entry", "loss_exit", "listed", "outage")
"""Drops that the path was asked for; a full queue or its AQM is what the sender met."""


def _packets(evidence: Evidence, direction: Direction | None = None) -> pl.DataFrame:
    """The log's packets that the model handled."""
    packets = evidence.table("link_packets").filter(pl.col("action") != "outside_model")
    if direction:
        packets = packets.filter(pl.col("direction") == direction)
    if packets.is_empty():
        raise Unknown("the packet log holds no packet" + (f" going {direction}" if direction else ""))
    return packets


def _own(evidence: Evidence, direction: Direction) -> pl.DataFrame:
    """Of these, what the workload's own ends sent: where others use the link, by the capture of the end that sends."""
    packets = _packets(evidence, direction)
    if evidence.trial.get("competition") is None:
        return packets
    sent = evidence.packets("client" if direction == "up" else "server", direction, ("tcp", "udp"))
    return packets.join(sent.select(index="packet_index"), on="index", how="semi")


def lost_packets(evidence: Evidence, direction: Direction) -> float:
    """Packets dropped, whatever the reason."""
    return _own(evidence, direction).filter(pl.col("action") == "dropped").height


def loss_pct(evidence: Evidence, direction: Direction) -> float:
    """Share of the packets that the loss model took."""
    packets = _packets(evidence, direction).filter(~pl.col("duplicate"))
    return 100 * packets.filter(pl.col("reason").is_in(_LOSS)).height / packets.height


def rtt_min_ms(evidence: Evidence) -> float:
    """The shortest way up and the shortest way down."""
    ways = [
        _packets(evidence, direction).select((pl.col("due_ns") - pl.col("arrival_ns")).min()).item()
        for direction in ("up", "down")
    ]
    if any(way is None for way in ways):
        raise Unknown("no packet was delivered in one direction")
    return float(sum(ways)) / 1e6


def rate_bit_per_s(evidence: Evidence, direction: Direction) -> float:
    """Rate at which packets really left the link while its queue was not empty.

    A packet that found the bottleneck busy left one service time after the packet before it: its bits over the time
    between the two departures. Packets that were lost behind the bottleneck count with the next one that was not.
    """
    served = _packets(evidence, direction).filter(
        (pl.col("action") == "delivered") | (pl.col("reason") == "loss_exit"),
        ~pl.col("duplicate"),
        ~pl.col("reordered"),
    )
    left = (pl.col("due_ns") + pl.col("lateness_ns")).alias("left_ns")
    # Idle bottleneck before any of the packets since the last departure: that gap says nothing about the rate.
    served = served.with_columns(
        left, group=left.is_not_null().cum_sum().shift(1, fill_value=0), busy=pl.col("queue_packets") > 0
    )
    departures = served.group_by("group", maintain_order=True).agg(
        pl.col("left_ns").last(), pl.col("size_bytes").cast(pl.Int64).sum(), pl.col("busy").all()
    )
    gaps = departures.with_columns(gap_ns=pl.col("left_ns").diff()).filter("busy").drop_nulls("gap_ns")
    gap_ns = int(gaps["gap_ns"].sum())
    if gap_ns <= 0:
        raise Unknown("the bottleneck was never busy")
    return int(gaps["size_bytes"].sum()) * 8e9 / gap_ns


def lateness_p99_us(evidence: Evidence) -> float:
    """How late the link wrote packets."""
    late = _packets(evidence)["lateness_ns"].drop_nulls()
    value = late.quantile(0.99, interpolation="higher")
    if value is None:
        raise Unknown("no packet was delivered")
    return value / 1e3


def queue_max_bytes(evidence: Evidence) -> float:
    """The longest queue that a packet met."""
    return float(_packets(evidence)["queue_bytes"].max())  # type: ignore[arg-type]


def wire_bytes(evidence: Evidence, direction: Direction) -> float:
    """What one end put on the path."""
    return int(_own(evidence, direction).filter(~pl.col("duplicate"))["size_bytes"].cast(pl.Int64).sum())


def _both(name: str, unit: str, doc: str, compute: Callable[[Evidence, Direction], float]) -> tuple[Metric, ...]:
    ways: tuple[Direction, ...] = ("up", "down")
    return tuple(
        Metric(name.format(way), unit, "none", doc.format(way), lambda evidence, way=way: compute(evidence, way))  # type: ignore[misc]
        for way in ways
    )


PATH = (
    *_both(
        "lost_packets_{}",
        "packets",
        "Packets going {} that the link dropped, for any reason; competitors' are left out.",
        lost_packets,
    ),
    *_both(
        "path_loss_{}_pct",
        "%",
        "Share of the packets going {} that the link's loss took (loss model, list, outage); not those for which the "
        "queue had no room.",
        loss_pct,
    ),
    Metric(
        "path_rtt_min_ms",
        "ms",
        "none",
        "Shortest time from reaching the link to the far end, up plus down, serialisation included.",
        rtt_min_ms,
    ),
    *_both(
        "path_rate_{}_bit_per_s",
        "bit/s",
        "Bits of the packets going {} that found the bottleneck busy, over the time between their departure and the "
        "one before.",
        rate_bit_per_s,
    ),
    Metric("lateness_p99_us", "us", "none", "99th percentile of how late packets were written.", lateness_p99_us),
    Metric("queue_max_bytes", "bytes", "none", "Longest queue that a packet met, both ways.", queue_max_bytes),
    *_both("wire_bytes_{}", "bytes", "IP bytes going {} that were sent into the link.", wire_bytes),
)
