# SPDX-License-Identifier: Apache-2.0
"""The packets of one transfer as its page lists them: what each carries, and where it was when."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.report.figures import FURTHER
from quiclab.report.page.column_packing import column

_SPACES = {"initial": "Initial", "handshake": "Handshake", "0RTT": "0-RTT", "1RTT": "1-RTT", "retry": "Retry"}
_SYN, _FIN, _RST = 0b10, 0b1, 0b100
_KEY = ("direction", "index", "link")


def packets_behind(study: OpenedStudy, trial_id: str, account: pl.DataFrame) -> dict[str, Any]:
    """Columns of a trial's packets, packed, in the order in which they came to the link; instants in µs since its
    account begins. Those that came after its end are left out."""
    log = study.of_trial("link_packets", trial_id)
    if log is None:
        return {"points": 0}
    zero_ns, end_ns = int(account["from_ns"][0]), int(account["until_ns"][-1])
    rows = log.filter(pl.col("action") != "outside_model", pl.col("arrival_ns").is_between(zero_ns, end_ns))
    sources = links(log)
    place = pl.col("source").fill_null("").replace_strict(sources, range(len(sources)), return_dtype=pl.Int64)
    rows = rows.select(
        pl.col("direction"),
        place.alias("link"),
        pl.col("index").cast(pl.Int64),
        pl.col("size_bytes").cast(pl.Int64).alias("bytes"),
        ((pl.col("arrival_ns") - zero_ns) // 1000).alias("came"),
        ((pl.col("left_ns") - zero_ns) // 1000).alias("left"),
        pl.when(pl.col("action") == "delivered")
        .then((pl.col("due_ns") + pl.col("lateness_ns") - zero_ns) // 1000)
        .alias("arrived"),
    ).sort("came", maintain_order=True)
    # Each end captures the link that it is at: of several in a row the first and the last.
    in_a_row = all(re.search(FURTHER, source) for source in sources[1:])
    at_end = {"client": 0, "server": len(sources) - 1}
    for end, link in at_end.items():
        known = _numbers(study, trial_id, end).with_columns(pl.lit(link, pl.Int64).alias("link"))
        rows = rows.join(known if in_a_row else known.clear(), on=_KEY, how="left", maintain_order="left")
    sender = pl.when(pl.col("direction") == "up").then(at_end["client"]).otherwise(at_end["server"])
    labels = _labels(study, trial_id).with_columns(sender.cast(pl.Int64).alias("link"))
    rows = rows.join(labels if in_a_row else labels.clear(), on=_KEY, how="left", maintain_order="left")
    columns = {name: column(rows[name].to_list()) for name in rows.columns}
    return {"points": rows.height, **columns}


def links(log: pl.DataFrame) -> list[str]:
    """Logs of a trial's links, the client's first."""

    def number(source: str) -> int:
        further = re.search(FURTHER, source)
        return int(further[2]) if further else 1

    return sorted(log["source"].fill_null("").unique().sort().to_list(), key=number)


def _numbers(study: OpenedStudy, trial_id: str, end: str) -> pl.DataFrame:
    """(direction, index) → place of the packet in the capture of an end, from 1, as Wireshark counts."""
    schema = {"direction": pl.String, "index": pl.Int64, end: pl.Int64}
    captured = study.of_trial("ip_packets", trial_id)
    if captured is None:
        return pl.DataFrame(schema=schema)
    own = captured.filter(pl.col("vantage") == end).drop_nulls("packet_index")
    return own.group_by("direction", pl.col("packet_index").cast(pl.Int64).alias("index")).agg(
        (pl.col("number").min().cast(pl.Int64) + 1).alias(end)
    )


def _labels(study: OpenedStudy, trial_id: str) -> pl.DataFrame:
    """(direction, index) → `1-RTT 17`, or of TCP `data 14481`, by the capture of the end that sent it."""
    packets, captured = study.of_trial("packets", trial_id), study.of_trial("ip_packets", trial_id)
    if packets is None or captured is None:
        return pl.DataFrame(schema={"direction": pl.String, "index": pl.Int64, "label": pl.String})
    sender = pl.when(pl.col("direction") == "up").then(pl.lit("client")).otherwise(pl.lit("server"))
    own = packets.filter(pl.col("vantage") == sender, pl.col("event") == "sent").drop_nulls("packet_index")
    captures = own.filter(pl.col("ip_packet").is_not_null())
    own = captures if captures.height else own
    flags = captured.select("source", pl.col("number").alias("ip_packet"), pl.col("tcp_flags").fill_null(0))
    own = own.join(flags, on=["source", "ip_packet"], how="left", maintain_order="left")
    number = pl.col("packet_number").cast(pl.String).fill_null("")
    bits = pl.col("tcp_flags").fill_null(0)
    syn = pl.when(pl.col("direction") == "up").then(pl.lit("SYN")).otherwise(pl.lit("SYN-ACK"))
    tcp = (
        pl.when((bits & _SYN) != 0).then(syn)
        .when((bits & _RST) != 0).then(pl.lit("RST"))
        .when((bits & _FIN) != 0).then(pl.lit("FIN"))
        .when(pl.col("length_bytes") > 0).then(pl.lit("data"))
        .otherwise(pl.lit("ACK"))
    )  # fmt: skip
    quic = pl.col("packet_type").replace(_SPACES).fill_null("unreadable")
    name = pl.when(pl.col("transport") == "quic").then(quic).otherwise(tcp)
    again = pl.when(pl.col("retransmission")).then(pl.lit(" (again)")).otherwise(pl.lit(""))
    return own.group_by("direction", pl.col("packet_index").cast(pl.Int64).alias("index"), maintain_order=True).agg(
        pl.concat_str(name, pl.lit(" "), number, again).unique(maintain_order=True).str.join(" + ").alias("label")
    )
