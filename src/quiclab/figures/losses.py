# SPDX-License-Identifier: Apache-2.0
"""Loss and reordering as the link did them, against what each side believed."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _canvas as go
from quiclab.figures import _style

_LANES = (
    "link: lost", "link: queue full", "link: overtaken", "client: saw a gap", "client: came twice",
    "sender: held to be lost", "sender: wrongly so", "sender, estimated: held to be lost",
    "sender, estimated: wrongly so",
)  # fmt: skip
"""From the cause to what was made of it."""


class Losses:
    """A lane per arm and kind of event, with its count; a mark for each event on the way towards the client."""

    name = "losses"
    question = "Which losses did the link cause, and which ones did client and sender only believe in?"
    tables = ("tables/link_packets/*.parquet", "tables/losses/*.parquet", "tables/acks/*.parquet")
    columns = {  # noqa: RUF012 - a constant of the class
        "arm": "a colour each, the baseline first",
        "lane": "what happened, and who says so; a lane without an event has one row without a time",
        "x_ms": "when, since the client's first packet, ms",
        "told": "what is known of the event",
    }

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per event."""
        figure = go.Figure()
        order: list[str] = []
        for place, arm in enumerate(data["arm"].unique(maintain_order=True).to_list()):
            style, own = _style.arm_style(place), data.filter(pl.col("arm") == arm)
            lanes = [lane for lane in _LANES if lane in set(own["lane"])]
            names = {}
            for number, lane in enumerate(lanes):
                count = own.filter(pl.col("lane") == lane)["x_ms"].drop_nulls().len()
                head = f"<b>{_style.text(arm)}</b>, " if number == 0 else "\u200b" * (place + 1)
                names[lane] = f"{head}{_style.text(lane)} ({count})"
            order += names.values()
            figure.add_scatter(
                x=own["x_ms"].to_list(),
                y=[names[lane] for lane in own["lane"]],
                mode="markers",
                name=_style.text(arm),
                marker={"symbol": "line-ns-open", "size": 12, "color": style.colour, "line": {"width": 2}},
                customdata=[_style.text(told) for told in own["told"]],
                hovertemplate="%{x:.5g} ms: %{customdata}<extra>%{y}</extra>",
            )
        figure.update_layout(_style.base_layout(80 + 24 * len(order)))
        figure.update_xaxes(
            title={"text": "time since the client's first packet, ms"}, automargin=True, rangemode="tozero"
        )
        figure.update_yaxes(
            automargin=True, type="category", categoryarray=order, categoryorder="array", autorange=False,
            range=[len(order) - 0.5, -0.5], tickfont={"size": 11},
        )  # fmt: skip
        return figure
