# SPDX-License-Identifier: Apache-2.0
"""The path as measured, from the packet logs: what its links did to the packets, beside what they were asked to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import polars as pl

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Direction, Evidence, Unknown
from quiclab.model.tables.drop_reasons import DropKind, Stage, reasons_at, reasons_of

_LOSS = reasons_of(DropKind.LOSS)
_BEHIND = reasons_at(Stage.BEHIND)
_DIRECTIONS: tuple[Direction, ...] = ("up", "down")
_PRECISION, _MANY = 0.05, 50
"""Largest relative error of a measured rate; and the number of packets from which on that error is not checked, so
that the link's lateness shows."""


def _links(evidence: Evidence) -> list[pl.DataFrame]:
    """Packets that the model handled, a frame for each link, from client to server; without a proxy's warm-up."""
    packets = evidence.table("link_packets").filter(pl.col("action") != "outside_model")
    logs = [link.packet_log for link in evidence.trial.links]
    if len(logs) > 1:  # studies of earlier versions have a proxy's warm-up in the model
        packets = packets.filter(pl.col("arrival_ns") >= evidence.zero_ns)
    elif evidence.second_link is None:
        return [packets]
    return [_rows_of_log(packets, log) for log in logs]


def _rows_of_log(packets: pl.DataFrame, log: str) -> pl.DataFrame:
    return packets.filter(pl.col("source") == f"raw/{log}")


def _second_link(evidence: Evidence, direction: Direction) -> pl.DataFrame:
    """Packets that the client's link in its second network handled; without rows for a client that stays."""
    link, packets = evidence.second_link, evidence.table("link_packets")
    if link is None:
        return packets.clear()
    mine = pl.col("direction") == direction
    return _rows_of_log(packets.filter(pl.col("action") != "outside_model", mine), link.packet_log)


@lru_cache(maxsize=3)
def each_link(evidence: Evidence, direction: Direction | None = None) -> tuple[pl.DataFrame, ...]:
    """A frame for each link, of one direction if asked. Raises Unknown where one is empty."""
    links = _links(evidence)
    if direction:
        links = [packets.filter(pl.col("direction") == direction) for packets in links]
    if any(packets.is_empty() for packets in links):
        raise Unknown("the packet log holds no packet" + (f" going {direction}" if direction else ""))
    return tuple(links)


def _own(evidence: Evidence, direction: Direction) -> Sequence[pl.DataFrame]:
    """Packets on each link that the workload's own ends sent; in a competition, by the sending end's capture."""
    links = each_link(evidence, direction)
    if evidence.trial.competition is None:
        return links
    sent = evidence.packets("client" if direction == "up" else "server", direction, ("tcp", "udp"))
    return [packets.join(sent.select(index="packet_index"), on="index", how="semi") for packets in links]


def lost_packets(evidence: Evidence, direction: Direction) -> float:
    """Packets dropped, whatever the reason."""
    links = [*_own(evidence, direction), _second_link(evidence, direction)]
    return sum(packets.filter(pl.col("action") == "dropped").height for packets in links)


def loss_pct(evidence: Evidence, direction: Direction) -> float:
    """Share of the packets that the loss models took: each link's of those that reached it."""
    kept = 1.0
    for packets in each_link(evidence, direction):
        own = packets.filter(~pl.col("duplicate"))
        kept *= 1 - own.filter(pl.col("reason").is_in(_LOSS)).height / own.height
    return 100 * (1 - kept)


def rtt_min_ms(evidence: Evidence) -> float:
    """The shortest way up and the shortest way down, over every link."""
    ways = [
        packets.select((pl.col("due_ns") - pl.col("arrival_ns")).min()).item()
        for direction in _DIRECTIONS
        for packets in each_link(evidence, direction)
    ]
    if any(way is None for way in ways):
        raise Unknown("no packet was delivered in one direction")
    return float(sum(ways)) / 1e6


