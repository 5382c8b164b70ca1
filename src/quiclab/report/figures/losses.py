# SPDX-License-Identifier: Apache-2.0
"""Loss and reordering as the link did them, against what each side believed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.model.tables.drop_reasons import CORRUPTED, DropKind, reasons_of
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._series import best_source, start_ns, transfer_rows

LANES_BY_KIND = {
    DropKind.LOSS: "link: lost", DropKind.BLOCK: "link: blocked", DropKind.POLICER: "link: policed",
    DropKind.SIZE: "link: above the size that passes", DropKind.NAT: "link: no mapping of the NAT",
    DropKind.QUEUE: "link: queue full", DropKind.AQM: "link: dropped by AQM", DropKind.CORRUPTION: "link: corrupted",
}  # fmt: skip
"""Lane of what the link dropped, by what took it."""
_ALWAYS = (DropKind.LOSS, DropKind.QUEUE)
"""Kinds whose lanes are shown even where nothing was dropped for them."""
_LANES = (
    *LANES_BY_KIND.values(), "link: overtaken", "client: saw a gap", "client: received twice",
    "sender: declared lost", "sender: declared lost, but had arrived", "sender (estimate): declared lost",
    "sender (estimate): declared lost, but had arrived",
)  # fmt: skip
"""Lanes of an arm from top to bottom: first what caused a loss, last what the sender made of it."""

_FRAME_PX, _LANE_PX = 66, 34
_WORDS_PX = 15
"""Middle of a lane's words above that of its marks: words beside the lanes have no room on a phone."""
_SCHEMA = {"arm": pl.String, "lane": pl.String, "x_ms": pl.Float64, "told": pl.String}


