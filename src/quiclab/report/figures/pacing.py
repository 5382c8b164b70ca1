# SPDX-License-Identifier: Apache-2.0
"""The sender's pacing rate and its estimate of bandwidth (Yu and Benson 2021, Figure 11)."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from quiclab.report.figures import _curves, _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._series import sender_curves

_UNTOLD = "neither its log nor the kernel tells a rate"
"""Stands in the legend for an arm that may pace all the same."""
_UNPACED = "not paced: the rate that the kernel computes is not kept to"
"""Stands in the legend for an arm over TCP whose samples have a rate all the same."""


class Pacing(Figure):
    """The sender's pacing rate and its estimate of bandwidth: from its log, else from samples of TCP_INFO."""

    name = "pacing"
    question = "At what rate does the sender pace, and what bandwidth does it estimate?"
    where = Where.PAIR
    overlaid = True
    tables = ("tables/transport_metrics/*.parquet", "tables/link_packets/*.parquet")
    columns = _curves.COLUMNS

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the sender's pacing rate and its estimate of bandwidth, in Mbit/s; an arm that tells neither has a row
        that says so."""
        names = {"pacing_rate_bit_per_s": "pacing", "bandwidth_bit_per_s": "estimated bandwidth"}
        told = asked.over_blocks(partial(sender_curves, names=names)).with_columns(pl.col("y") / 1e6)
        unpaced = [arm for arm in asked.chosen().trials if not _may_pace(asked, arm)]
        told = told.filter(~(pl.col("arm").is_in(unpaced) & pl.col("series").str.starts_with("pacing")))
        paced = set(told.filter(pl.col("series").str.starts_with("pacing"))["arm"]) if told.height else set()
        silent = [arm for arm in asked.chosen().trials if arm not in paced] if told.height else []
        notes = [
            {"arm": arm, "series": _UNPACED if arm in unpaced else _UNTOLD, "x_ms": None, "y": None, "trial": None}
            for arm in silent
            if arm in unpaced or arm not in set(told["arm"])
        ]
        return pl.concat([told, pl.DataFrame(notes, schema=told.schema)])

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per point of a curve."""
        figure = _curves.draw(data, "rate, Mbit/s", "Mbit/s", step=True)
        # From an initial window within a millisecond to a lossy path: such rates differ by decades.
        known = data.filter(pl.col("y") > 0)["y"]
        if known.len():
            figure.update_yaxes(rangemode="normal", **_style.log_axis(known.min(), known.max()))  # type: ignore[arg-type]
        return figure


def _may_pace(asked: Asked, arm: str) -> bool:
    """True if an arm's sender may pace: over TCP only with BBR, or where the spec asks for it."""
    of = asked.arm(arm)
    if of is None or of.protocol not in ("h1", "h2") or of.tcp is None:
        return True
    return of.tcp.pacing or any("bbr" in each for each in of.tcp.congestion_controls)
