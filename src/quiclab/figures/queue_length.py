# SPDX-License-Identifier: Apache-2.0
"""What waits before the bottleneck: up at each packet that joins, down as they are served."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _curves


class QueueLength:
    """What waits before the bottleneck: up at each packet that joins, down as they are served."""

    name = "queue"
    question = "How long is the queue before the bottleneck, and who fills it?"
    tables = ("tables/link_packets/*.parquet",)
    columns = _curves.COLUMNS

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per point of a curve."""
        return _curves.draw(data, "queue before the bottleneck, bytes", "bytes")
