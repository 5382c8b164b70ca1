# SPDX-License-Identifier: Apache-2.0
"""The sender's window and bytes in flight: from its log, else from samples of TCP_INFO, else estimated."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _curves


class CongestionWindow:
    """The sender's window and bytes in flight: from its log, else from samples of TCP_INFO, else estimated."""

    name = "window"
    question = "Does the congestion window hold the sender back, and what does a loss do to it?"
    tables = (
        "tables/transport_metrics/*.parquet",
        "tables/link_packets/*.parquet",
    )
    columns = _curves.COLUMNS

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per point of a curve."""
        return _curves.draw(data, "window and bytes in flight, bytes", "bytes", step=True)
