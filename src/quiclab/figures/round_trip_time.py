# SPDX-License-Identifier: Apache-2.0
"""Smoothed and smallest round-trip time as the sender keeps them, and its latest sample."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _curves


class RoundTripTime:
    """Smoothed and smallest round-trip time as the sender keeps them, and its latest sample."""

    name = "rtt"
    question = "How long is the round trip that the sender sees, and how much of it is queue?"
    tables = (
        "tables/transport_metrics/*.parquet",
        "tables/link_packets/*.parquet",
    )
    columns = _curves.COLUMNS

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per point of a curve."""
        return _curves.draw(data, "round-trip time, ms", "ms")