def rate_bit_per_s(evidence: Evidence, direction: Direction) -> float:
    """Rate at which packets really left the link while its queue was not empty; of several links, the lowest."""
    rates = [rate for packets in each_link(evidence, direction) if (rate := _rate_of(packets)) is not None]
    if not rates:
        raise Unknown("the bottleneck was never busy")
    return min(rates)


def _rate_of(packets: pl.DataFrame) -> float | None:
    """Return the rate of one link; None if it was never busy.

    A packet that found the bottleneck busy left one service time after the packet before it: its bits over the time
    between the two departures. Packets that were lost behind the bottleneck count with the next one that was not.
    """
    served = packets.filter(
        (pl.col("action") == "delivered") | pl.col("reason").is_in(_BEHIND),
        ~pl.col("duplicate"),
        ~pl.col("reordered"),
    )
    written = (pl.col("due_ns") + pl.col("lateness_ns")).alias("written_ns")
    # Idle bottleneck before any of the packets since the last departure: that gap says nothing about the rate.
    served = served.with_columns(
        written, group=written.is_not_null().cum_sum().shift(1, fill_value=0), busy=pl.col("queue_packets") > 0
    )
    departures = served.group_by("group", maintain_order=True).agg(
        pl.col("written_ns").last(), pl.col("size_bytes", "service_ns").cast(pl.Int64).sum(), pl.col("busy").all()
    )
    gaps = departures.with_columns(gap_ns=pl.col("written_ns").diff()).filter("busy").drop_nulls("gap_ns")
    gap_ns, service_ns = int(gaps["gap_ns"].sum()), int(gaps["service_ns"].sum())
    # Lateness and, behind the bottleneck, jitter shift the first and the last departure.
    if gaps.height < _MANY and abs(gap_ns - service_ns) > _PRECISION * service_ns:
        packets_told = f"the bottleneck was busy for {gaps.height} packets"
        raise Unknown(f"{packets_told}, too few beside how late they were written, or how their delay varied")
    return int(gaps["size_bytes"].sum()) * 8e9 / gap_ns if gap_ns > 0 else None


def lateness_p99_us(evidence: Evidence) -> float:
    """Lateness of the link's writes; of several links, the latest."""
    return _lateness_us(evidence, 0.99)


def lateness_max_us(evidence: Evidence) -> float:
    """Lateness of the link's latest packet: one short stop among many packets shows here alone."""
    return _lateness_us(evidence, 1)


def _lateness_us(evidence: Evidence, quantile: float) -> float:
    links = [*each_link(evidence), *(_second_link(evidence, direction) for direction in _DIRECTIONS)]
    lates = [packets["lateness_ns"].drop_nulls() for packets in links]
    values = [late.quantile(quantile, interpolation="higher") for late in lates]
    known = [value for value in values if value is not None]
    if not known:
        raise Unknown("no packet was delivered")
    return max(known) / 1e3


def trials_at_once(evidence: Evidence) -> float:
    """Number of trials that the link's process served at a time, this one included, at most."""
    link = evidence.trial.link
    if not link.is_told:
        raise Unknown("the link left no account of itself")
    return float(link.runs_at_once)


def queue_max_bytes(evidence: Evidence) -> float:
    """The longest queue that a packet met."""
    links = [*each_link(evidence), *(_second_link(evidence, direction) for direction in _DIRECTIONS)]
    return max(float(packets["queue_bytes"].max()) for packets in links if packets.height)  # type: ignore[arg-type]


def wire_bytes(evidence: Evidence, direction: Direction) -> float:
    """Bytes that one end of the client's leg put on the path."""
    leg = len(evidence.trial.links_of("client")) or 1
    sent = [_own(evidence, direction)[0 if direction == "up" else leg - 1]]
    if direction == "up" or leg == 1:
        sent.append(_second_link(evidence, direction))
    return sum(int(packets.filter(~pl.col("duplicate"))["size_bytes"].cast(pl.Int64).sum()) for packets in sent)


def second_rate_bit_per_s(evidence: Evidence, direction: Direction) -> float:
    """Rate of the client's link in its second network, measured as by `rate_bit_per_s`."""
    rate = _rate_of(_taken(evidence, direction))
    if rate is None:
        raise Unknown("the bottleneck was never busy")
    return rate


