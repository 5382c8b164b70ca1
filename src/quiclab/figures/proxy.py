# SPDX-License-Identifier: Apache-2.0
"""Arms that differ in a proxy alone, side by side (Liu et al. 2024, Figures 4 to 7)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _bars


class Proxy:
    """Means with standard deviations: a panel per network, a group per workload, the way through a proxy hatched."""

    name = "proxy"
    question = "What does a proxy in the path change, for which client and over which network?"
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet")
    columns = _bars.COLUMNS

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per bar."""
        return _bars.draw(data)
