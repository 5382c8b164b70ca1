# SPDX-License-Identifier: Apache-2.0
"""Smoothed and smallest round-trip time as the sender keeps them, and its latest sample."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from quiclab.report.figures import _curves
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._series import sender_curves


class RoundTripTime(Figure):
    """Smoothed and smallest round-trip time as the sender keeps them, and its latest sample."""

    name = "rtt"
    question = "How long is the round trip that the sender sees, and how much of it is queue?"
    where = Where.PAIR
    overlaid = True
    tables = (
        "tables/transport_metrics/*.parquet",
        "tables/link_packets/*.parquet",
    )
    columns = _curves.COLUMNS

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return round-trip times as the sender keeps them."""
        names = {"smoothed_rtt_ms": "smoothed", "latest_rtt_ms": "latest", "min_rtt_ms": "smallest"}
        return asked.over_blocks(partial(sender_curves, names=names))

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per point of a curve."""
        return _curves.draw(data, "round-trip time, ms", "ms")
