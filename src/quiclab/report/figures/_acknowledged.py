# SPDX-License-Identifier: Apache-2.0
"""Instants at which a sender learns that a packet arrived: from an ACK, or implicitly from the next packet space."""

from __future__ import annotations

import polars as pl

from quiclab.compare.study_tables import OpenedStudy

_SILENT = ("ack", "padding", "connection_close")
"""Frames that no receiver needs to acknowledge (RFC 9002 section 2)."""
_SPACE = pl.col("packet_type").replace({"0RTT": "1RTT"})
"""0-RTT and 1-RTT packets share a packet number space (RFC 9000 section 12.3)."""


def acknowledged(study: OpenedStudy, trial_id: str, packets: pl.DataFrame) -> pl.DataFrame:
    """Return `packets` (sent ones, of captures) with `acknowledged_ns` and `implicit`."""
    said = _by_ack(study.of_trial("acks", trial_id), packets)
    ends = _keys_discarded(study, trial_id)
    eliciting = _eliciting(study.of_trial("frames", trial_id), packets)
    instants: list[int | None] = []
    implicit: list[bool] = []
    for place, row in enumerate(packets.iter_rows(named=True)):
        end = ends.get((row["sender"], row["packet_type"]))
        by_ack = said[place]
        if row["transport"] == "quic" and not eliciting[place]:
            by_ack, end = None, None
        implicitly = end is not None and end >= row["sent_ns"] and (by_ack is None or end < by_ack)
        instants.append(end if implicitly else by_ack)
        implicit.append(implicitly)
    return packets.with_columns(
        acknowledged_ns=pl.Series(instants, dtype=pl.Int64), implicit=pl.Series(implicit, dtype=pl.Boolean)
    )


def _by_ack(acks: pl.DataFrame | None, packets: pl.DataFrame) -> list[int | None]:
    """Instants at which the first acknowledgment of each packet arrived at its sender."""
    if acks is None or not packets.height:
        return [None] * packets.height
    came = acks.filter(
        (pl.col("event") == "received") & (pl.col("kind") != "dsack"),
        pl.col("source").is_in(packets["source"].implode()),
    )
    ranges = came.select(
        "source", "connection", _SPACE.alias("space"), "first", "last", pl.col("time_ns").alias("acknowledged_ns")
    )
    tcp_end = pl.col("packet_number") + pl.col("length_bytes").fill_null(0) - 1
    asked = packets.with_row_index("row").select(
        "row", "source", "connection", "sent_ns", _SPACE.alias("space"), pl.col("packet_number").alias("low"),
        pl.when(pl.col("transport") == "tcp").then(tcp_end).otherwise(pl.col("packet_number")).alias("high"),
    ).filter(pl.col("high") >= pl.col("low"))  # fmt: skip
    found = (
        asked.join(ranges, on=["source", "connection", "space"], how="inner", nulls_equal=True)
        .filter(
            pl.col("first") <= pl.col("low"), pl.col("last") >= pl.col("high"),
            pl.col("acknowledged_ns") > pl.col("sent_ns"),
        )
        .group_by("row")
        .agg(pl.col("acknowledged_ns").min())
    )  # fmt: skip
    times = dict(found.rows())
    return [times.get(row) for row in range(packets.height)]


def _keys_discarded(study: OpenedStudy, trial_id: str) -> dict[tuple[str, str], int]:
    """(end, packet type) → when it drops that space's keys, and with them what is in flight (RFC 9001 section 4.9)."""
    packets = study.of_trial("packets", trial_id)
    if packets is None:
        return {}
    captured = packets.filter(pl.col("ip_packet").is_not_null() & (pl.col("transport") == "quic"))
    handshakes = captured.filter((pl.col("packet_type") == "handshake") & (pl.col("direction") == "up"))
    found: dict[tuple[str, str], int] = {}
    for end, event in (("client", "sent"), ("server", "received")):
        first = handshakes.filter((pl.col("vantage") == end) & (pl.col("event") == event))["time_ns"].min()
        if isinstance(first, int):
            found[end, "initial"] = first
    steps = study.of_trial("handshake", trial_id)
    if steps is not None:
        for end, step, direction in (("client", "handshake_done", "down"), ("server", "finished", "up")):
            first = steps.filter(vantage=end, step=step, direction=direction)["time_ns"].min()
            if isinstance(first, int):
                found[end, "handshake"] = first
    return found


def _eliciting(frames: pl.DataFrame | None, packets: pl.DataFrame) -> list[bool]:
    """Return whether each packet asks for an acknowledgment; a packet without known frames is taken to."""
    if frames is None:
        return [True] * packets.height
    key = ["source", "packet_type", "packet_number"]
    asks = frames.filter(pl.col("event") == "sent").group_by(key).agg(asks=(~pl.col("frame_type").is_in(_SILENT)).any())
    joined = packets.join(asks, on=key, how="left", maintain_order="left", nulls_equal=True)
    return joined["asks"].fill_null(value=True).to_list()
