# SPDX-License-Identifier: Apache-2.0
"""Bytes of a page by resource type and by the protocol that brought them (Yu and Benson 2021, Table 3)."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_SCHEMA = {
    **dict.fromkeys(("arm", "resource_type", "protocol"), pl.String),
    **dict.fromkeys(("bytes", "requests"), pl.Int64),
}


class PageBytes(Figure):
    """A bar per type and arm, divided by protocol."""

    name = "page_bytes"
    question = (
        "Which protocol brings which part of a page: do styles and scripts really use the one that was asked for?"
    )
    where = Where.PAIR
    tables = ("tables/http_requests/*.parquet", "tables/page_events/*.parquet")
    columns: ClassVar = {
        "arm": "a bar each, the baseline first",
        "resource_type": "the browser's word: `Document`, `Script`, …",
        "protocol": "`HTTP/1.1`, `HTTP/2` or `HTTP/3`",
        "bytes": "body bytes of the responses",
        "requests": "how many responses",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return body bytes of the page's responses by the browser's word for the type and by protocol."""
        parts = [pl.DataFrame(schema=_SCHEMA)]
        for arm, trial_id in asked.chosen().trials.items():
            rows = asked.study.trial_table("http_requests", trial_id)
            began_ns = _navigation_ns(asked.study, trial_id)
            if rows is None or began_ns is None:
                continue
            told = pl.col("resource_type").is_not_null() & pl.col("http_version").is_not_null()
            bodies = rows.filter(told & (pl.col("time_ns") >= began_ns) & (pl.col("response_body_bytes") > 0))
            summed = bodies.group_by("resource_type", pl.col("http_version").alias("protocol")).agg(
                pl.col("response_body_bytes").sum().alias("bytes"), pl.len().alias("requests")
            )
            ordered = summed.with_columns(pl.lit(arm).alias("arm")).sort("resource_type", "protocol")
            parts.append(ordered.select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items()))
        return pl.concat(parts)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per arm, type and protocol."""
        figure = go.Figure()
        whole = pl.col("bytes").sum().over("arm", "resource_type").alias("whole")
        data = data.with_columns(whole, pl.col("arm").cast(pl.String))
        kinds = data["resource_type"].unique().sort().to_list()
        arms = data["arm"].unique(maintain_order=True).to_list()
        order = pl.DataFrame({"resource_type": [k for k in kinds for _ in arms], "arm": arms * len(kinds)})
        for protocol in data["protocol"].unique().sort().to_list():
            bars = order.join(
                data.filter(pl.col("protocol") == protocol), on=["resource_type", "arm"], how="left",
                maintain_order="left",
            )  # fmt: skip
            style = _style.protocol_style(protocol)
            figure.add_bar(
                y=[[_style.text(kind) for kind in bars["resource_type"]], [_style.text(arm) for arm in bars["arm"]]],
                x=[size / 1000 if size is not None else None for size in bars["bytes"]],
                orientation="h",
                name=_style.text(protocol),
                marker={"color": style.colour, "pattern": {"shape": style.pattern, "fillmode": "overlay"}},
                customdata=[
                    (row["requests"], 100 * row["bytes"] / row["whole"]) if row["bytes"] is not None else (0, 0)
                    for row in bars.iter_rows(named=True)
                ],
                hovertemplate="%{x:,.4g} KB, %{customdata[1]:.0f} % of the type, %{customdata[0]} responses"
                f"<extra>%{{y}}: {_style.text(protocol)}</extra>",
            )
        totals = order.join(data, on=["resource_type", "arm"], how="inner", maintain_order="left")
        shares = totals.group_by("resource_type", "arm", "whole", maintain_order=True).agg(
            (100 * pl.col("bytes").filter(pl.col("protocol") == "HTTP/3").sum() / pl.col("whole").first()).alias("h3")
        )
        figure.add_scatter(
            y=[[_style.text(kind) for kind in shares["resource_type"]], [_style.text(arm) for arm in shares["arm"]]],
            x=[whole / 1000 for whole in shares["whole"]],
            mode="text",
            text=[f" {share:.0f} % HTTP/3" for share in shares["h3"]],
            textposition="middle right",
            cliponaxis=False,
            showlegend=False,
            hoverinfo="skip",
        )
        figure.update_layout(_style.with_legend(110 + 30 * order.height), barmode="stack", bargap=0.25)
        figure.update_layout(legend={"traceorder": "normal"})
        most = float(shares["whole"].max() or 1.0) / 1000  # type: ignore[arg-type]
        figure.update_xaxes(title={"text": "bytes of bodies, KB"}, range=[0, most * 1.2], automargin=True)
        figure.update_yaxes(autorange="reversed", automargin=True, showgrid=False)
        return figure


def _navigation_ns(study: OpenedStudy, trial_id: str) -> int | None:
    """Instant at which the browser went to the page, after any page before it."""
    events = study.trial_table("page_events", trial_id)
    if events is None:
        return None
    last = events.filter(pl.col("name") == "navigationStart")["time_ns"].max()
    return last if isinstance(last, int) else None
