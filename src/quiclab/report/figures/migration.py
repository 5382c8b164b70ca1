# SPDX-License-Identifier: Apache-2.0
"""Cost of a change of the client's address to each arm, the stable address beside it (Liu et al. 2024, Figure 6)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.report.figures import _arm_means, _bars
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked


class Migration(Figure):
    """Means with standard deviations: a panel per network, a group per workload, arms through a proxy hatched."""

    name = "migration"
    question = "What does a change of the client's address cost each arm?"
    where = Where.STUDY
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet")
    columns = _bars.COLUMNS

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Every arm over every network that has a workload with a change of address; empty where none has."""
        changing = {each.name for each in asked.files.spec.workloads if each.address_change}
        if not changing:
            return pl.DataFrame(schema=_arm_means.SCHEMA)
        paths = {comparison.path for comparison in asked.analysis.comparisons if comparison.workload in changing}
        return _arm_means.means(asked.analysis, _arm_means.places(asked.files)).filter(
            pl.col("panel").is_in([asked.analysis.path_titles.get(path, path) for path in paths])
        )

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per bar."""
        return _bars.draw(data)
