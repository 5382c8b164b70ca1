# SPDX-License-Identifier: Apache-2.0
"""The critical path on the page of a pair: its sums, its longest waits, and the packets behind every stretch of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.model import number_text
from quiclab.report.figures import FURTHER, reason_colour
from quiclab.report.page.column_packing import column
from quiclab.why.account import PLAYING, UNIONS, What, Why, laid_out, spells

_LONGEST = 8
"""Waits of each trial that the page lists, beside the longest one of each reason."""


@dataclass(frozen=True)
class Sum:
    """The time of one reason in each trial."""

    anchors: tuple[str, ...]
    """Labels that a link can lead to: the reason's, and those of unions that are counted first with it."""
    heading: str
    definition: str
    colour: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Wait:
    """One of the longest stretches in which the bottleneck served nothing."""

    arm: str
    band: int
    spell: int
    """Place among the spells of its trial."""
    from_ms: str
    length_ms: str
    heading: str
    colour: str
    what: str
    evidence: str
    packets: str
    """The packets at its ends: `up 17, down 30`."""


@dataclass(frozen=True)
class CriticalPath:
    """Texts that a page shows beside the timeline."""

    arms: tuple[str, ...]
    sums: tuple[Sum, ...]
    absent: tuple[str, ...]
    """Labels without time in these trials: links to them lead to the table."""
    waits: tuple[Wait, ...]
    data: Mapping[str, object]
    """Edges and packets of each arm, packed."""


def critical_path(study: OpenedStudy, trials: Mapping[str, str], metric: str) -> CriticalPath | None:
    """The critical path of one trial of each arm, of the time that a metric is of; None where none has an account."""
    tables = {arm: study.trial_table("account", trial) for arm, trial in trials.items()}
    accounts = {arm: laid_out(table, metric) for arm, table in tables.items() if table is not None}
    known = {arm: account for arm, account in accounts.items() if account.height}
    if not known:
        return None
    sums, absent = _sums(known)
    waits = [wait for band, (arm, account) in enumerate(known.items()) for wait in _waits(band, arm, account)]
    data = {
        "arms": [
            {
                "arm": arm,
                "way": _way(account),
                "links": _links(study, trials[arm]),
                "edges": _edges(account, _links(study, trials[arm])),
                "packets": packets_behind(study, trials[arm], account),
            }
            for arm, account in known.items()
        ],
        "definitions": {**{str(why): why.definition for why in Why}, PLAYING: "The video plays."},
        "meanings": {str(what): what.meaning for what in What},
    }
    return CriticalPath(tuple(known), sums, absent, tuple(waits), data)


def _sums(accounts: Mapping[str, pl.DataFrame]) -> tuple[tuple[Sum, ...], tuple[str, ...]]:
    length = (pl.col("until_ns") - pl.col("from_ns")).sum() / 1e6
    by_arm = [dict(each.group_by("why").agg(length).iter_rows()) for each in accounts.values()]
    present = [why for why in Why if any(str(why) in each for each in by_arm)]
    anchors: dict[Why, list[str]] = {why: [str(why)] for why in present}
    absent = [str(why) for why in Why if why not in anchors]
    for union in [union for union in UNIONS if union not in anchors]:
        first = next((why for why in present if why in UNIONS[union]), None)
        if first is not None:
            anchors[first].append(str(union))
            absent.remove(str(union))
    rows = [
        Sum(
            tuple(anchors[why]), why.heading, why.definition, reason_colour(str(why)),
            tuple(_ms(each[str(why)]) if str(why) in each else "–" for each in by_arm),
        )
        for why in present
    ]  # fmt: skip
    return tuple(rows), tuple(absent)


def _ms(value: float) -> str:
    return number_text.quantity(value, "ms")


def _waits(band: int, arm: str, account: pl.DataFrame) -> list[Wait]:
    zero_ns = int(account["from_ns"][0])
    found = spells(account).with_row_index("spell").with_columns(length=pl.col("until_ns") - pl.col("from_ns"))
    waits = found.filter(~pl.col("why").is_in([str(Why.LINK_BUSY), PLAYING])).sort(
        "length", "spell", descending=[True, False]
    )
    longest = pl.concat([waits.head(_LONGEST), waits.unique("why", keep="first", maintain_order=True)]).unique("spell")
    return [
        Wait(
            arm, band, row["spell"], f"{(row['from_ns'] - zero_ns) / 1e6:.2f}", f"{row['length'] / 1e6:.2f}",
            Why(row["why"]).heading, reason_colour(row["why"]), row["what"].replace("_", " "), row["evidence"],
            _packet_names(account.slice(row["edge"], row["edges"]), row["event_packet"], _way(account)),
        )
        for row in longest.sort("from_ns").iter_rows(named=True)
    ]  # fmt: skip


def _packet_names(edges: pl.DataFrame, lost: int | None, way: str) -> str:
    known = (
        edges.drop_nulls(("direction", "packet_index")).select("direction", "packet_index").unique(maintain_order=True)
    )
    names = [f"{direction} {index}" for direction, index in known.iter_rows()]
    if len(names) > 4:
        names = [*names[:2], "…", *names[-2:]]
    return ", ".join(names) + (f"; lost: {way} {lost}" if lost is not None else "")


