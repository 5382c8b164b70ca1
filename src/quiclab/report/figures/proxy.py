# SPDX-License-Identifier: Apache-2.0
"""Arms that differ in a proxy alone, side by side (Liu et al. 2024, Figures 4 to 7)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.report.figures import _arm_means, _bars
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked


class Proxy(Figure):
    """Means with standard deviations: a panel per network, a group per workload, the way through a proxy hatched."""

    name = "proxy"
    question = "What does a proxy in the path change, for which client and over which network?"
    where = Where.STUDY
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet")
    columns = _bars.COLUMNS

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the arms that occur with and without a proxy, otherwise alike; no row where there are none."""
        places = _arm_means.places(asked.files)
        ways: dict[str, set[str]] = {}
        for label, way in places.values():
            ways.setdefault(label, set()).add(way)
        return _arm_means.means(
            asked.analysis, {arm: place for arm, place in places.items() if len(ways[place[0]]) == 2}
        )

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per bar."""
        return _bars.draw(data)
