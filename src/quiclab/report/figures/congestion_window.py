# SPDX-License-Identifier: Apache-2.0
"""The sender's window and bytes in flight: from its log, else from samples of TCP_INFO, else estimated."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from quiclab.report.figures import _curves
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._series import sender_curves


class CongestionWindow(Figure):
    """The sender's window and bytes in flight: from its log, else from samples of TCP_INFO, else estimated."""

    name = "window"
    question = "Does the congestion window hold the sender back, and what does a loss do to it?"
    where = Where.PAIR
    overlaid = True
    tables = (
        "tables/transport_metrics/*.parquet",
        "tables/link_packets/*.parquet",
    )
    columns = _curves.COLUMNS

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the sender's congestion window and bytes in flight."""
        names = {"cwnd_bytes": "window", "bytes_in_flight": "in flight"}
        return asked.over_blocks(partial(sender_curves, names=names))

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per point of a curve."""
        return _curves.draw(data, "window and bytes in flight, bytes", "bytes", step=True)
