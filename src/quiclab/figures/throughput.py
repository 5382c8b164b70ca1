# SPDX-License-Identifier: Apache-2.0
"""IP bytes that the link handed to the client, in slices of time."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _curves


class Throughput:
    """IP bytes that the link handed to the client, in slices of time."""

    name = "throughput"
    question = "How fast do bytes reach the client over time, and when do they not?"
    tables = ("tables/link_packets/*.parquet",)
    columns = _curves.COLUMNS

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per point of a curve."""
        return _curves.draw(data, "throughput, Mbit/s", "Mbit/s", step=True)
