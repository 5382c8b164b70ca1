# SPDX-License-Identifier: Apache-2.0
"""The requests of one trial of each arm: waiting, then receiving (Benoit and Holland 2020, Figure 8)."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._series import start_ns

_NAME = 32
"""Characters of a URL's path that fit beside the bars; its end tells more than its beginning."""

_SCHEMA = {
    **dict.fromkeys(("arm", "url"), pl.String),
    **dict.fromkeys(("sent_ms", "first_byte_ms", "last_byte_ms"), pl.Float64),
}


class Waterfall(Figure):
    """A bar per request, in the order of the first bytes; pale while it waits, full while it receives."""

    name = "waterfall"
    question = "Which request waits for what, and which one ends last?"
    where = Where.PAIR
    tables = ("tables/http_requests/*.parquet", "tables/link_packets/*.parquet")
    columns: ClassVar = {
        "arm": "a colour each, the baseline first",
        "url": "what was asked for",
        "sent_ms": "when the request was sent, since the client's first packet, ms",
        "first_byte_ms": "when its first byte came; null where none did",
        "last_byte_ms": "when its last byte came; null where it did not",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return every request by the source at the client's end that tells of most last bytes.

        For a page that is its browser's trace: the browser asks for things of its own too.
        """
        parts = [pl.DataFrame(schema=_SCHEMA)]
        for arm, trial_id in asked.chosen().trials.items():
            rows, zero_ns = asked.study.trial_table("http_requests", trial_id), start_ns(asked.study, trial_id)
            if rows is None or zero_ns is None:
                continue
            rows = rows.filter((pl.col("vantage") == "client") & pl.col("url").is_not_null())
            told = (
                rows.group_by("source")
                .agg(pl.col("last_byte_ns").count().alias("told"), pl.col("resource_type").count().alias("typed"))
                .sort("told", "typed", "source", descending=[True, True, False])
            )
            if told.height:
                sent = pl.coalesce("send_start_ns", "time_ns")
                parts.append(
                    rows.filter(source=told["source"][0]).select(
                        pl.lit(arm).alias("arm"),
                        pl.col("url").str.extract(r"^[a-z]+://[^/]*(/.*)$").fill_null(pl.col("url")),
                        *(
                            ((instant - zero_ns) / 1e6).cast(pl.Float64).alias(name)
                            for name, instant in (
                                ("sent_ms", sent),
                                ("first_byte_ms", pl.coalesce("first_byte_ns", "headers_ns")),
                                ("last_byte_ms", pl.col("last_byte_ns")),
                            )
                        ),
                    )
                )
        return pl.concat(parts)

    def is_worth_showing(self, asked: Asked, data: pl.DataFrame) -> bool:
        """Return whether an arm has several requests: one alone waits for no other."""
        return data["arm"].is_duplicated().any()

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per request."""
        figure = go.Figure()
        for arm, style in _style.arms(data):
            label = _style.text(arm)
            requests = data.filter(pl.col("arm") == arm).sort("first_byte_ms", nulls_last=True)
            names = [f"{label} {number}: {_short(url)}" for number, url in enumerate(requests["url"], 1)]
            waiting = {"shape": "/", "fillmode": "overlay", "size": 6, "fgcolor": style.colour}
            for part, start, end, look in (
                ("waiting", "sent_ms", "first_byte_ms", {"color": _style.pale(style.colour), "pattern": waiting}),
                ("receiving", "first_byte_ms", "last_byte_ms", {"color": style.colour}),
            ):
                figure.add_bar(
                    y=names,
                    base=requests[start].to_list(),
                    x=(requests[end] - requests[start]).to_list(),
                    orientation="h",
                    name=f"{label}, {part}",
                    marker=look | {"line": {"width": 0}},
                    hovertemplate=f"{part} %{{x:.5g}} ms from %{{base:.5g}} ms<extra>%{{y}}</extra>",
                )
        figure.update_layout(
            _style.with_legend(110 + 18 * data.height),
            barmode="overlay",
        )
        figure.update_xaxes(
            title={"text": "time since the client's first packet, ms"}, automargin=True, rangemode="tozero"
        )
        figure.update_yaxes(automargin=True, autorange="reversed", type="category")
        return figure


def _short(url: str) -> str:
    return _style.text(url if len(url) <= _NAME else "…" + url[1 - _NAME :])
