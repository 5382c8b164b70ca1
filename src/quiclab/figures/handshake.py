# SPDX-License-Identifier: Apache-2.0
"""The handshake by round trips, all arms below each other."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _canvas as go
from quiclab.figures import _style

_STEPS = {
    "TCP": 0,
    "TLS": 1,
    "QUIC and TLS": 2,
    "HelloRetryRequest": 4,
    "Retry": 3,
    "QUIC, 0-RTT": 5,
    "Version Negotiation": 5,
}
"""What a round trip is for → place of its colour."""
_REST = "request and response"
_ROOM = 0.0105
"""Of the whole width, what a letter takes."""


class Handshake:
    """A bar per round trip, with its name in it, and a mark per message: up from the client, down to it."""

    name = "handshake"
    question = "Which round trips pass before the first byte of the response, and what is each of them for?"
    tables = ("tables/handshake/*.parquet", "tables/link_packets/*.parquet", "metrics.parquet")
    columns = {  # noqa: RUF012 - a constant of the class
        "arm": "a row each, the baseline first",
        "step": "what it is for: TCP, TLS, QUIC and TLS, QUIC with 0-RTT, HelloRetryRequest, Retry, or the request",
        "begin_ms": "when it begins, since the client's first packet, ms",
        "end_ms": "when the next one begins; of the last, when the first byte of the response came, ms",
        "messages": "its messages with their instants at the client, a line each",
    }

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per round trip."""
        figure = go.Figure()
        arms = data["arm"].unique(maintain_order=True).to_list()
        reach = float(data["end_ms"].max() or 1.0)  # type: ignore[arg-type]
        for step in (*_STEPS, _REST):
            rounds = data.filter(pl.col("step") == step)
            if not rounds.height:
                continue
            figure.add_bar(
                y=[_style.text(arm) for arm in rounds["arm"]],
                base=rounds["begin_ms"].to_list(),
                x=(rounds["end_ms"] - rounds["begin_ms"]).to_list(),
                orientation="h",
                name=step,
                marker={
                    "color": _style.BLANK if step == _REST else _style.arm_style(_STEPS[step]).colour,
                    "line": {"color": _style.BLANK_TEXT, "width": 1},
                },
                text=[
                    f"{step}<br>{end - begin:.4g} ms" if end - begin > _ROOM * len(step) * reach else ""
                    for begin, end in rounds.select("begin_ms", "end_ms").rows()
                ],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                constraintext="none",
                textfont={"size": 11},
                customdata=[_style.text(messages).replace("\n", "<br>") for messages in rounds["messages"]],
                hovertemplate="%{base:.5g} ms, for %{x:.5g} ms<br>%{customdata}<extra>%{y}, " + step + "</extra>",
            )
        figure.update_layout(_style.with_legend(110 + 58 * len(arms)), barmode="overlay", bargap=0.3)
        figure.update_xaxes(
            title={"text": "time since the client's first packet, ms"}, automargin=True, rangemode="tozero"
        )
        figure.update_yaxes(
            automargin=True, type="category", categoryarray=[_style.text(arm) for arm in arms], autorange="reversed"
        )
        return figure