def second_rtt_min_ms(evidence: Evidence) -> float:
    """Least round-trip time of the client's link in its second network, measured as by `rtt_min_ms`."""
    ways = [
        _taken(evidence, direction).select((pl.col("due_ns") - pl.col("arrival_ns")).min()).item()
        for direction in _DIRECTIONS
    ]
    if any(way is None for way in ways):
        raise Unknown("no packet was delivered in one direction")
    return float(sum(ways)) / 1e6


def _taken(evidence: Evidence, direction: Direction) -> pl.DataFrame:
    """Packets of the second link in one direction. Raises Unknown where no packet took it."""
    if evidence.second_link is None:
        raise Unknown("the client's address stayed")
    packets = _second_link(evidence, direction)
    if packets.is_empty():
        raise Unknown(f"no packet going {direction} was on a link of a second network")
    return packets


def _both(
    name: str, title: str, unit: str, doc: str, compute: Callable[[Evidence, Direction], float], heading: str = ""
) -> tuple[Metric, ...]:
    return tuple(
        Metric(
            name.format(way),
            title.format(way),
            unit,
            "none",
            doc.format(way),
            lambda evidence, way=way: compute(evidence, way),  # type: ignore[misc]
            heading.format(way),
        )
        for way in _DIRECTIONS
    )


PATH = (
    *_both(
        "lost_packets_{}",
        "packets lost going {}",
        "packets",
        "Packets going {} that the links dropped, for any reason; competitors' are left out.",
        lost_packets,
        heading="lost {}",
    ),
    *_both(
        "path_loss_{}_pct",
        "packet loss of the path going {}",
        "%",
        "Share of the packets going {} that the link's loss took (loss model, list, outage); not those that its "
        "queue, AQM, policer or block dropped. Of several links: what their shares make together.",
        loss_pct,
    ),
    Metric(
        "path_rtt_min_ms",
        "least round-trip time of the path",
        "ms",
        "none",
        "Shortest time from reaching the link to the far end, up plus down, serialisation included; summed over links.",
        rtt_min_ms,
    ),
    *_both(
        "path_rate_{}_bit_per_s",
        "rate of the path going {}",
        "bit/s",
        "Bits of the packets going {} that found the bottleneck busy, over the time between their departure and the "
        "one before. Of several links: the lowest.",
        rate_bit_per_s,
    ),
    Metric(
        "lateness_p99_us",
        "lateness of the link, 99th percentile",
        "us",
        "none",
        "99th percentile of how late packets were written; of several links, the largest.",
        lateness_p99_us,
    ),
    Metric(
        "lateness_max_us",
        "greatest lateness of the link",
        "us",
        "none",
        "How late the latest packet was written, of all links.",
        lateness_max_us,
    ),
    Metric(
        "trials_at_once",
        "trials at a time",
        "",
        "none",
        "Most trials that ran side by side while this one did, this one included (`quiclab run --jobs`).",
        trials_at_once,
    ),
    Metric(
        "queue_max_bytes",
        "longest queue",
        "bytes",
        "none",
        "Longest queue that a packet met, either way.",
        queue_max_bytes,
        heading="longest queue",
    ),
    *_both(
        "wire_bytes_{}",
        "IP bytes sent going {}",
        "bytes",
        "IP bytes going {} that one end of the client's leg sent.",
        wire_bytes,
    ),
    Metric(
        "second_link_rtt_min_ms",
        "least round-trip time of the second link",
        "ms",
        "none",
        "As `path_rtt_min_ms`, of the client's link in the network to which it changed. The `path_` metrics are of the "
        "links that the transfer began with.",
        second_rtt_min_ms,
    ),
    *_both(
        "second_link_rate_{}_bit_per_s",
        "rate of the second link going {}",
        "bit/s",
        "As `path_rate_{0}_bit_per_s`, of the client's link in the network to which it changed.",
        second_rate_bit_per_s,
    ),
)
