# SPDX-License-Identifier: Apache-2.0
"""What a change of the client's address costs each arm, the stable address beside it (Liu et al. 2024, Figure 6)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _bars


class Migration:
    """Means with standard deviations: a panel per network, a group per workload, arms through a proxy hatched."""

    name = "migration"
    question = "What does a change of the client's address cost each arm?"
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet")
    columns = _bars.COLUMNS

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per bar."""
        return _bars.draw(data)
