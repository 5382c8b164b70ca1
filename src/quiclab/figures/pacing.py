# SPDX-License-Identifier: Apache-2.0
"""The sender's pacing rate and its estimate of bandwidth (Yu and Benson 2021, Figure 11)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _curves


class Pacing:
    """The sender's pacing rate and its estimate of bandwidth: from its log, else from samples of TCP_INFO."""

    name = "pacing"
    question = "At which rate does the sender pace, and which bandwidth does it believe in?"
    tables = ("tables/transport_metrics/*.parquet", "tables/link_packets/*.parquet")
    columns = _curves.COLUMNS

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per point of a curve."""
        figure = _curves.draw(data, "rate, Mbit/s", "Mbit/s", step=True)
        # From an initial window within a millisecond to a lossy path: such rates differ by decades.
        figure.update_yaxes(type="log", rangemode="normal", dtick=1)
        return figure
