# SPDX-License-Identifier: Apache-2.0
"""The critical path on the page of a pair: its sums, its longest waits, and the packets behind every stretch of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.model import number_text
from quiclab.report.figures import reason_colour
from quiclab.report.page.column_packing import column
from quiclab.report.page.packets_behind import links, packets_behind
from quiclab.why.account import PLAYING, UNIONS, What, Why, laid_out, reason_runs

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
    """What a page shows beside the timeline."""

    arms: tuple[str, ...]
    sums: tuple[Sum, ...]
    absent: tuple[str, ...]
    """Labels without time in these trials: links to them lead to the table."""
    waits: tuple[Wait, ...]
    data: Mapping[str, Any]
    """Edges and packets of each arm, packed."""


def critical_path(study: OpenedStudy, trials: Mapping[str, str], metric: str) -> CriticalPath | None:
    """The critical path of one trial of each arm, of the time that a metric is of; None where none has an account."""
    tables = {arm: study.of_trial("account", trial) for arm, trial in trials.items()}
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
    found = reason_runs(account).with_row_index("spell").with_columns(length=pl.col("until_ns") - pl.col("from_ns"))
    waits = found.filter(~pl.col("why").is_in([str(Why.LINK_BUSY), PLAYING])).sort(
        "length", "spell", descending=[True, False]
    )
    longest = pl.concat([waits.head(_LONGEST), waits.unique("why", keep="first", maintain_order=True)]).unique("spell")
    return [
        Wait(
            arm, band, row["spell"], f"{(row['from_ns'] - zero_ns) / 1e6:.2f}", f"{row['length'] / 1e6:.2f}",
            Why(row["why"]).heading, reason_colour(row["why"]), row["what"].replace("_", " "), row["evidence"],
            _named(account.slice(row["edge"], row["edges"]), row["event_packet"], _way(account)),
        )
        for row in longest.sort("from_ns").iter_rows(named=True)
    ]  # fmt: skip


def _named(edges: pl.DataFrame, lost: int | None, way: str) -> str:
    known = (
        edges.drop_nulls(("direction", "packet_index")).select("direction", "packet_index").unique(maintain_order=True)
    )
    names = [f"{direction} {index}" for direction, index in known.iter_rows()]
    if len(names) > 4:
        names = [*names[:2], "…", *names[-2:]]
    return ", ".join(names) + (f"; lost: {way} {lost}" if lost is not None else "")


def _links(study: OpenedStudy, trial_id: str) -> list[str]:
    log = study.of_trial("link_packets", trial_id)
    return [] if log is None else links(log)


def _way(account: pl.DataFrame) -> str:
    """Direction of the bodies: that of most packets that the bottleneck served."""
    served = account.drop_nulls(("packets", "direction")).group_by("direction").agg(pl.col("packets").sum())
    return str(served.sort("packets")["direction"][-1]) if served.height else "down"


def _edges(account: pl.DataFrame, known: list[str]) -> dict[str, Any]:
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
