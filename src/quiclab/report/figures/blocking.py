# SPDX-License-Identifier: Apache-2.0
"""Objects of one trial of each arm, and when bytes of theirs that had arrived could not be handed on."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._series import start_ns

_SCHEMA = {
    **dict.fromkeys(("arm", "object", "part", "behind"), pl.String),
    **dict.fromkeys(("connection", "stream_id"), pl.Int64),
    **dict.fromkeys(("begin_ms", "until_ms"), pl.Float64),
    "bytes": pl.Int64,
}
_UNDER_WAY = "under way"
_PARTS = {
    _UNDER_WAY: "asked for and not complete",
    "tls_record": "waits for the rest of a TLS record",
    "own_gap": "waits for its own bytes",
    "qpack": "blocked: waits for QPACK",
    "other_gap": "blocked: waits for others' bytes",
}
"""Parts of a row in the order of drawing, with their names: what is drawn later lies above."""
_BLOCKED = ("other_gap", "qpack")


class Blocking(Figure):
    """A row per object, in the order of the requests: full where bytes of others blocked it, hatched for its own."""

    name = "blocking"
    question = "Which object waits for bytes of another, and for how long?"
    where = Where.PAIR
    tables = ("tables/delivery_waits/*.parquet", "tables/http_requests/*.parquet", "tables/link_packets/*.parquet")
    columns: ClassVar = {
        "arm": "a colour each, the baseline first",
        "connection": "which of the trial's connections, by their first requests",
        "stream_id": "stream of the object",
        "object": "what was asked for",
        "part": "`under way`, from its request to its last byte, or the cause of a wait, as in delivery_waits",
        "begin_ms": "when the part begins, since the client's first packet, ms",
        "until_ms": "when it ends",
        "behind": "of a wait for others' bytes, the object whose bytes ended it",
        "bytes": "of a wait, how many bytes waited",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the objects of each arm and their waits."""
        parts = [pl.DataFrame(schema=_SCHEMA)]
        for arm, trial_id in asked.chosen().trials.items():
            waits, zero_ns = asked.study.trial_table("delivery_waits", trial_id), start_ns(asked.study, trial_id)
            requests = asked.study.trial_table("http_requests", trial_id)
            if waits is None or requests is None or zero_ns is None:
                continue
            objects = _objects(requests, zero_ns)
            own = waits.select(
                pl.col("connection").alias("key"),
                pl.col("stream_id").cast(pl.Int64),
                pl.col("cause").alias("part"),
                pl.coalesce("behind_object", pl.lit("bytes of no object")).alias("behind"),
                pl.col("x_ms").alias("begin_ms"),
                "until_ms",
                "bytes",
            ).join(
                objects.select("key", "stream_id", "connection", "object"),
                on=("key", "stream_id"),
                maintain_order="left",
            )
            under_way = objects.with_columns(part=pl.lit(_UNDER_WAY), behind=None, bytes=None)
            for rows in (under_way, own):
                named = rows.with_columns(arm=pl.lit(arm))
                parts.append(named.select(pl.col(name).cast(dtype) for name, dtype in _SCHEMA.items()))
        return pl.concat(parts)

    def is_worth_showing(self, asked: Asked, data: pl.DataFrame) -> bool:
        """Return whether an object was blocked by others."""
        return data["part"].is_in(_BLOCKED).any()

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per object and per wait."""
        figure = go.Figure()
        rows = data.select("arm", "connection", "stream_id").unique().height
        for arm, style in _style.arms(data):
            label = _style.text(arm)
            own = data.filter(pl.col("arm") == arm)
            asked_for = own.filter(part=_UNDER_WAY).sort("begin_ms")
            streams = asked_for.select("connection", "stream_id").rows()
            titles = (f"{label} {number}: {_style.text(name)}" for number, name in enumerate(asked_for["object"], 1))
            names = dict(zip(streams, titles, strict=True))
            for part, meaning in _PARTS.items():
                waits = own.filter(part=part)
                if waits.is_empty():
                    continue
                figure.add_bar(
                    y=[names[stream] for stream in waits.select("connection", "stream_id").iter_rows()],
                    base=waits["begin_ms"].to_list(),
                    x=(waits["until_ms"] - waits["begin_ms"]).to_list(),
                    orientation="h",
                    name=f"{label}, {meaning}",
                    marker=_marker(part, style.colour) | {"line": {"width": 0}},
                    customdata=[
                        f"{size:,} bytes" + (f" behind {_style.text(behind)}" if part == "other_gap" else "")
                        if size is not None
                        else ""
                        for size, behind in waits.select("bytes", "behind").iter_rows()
                    ],
                    hovertemplate=f"{meaning} %{{x:.5g}} ms from %{{base:.5g}} ms<br>%{{customdata}}"
                    "<extra>%{y}</extra>",
                )
        figure.update_layout(_style.with_legend(130 + 18 * rows), barmode="overlay")
        figure.update_xaxes(
            title={"text": "time since the client's first packet, ms"}, automargin=True, rangemode="tozero"
        )
        figure.update_yaxes(automargin=True, autorange="reversed", type="category")
        return figure


def _marker(part: str, colour: str) -> dict[str, object]:
    if part == _UNDER_WAY:
        return {"color": _style.BLANK}
    if part == "other_gap":
        return {"color": colour}
    shape = {"own_gap": "/", "qpack": "x", "tls_record": "."}[part]
    pattern = {"shape": shape, "fillmode": "overlay", "size": 6, "fgcolor": colour}
    return {"color": _style.pale(colour), "pattern": pattern}


def _objects(requests: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
    """Requests of the client's capture that name a stream, with the number of their connection."""
    told = requests.filter(pl.col("vantage") == "client").drop_nulls(("connection", "stream_id", "last_byte_ns"))
    counts = told.group_by("source").agg(pl.len().alias("rows")).sort("rows", "source", descending=[True, False])
    own = told.filter(source=counts["source"][0]) if counts.height else told
    sent = pl.coalesce("send_start_ns", "time_ns")
    return own.select(
        pl.col("connection").alias("key"),
        sent.min().over("connection").rank("dense").cast(pl.Int64).alias("connection"),
        pl.col("stream_id").cast(pl.Int64),
        pl.col("url").str.extract(r"([^/]*)$").alias("object"),
        ((sent - zero_ns) / 1e6).alias("begin_ms"),
        ((pl.col("last_byte_ns") - zero_ns) / 1e6).alias("until_ms"),
    )
