# SPDX-License-Identifier: Apache-2.0
"""Packets of single trials with the instants at which they left one end and came to the other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.report.figures._asked import Window
from quiclab.report.figures._series import start_ns, transfer_rows

SCHEMA = {
    **dict.fromkeys(("arm", "space", "label", "sender", "probe"), pl.String),
    "number": pl.Int64,
    "bytes": pl.Int64,
    **dict.fromkeys(("sent_ms", "arrived_ms", "acknowledged_ms"), pl.Float64),
    "implicit": pl.Boolean,
}
_SPACES = {"initial": "Initial", "handshake": "Handshake", "0RTT": "0-RTT", "1RTT": "1-RTT", "retry": "Retry"}
_SYN, _FIN, _RST = 0b10, 0b1, 0b100
_ACK = 0b10000
_FLAGS = ((_SYN | _ACK, _SYN | _ACK, "SYN-ACK"), (_SYN | _ACK, _SYN, "SYN"), (_FIN, _FIN, "FIN"), (_RST, _RST, "RST"))
"""Bits of a TCP header (RFC 9293 section 3.1) that are looked at, what they are then, and the word for it."""


def crossings(study: OpenedStudy, trials: Mapping[str, str], window: Window) -> pl.DataFrame:
    """Return the packets that the captures of both ends hold, in the order in which they left."""
    parts = [pl.DataFrame(schema=SCHEMA)]
    for arm, trial_id in trials.items():
        packets, zero_ns = study.trial_table("packets", trial_id), start_ns(study, trial_id)
        if packets is None or zero_ns is None:
            continue
        own = transfer_rows(packets.filter(pl.col("ip_packet").is_not_null()), zero_ns)
        crossed = _crossed(own, _links(study, trial_id))
        shown = (
            crossed.filter(
                (pl.col("sent_ns") - zero_ns) / 1e6 >= window.from_ms,
                pl.lit(window.until_ms is None) | ((pl.col("sent_ns") - zero_ns) / 1e6 <= (window.until_ms or 0.0)),
            )
            .sort("sent_ns")
            .head(window.packets)
        )
        if shown.height:
            parts.append(
                _crossing_packets(study, trial_id, shown, zero_ns)
                .select(pl.lit(arm).alias("arm"), pl.exclude("arm"))
                .select(*SCHEMA)
            )
    return pl.concat(parts)


def _links(study: OpenedStudy, trial_id: str) -> int:
    log = study.trial_table("link_packets", trial_id)
    return 1 if log is None else log["source"].n_unique()


def _crossed(packets: pl.DataFrame, links: int) -> pl.DataFrame:
    """Every packet that left an end, with the instant at which the other end's capture has it.

    One link numbers its packets; over several a packet is found again by its number, the n-th time that it occurs.
    """
    key = ["direction", "connection", "transport", "packet_type", "packet_number"]
    packets = packets.with_columns(
        sender=pl.when(pl.col("direction") == "up").then(pl.lit("client")).otherwise(pl.lit("server"))
    )
    if links == 1:
        packets = packets.with_columns(occurrence=pl.col("packet_index").cast(pl.Int64))
    else:
        packets = packets.with_columns(
            occurrence=pl.int_range(pl.len()).over([*key, "length_bytes", "vantage"], order_by="time_ns")
        )
        key.append("length_bytes")
    key.append("occurrence")
    left = packets.filter(pl.col("vantage") == pl.col("sender")).rename({"time_ns": "sent_ns"})
    came = packets.filter(pl.col("vantage") != pl.col("sender")).group_by(key).agg(arrived_ns=pl.col("time_ns").min())
    return left.join(came, on=key, how="left", nulls_equal=True)


def _crossing_packets(study: OpenedStudy, trial_id: str, packets: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
    number = pl.col("packet_number").cast(pl.Int64)
    quic = pl.col("transport") == "quic"
    space = pl.col("packet_type").replace(_SPACES)
    segments = _segments(study, trial_id)
    packets = packets.join(segments, on=["source", "ip_packet"], how="left", maintain_order="left")
    tcp = (
        pl.when(pl.col("flags") != "")
        .then(pl.col("flags"))
        .when(pl.col("length_bytes") > 0)
        .then(pl.lit("data"))
        .otherwise(pl.lit("ACK"))
    )
    tcp_space = pl.when(pl.col("length_bytes") > 0).then(pl.lit("TCP data")).otherwise(pl.lit("TCP"))
    packets = packets.with_columns(
        space=pl.when(quic).then(space.fill_null("unreadable")).otherwise(tcp_space),
        number=number.fill_null(0),
        label=pl.when(quic)
        .then(pl.concat_str(space.fill_null("unreadable"), pl.lit(" "), number.fill_null(0).cast(pl.String)))
        .otherwise(pl.concat_str(tcp, pl.lit(" "), number.fill_null(0).cast(pl.String))),
    )
    packets = acknowledged(study, trial_id, packets)
    return packets.with_columns(
        probe=pl.Series(_probes(study, trial_id, packets), dtype=pl.String),
        bytes=pl.col("length_bytes").fill_null(0).cast(pl.Int64),
        sent_ms=(pl.col("sent_ns") - zero_ns) / 1e6,
        arrived_ms=(pl.col("arrived_ns") - zero_ns) / 1e6,
        acknowledged_ms=(pl.col("acknowledged_ns") - zero_ns) / 1e6,
    )


def _segments(study: OpenedStudy, trial_id: str) -> pl.DataFrame:
    """(source, ip_packet) → the flags of a TCP segment that are worth a word."""
    captured = study.trial_table("ip_packets", trial_id)
    schema = {"source": pl.String, "ip_packet": pl.UInt64, "flags": pl.String}
    if captured is None:
        return pl.DataFrame(schema=schema)
    flags = pl.col("tcp_flags").fill_null(0)
    words = [pl.when((flags & mask) == bits).then(pl.lit(word)) for mask, bits, word in _FLAGS]
    return captured.select(
        "source",
        pl.col("number").alias("ip_packet"),
        pl.concat_str(words, separator=" ", ignore_nulls=True).alias("flags"),
    )


def _probes(study: OpenedStudy, trial_id: str, packets: pl.DataFrame) -> list[str]:
    """Reason why each packet is a probe, empty where it is none.

    Its log says so, its end's timer had expired, or it says CRYPTO bytes again though none were held to be lost
    (RFC 9002 section 6.2.4).
    """
    losses = study.trial_table("losses", trial_id)
    why = [""] * packets.height
    again = _says_again(study, trial_id, packets)
    for place, row in enumerate(packets.iter_rows(named=True)):
        trigger = row["trigger"] or ""
        probing = again[place] and not _lost_before(losses, row["sender"], row["sent_ns"])
        if probing or "pto" in trigger or "probe" in trigger:
            why[place] = "probe"
        elif row["retransmission"] or again[place]:
            why[place] = "again"
    for end, instant, slack_ns in _expired(study, trial_id):
        after = (
            place
            for place, (sender, sent) in enumerate(packets.select("sender", "sent_ns").rows())
            if sender == end and sent >= instant - slack_ns - 1_000_000 and sent - instant < 20_000_000
        )
        for first in islice(after, 1):
            why[first] = "probe"
    return why


def _lost_before(losses: pl.DataFrame | None, end: str, instant: int) -> bool:
    if losses is None:
        return False
    declared = losses.filter(
        pl.col("vantage") == end,
        pl.col("time_ns") <= instant,
        pl.col("packet_type").is_in(["initial", "handshake"]),
        pl.col("rule").is_in(["time_threshold", "reordering_threshold"]),
    )
    return bool(declared.height)


def _expired(study: OpenedStudy, trial_id: str) -> list[tuple[str, int, int]]:
    """(end, when its probe or retransmission timer expired, how far that may be off)."""
    found: list[tuple[str, int, int]] = []
    timers, metrics = study.trial_table("timers", trial_id), study.trial_table("transport_metrics", trial_id)
    columns = ("vantage", "time_ns", pl.col("uncertainty_ns").fill_null(0))
    if timers is not None:
        found += (
            timers.filter(pl.col("timer").is_in(["pto", "rto"]) & (pl.col("event") == "expired")).select(columns).rows()
        )
    if metrics is not None and not found:
        counted = metrics.filter(pl.col("pto_count").is_not_null()).sort("time_ns")
        before = pl.col("pto_count").shift(1, fill_value=0).over("source", "connection")
        found += counted.filter(pl.col("pto_count") > before).select(columns).rows()
    return [event for event in found if event[0] is not None]


def _says_again(study: OpenedStudy, trial_id: str, packets: pl.DataFrame) -> list[bool]:
    """True for each QUIC packet that repeats CRYPTO bytes that its end has sent in that space before."""
    frames = study.trial_table("frames", trial_id)
    if frames is None:
        return [False] * packets.height
    key = ["source", "packet_type", "packet_number"]
    crypto = frames.filter((pl.col("frame_type") == "crypto") & (pl.col("event") == "sent")).sort("time_ns")
    seen = pl.int_range(pl.len()).over("source", "connection", "packet_type", "offset", order_by="time_ns") > 0
    again = crypto.with_columns(seen=seen).group_by(key).agg(pl.col("seen").any())
    joined = packets.join(again, on=key, how="left", maintain_order="left", nulls_equal=True)
    return joined["seen"].fill_null(value=False).to_list()


# Instants at which a sender learns that a packet arrived: from an ACK, or implicitly from the next packet space.
_SILENT = ("ack", "padding", "connection_close")
"""Frames that no receiver needs to acknowledge (RFC 9002 section 2)."""
_SPACE = pl.col("packet_type").replace({"0RTT": "1RTT"})
"""0-RTT and 1-RTT packets share a packet number space (RFC 9000 section 12.3)."""


def acknowledged(study: OpenedStudy, trial_id: str, packets: pl.DataFrame) -> pl.DataFrame:
    """Return `packets` (sent ones, of captures) with `acknowledged_ns` and `implicit`."""
    said = _by_ack(study.trial_table("acks", trial_id), packets)
    ends = _keys_discarded(study, trial_id)
    eliciting = _eliciting(study.trial_table("frames", trial_id), packets)
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
    packets = study.trial_table("packets", trial_id)
    if packets is None:
        return {}
    captured = packets.filter(pl.col("ip_packet").is_not_null() & (pl.col("transport") == "quic"))
    handshakes = captured.filter((pl.col("packet_type") == "handshake") & (pl.col("direction") == "up"))
    found: dict[tuple[str, str], int] = {}
    for end, event in (("client", "sent"), ("server", "received")):
        first = handshakes.filter((pl.col("vantage") == end) & (pl.col("event") == event))["time_ns"].min()
        if isinstance(first, int):
            found[end, "initial"] = first
    steps = study.trial_table("handshake", trial_id)
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
