# SPDX-License-Identifier: Apache-2.0
"""Bytes acknowledged over time, the trials of one block in one plot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from quiclab.compare.study import BYTES_ACKNOWLEDGED
from quiclab.compare.study_tables import OpenedStudy
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _curves, _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked


class BytesAcknowledged(Figure):
    """One curve per trial: where an arm gains and loses its time."""

    name = "bytes_acknowledged"
    question = "When in the transfer does one arm get ahead of the other?"
    where = Where.PAIR
    overlaid = True
    tables = ("tables/trials.parquet", "tables/bytes_acknowledged/*.parquet")
    columns: ClassVar = {
        "arm": "one curve each, the baseline first",
        "x_ms": "time of an ACK that the receiver sends, since the client's first packet, ms",
        "bytes": "distinct payload bytes from the sender of the bodies that are acknowledged by then",
        "trial": "which of the arm's trials; several lie over each other",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return every ACK of each trial."""
        return asked.over_blocks(_curves_of)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per ACK, one trial per arm."""
        figure = go.Figure()
        for arm, style in _style.arms(data):
            for curve, look, told in _curves.trial_curves(data.filter(pl.col("arm") == arm), _style.text(arm)):
                figure.add_scatter(
                    x=curve["x_ms"].to_list(),
                    y=curve["bytes"].to_list(),
                    mode="lines",
                    # A step, for nothing is acknowledged between two ACKs.
                    line={"color": style.colour, "dash": style.dash, "shape": "hv"} | look.pop("line"),
                    hovertemplate="%{x:.5g} ms: %{y:,} bytes<extra>" + told + "</extra>",
                    **look,
                )
        figure.update_layout(
            _style.with_legend(380),
            hovermode="closest",
        )
        figure.update_xaxes(
            title={"text": "time since the client's first packet, ms"}, automargin=True, rangemode="tozero"
        )
        figure.update_yaxes(title={"text": "acknowledged, bytes"}, automargin=True, rangemode="tozero")
        return figure


def _curves_of(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    parts = [pl.DataFrame(schema={"arm": pl.String, **BYTES_ACKNOWLEDGED})]
    for arm, trial_id in trials.items():
        curve = study.trial_table("bytes_acknowledged", trial_id)
        if curve is not None:
            parts.append(
                curve.select(pl.lit(arm).alias("arm"), *(pl.col(n).cast(t) for n, t in BYTES_ACKNOWLEDGED.items()))
            )
    return pl.concat(parts)