class Losses(Figure):
    """A lane per arm and kind of event, with its count; a mark for each event on the way towards the client."""

    name = "losses"
    question = "Which losses did the link cause, and which did the client and the sender only assume?"
    where = Where.PAIR
    tables = ("tables/link_packets/*.parquet", "tables/losses/*.parquet", "tables/acks/*.parquet")
    columns: ClassVar = {
        "arm": "a colour each, the baseline first",
        "lane": "what happened, and who says so; a lane without an event has one row without a time",
        "x_ms": "when, since the client's first packet, ms",
        "told": "what is known of the event",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return one row per event; a kind that could have been seen and did not occur has a row without a time."""
        parts = [pl.DataFrame(schema=_SCHEMA)]
        for arm, trial_id in asked.chosen().trials.items():
            zero_ns = start_ns(asked.study, trial_id)
            if zero_ns is None:
                continue
            for lane, events in _lanes(asked.study, trial_id, zero_ns):
                rows = events.select(
                    pl.lit(arm).alias("arm"), pl.lit(lane).alias("lane"),
                    ((pl.col("time_ns") - zero_ns) / 1e6).alias("x_ms"), "told",
                ).filter(pl.col("x_ms") >= 0)  # fmt: skip
                nothing = pl.DataFrame([{"arm": arm, "lane": lane, "x_ms": None, "told": "none"}], schema=_SCHEMA)
                parts.append(rows.cast(_SCHEMA) if rows.height else nothing)  # type: ignore[arg-type]
        return pl.concat(parts)

    def is_worth_showing(self, asked: Asked, data: pl.DataFrame) -> bool:
        """Return whether something was lost or overtaken, or taken for lost."""
        return data["x_ms"].null_count() < data.height

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per event."""
        figure = go.Figure()
        order: dict[str, str] = {}
        for arm, style in _style.arms(data):
            own = data.filter(pl.col("arm") == arm)
            lanes = [lane for lane in _LANES if lane in set(own["lane"])]
            names = {}
            for number, lane in enumerate(lanes):
                count = own.filter(pl.col("lane") == lane)["x_ms"].drop_nulls().len()
                head = f"{_style.arm_name(arm, style)}, " if number == 0 else ""
                names[lane] = f"{_style.text(arm)}, {_style.text(lane)}"
                order[names[lane]] = f"{head}{_style.text(lane)} ({count})"
            figure.add_scatter(
                x=own["x_ms"].to_list(),
                y=[names[lane] for lane in own["lane"]],
                mode="markers",
                name=_style.text(arm),
                marker={"symbol": "line-ns-open", "size": 12, "color": style.colour, "line": {"width": 2}},
                customdata=[_style.text(told) for told in own["told"]],
                hovertemplate="%{x:.5g} ms: %{customdata}<extra>%{y}</extra>",
            )
        figure.update_layout(_style.base_layout(_FRAME_PX + _LANE_PX * len(order)))
        figure.update_xaxes(
            title={"text": "time since the client's first packet, ms"}, automargin=True, rangemode="tozero"
        )
        figure.update_yaxes(
            showticklabels=False, type="category", categoryarray=list(order), categoryorder="array", autorange=False,
            range=[len(order) - 0.5, -0.5], fixedrange=True,
        )  # fmt: skip
        for name, words in order.items():
            figure.add_annotation(
                x=0, xref="paper", xanchor="left", y=name, yref="y", yanchor="middle", yshift=_WORDS_PX, text=words,
                showarrow=False, align="left", font={"size": 11},
            )  # fmt: skip
        return figure


def _lanes(study: OpenedStudy, trial_id: str, zero_ns: int) -> Iterator[tuple[str, pl.DataFrame]]:
    log = study.trial_table("link_packets", trial_id)
    if log is not None:
        yield from _by_link(log.filter((pl.col("direction") == "down") & (pl.col("action") != "outside_model")))
    acks = study.trial_table("acks", trial_id)
    if acks is not None:
        yield from _by_client(transfer_rows(acks.filter(vantage="client", event="sent", direction="up"), zero_ns))
    packets, declared = study.trial_table("packets", trial_id), study.trial_table("losses", trial_id)
    if packets is not None and packets.height and declared is not None:
        own = transfer_rows(declared.filter(vantage="server", direction="down"), zero_ns)
        yield from _by_sender(own)


def _by_link(log: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    reason = pl.when(pl.col("action") == "dropped").then(pl.col("reason")).when("corrupted").then(pl.lit(CORRUPTED))
    lost = log.with_columns(reason=reason).drop_nulls("reason")
    lost = lost.with_columns(
        time_ns=pl.col("arrival_ns"),
        told=pl.concat_str(pl.lit("packet "), pl.col("index").cast(pl.String), pl.lit(", "), pl.col("reason")),
    )
    for kind, lane in LANES_BY_KIND.items():
        events = lost.filter(pl.col("reason").is_in(reasons_of(kind)))
        if events.height or kind in _ALWAYS:
            yield lane, events
    left = log.filter((pl.col("action") == "delivered") & ~pl.col("duplicate")).with_columns(
        time_ns=pl.col("due_ns") + pl.col("lateness_ns").fill_null(0)
    )
    late = left.sort("time_ns").filter((pl.col("index") < pl.col("index").cum_max()).over("source"))
    yield "link: overtaken", late.with_columns(told=pl.concat_str(pl.lit("packet "), pl.col("index").cast(pl.String)))


def _by_client(acks: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """A gap is first told by an ACK that acknowledges more than what it follows on: a second range, or SACK."""
    source = acks.group_by("source").agg(pl.len().alias("rows")).sort("rows", "source", descending=[True, False])
    acks = acks.filter(pl.col("source") == source["source"][0]) if source.height else acks
    space = pl.col("packet_type").replace({"0RTT": "1RTT"}).fill_null("")
    ranges = acks.filter(pl.col("kind").is_in(["ack", "sack"])).with_columns(space=space).sort("time_ns")
    # Of QUIC the highest range comes first and all ranges stand in one packet; each gap's upper end is new once.
    many = pl.len().over("connection", "space", "packet_number", "time_ns") > 1
    quic = ranges.filter((pl.col("kind") == "ack") & many).filter(
        pl.col("first") > pl.col("first").min().over("connection", "space", "packet_number", "time_ns")
    )
    gaps = pl.concat([quic, ranges.filter(pl.col("kind") == "sack")]).sort("time_ns")
    gaps = gaps.unique(["connection", "space", "first"], keep="first", maintain_order=True)
    yield "client: saw a gap", gaps.with_columns(told=pl.concat_str(pl.lit("before "), pl.col("first").cast(pl.String)))
    twice = acks.filter(pl.col("kind") == "dsack")
    if "tcp" in set(acks["transport"]):
        yield (
            "client: received twice",
            twice.with_columns(told=pl.concat_str(pl.lit("from "), pl.col("first").cast(pl.String))),
        )


def _by_sender(declared: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    source = best_source(declared)
    own = declared.filter(pl.col("source") == source[0]) if source else declared
    who = "sender (estimate)" if source and source[1] else "sender"
    parts = (pl.lit("packet "), pl.col("packet_number").cast(pl.String), pl.lit(", "), pl.col("rule").fill_null(""))
    own = own.with_columns(told=pl.concat_str(parts))
    yield f"{who}: declared lost", own
    yield f"{who}: declared lost, but had arrived", own.filter(pl.col("spurious").fill_null(value=False))