def _links(study: OpenedStudy, trial_id: str) -> list[str]:
    log = study.trial_table("link_packets", trial_id)
    return [] if log is None else links(log)


def _way(account: pl.DataFrame) -> str:
    """Direction of the bodies: that of most packets that the bottleneck served."""
    served = account.drop_nulls(("packets", "direction")).group_by("direction").agg(pl.col("packets").sum())
    return str(served.sort("packets")["direction"][-1]) if served.height else "down"


def _edges(account: pl.DataFrame, known: list[str]) -> dict[str, object]:
    """Columns of the edges for the page's script: instants in µs since the first one, links by their places."""
    zero_ns = int(account["from_ns"][0])
    columns: dict[str, list[Any]] = {
        name: account[name].to_list()
        for name in ("what", "why", "evidence", "direction", "packet_index", "packets", "event_packet")
    }
    columns["until"] = ((account["until_ns"] - zero_ns) // 1000).to_list()
    columns["event"] = ((account["event_ns"] - zero_ns) // 1000).to_list()
    logs = account["link"].to_list() if "link" in account.columns else [None] * account.height
    columns["link"] = [known.index(log) if log in known else 0 for log in logs]
    return {"points": account.height, **{name: column(values) for name, values in columns.items()}}


# The packets of one transfer as its page lists them: what each carries, and where it was when.
PACKET_TYPES = {"initial": "Initial", "handshake": "Handshake", "0RTT": "0-RTT", "1RTT": "1-RTT", "retry": "Retry"}
"""Types of QUIC packets in tables → RFC 9000's names."""
_SYN, _FIN, _RST = 0b10, 0b1, 0b100
_KEY = ("direction", "index", "link")


def packets_behind(study: OpenedStudy, trial_id: str, account: pl.DataFrame) -> dict[str, object]:
    """Columns of a trial's packets, packed, in the order in which they came to the link; instants in µs since its
    account begins. Those that came after its end are left out."""
    log = study.trial_table("link_packets", trial_id)
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
    captured = study.trial_table("ip_packets", trial_id)
    if captured is None:
        return pl.DataFrame(schema=schema)
    own = captured.filter(pl.col("vantage") == end).drop_nulls("packet_index")
    return own.group_by("direction", pl.col("packet_index").cast(pl.Int64).alias("index")).agg(
        (pl.col("number").min().cast(pl.Int64) + 1).alias(end)
    )


def segment_kind(flags: pl.Expr, payload_bytes: pl.Expr) -> pl.Expr:
    """Kind of a TCP segment by its flags, its payload and the column `direction`: `SYN`, `SYN-ACK`, `data`, `ACK`."""
    syn = pl.when(pl.col("direction") == "up").then(pl.lit("SYN")).otherwise(pl.lit("SYN-ACK"))
    return (
        pl.when((flags & _SYN) != 0).then(syn)
        .when((flags & _RST) != 0).then(pl.lit("RST"))
        .when((flags & _FIN) != 0).then(pl.lit("FIN"))
        .when(payload_bytes > 0).then(pl.lit("data"))
        .otherwise(pl.lit("ACK"))
    )  # fmt: skip


def _labels(study: OpenedStudy, trial_id: str) -> pl.DataFrame:
    """(direction, index) → `1-RTT 17`, or of TCP `data 14481`, by the capture of the end that sent it."""
    packets, captured = study.trial_table("packets", trial_id), study.trial_table("ip_packets", trial_id)
    if packets is None or captured is None:
        return pl.DataFrame(schema={"direction": pl.String, "index": pl.Int64, "label": pl.String})
    sender = pl.when(pl.col("direction") == "up").then(pl.lit("client")).otherwise(pl.lit("server"))
    own = packets.filter(pl.col("vantage") == sender, pl.col("event") == "sent").drop_nulls("packet_index")
    captures = own.filter(pl.col("ip_packet").is_not_null())
    own = captures if captures.height else own
    flags = captured.select("source", pl.col("number").alias("ip_packet"), pl.col("tcp_flags").fill_null(0))
    own = own.join(flags, on=["source", "ip_packet"], how="left", maintain_order="left")
    number = pl.col("packet_number").cast(pl.String).fill_null("")
    tcp = segment_kind(pl.col("tcp_flags").fill_null(0), pl.col("length_bytes"))
    quic = pl.col("packet_type").replace(PACKET_TYPES).fill_null("unreadable")
    name = pl.when(pl.col("transport") == "quic").then(quic).otherwise(tcp)
    again = pl.when(pl.col("retransmission")).then(pl.lit(" (again)")).otherwise(pl.lit(""))
    return own.group_by("direction", pl.col("packet_index").cast(pl.Int64).alias("index"), maintain_order=True).agg(
        pl.concat_str(name, pl.lit(" "), number, again).unique(maintain_order=True).str.join(" + ").alias("label")
    )
