# SPDX-License-Identifier: Apache-2.0
"""Every path as it was asked for and as it was measured (Kakhki et al. 2017, Table 5)."""

from __future__ import annotations

from typing import Any

import polars as pl

from quiclab.figures import _table


class Path:
    """A row for what the spec asks of each network, and one for what each arm met there."""

    name = "path"
    question = "Was the path that the packets met the one that was asked for?"
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet")
    columns = {  # noqa: RUF012 - a constant of the class
        "network": "the path",
        "who": "'as asked', or the arm whose trials measured it",
        "rtt_min": "smallest round-trip time",
        "rate": "rate towards the client while the bottleneck was busy",
        "throughput": "what arrived at the client, over the time of the transfer",
        "rtt": "round-trip time of the path, queue included: mean over packets",
        "rtt_sd": "its standard deviation",
        "reordered": "share of the packets towards the client that came after a later one",
        "lost_up": "share of the packets to the server that the path's loss took",
        "lost_down": "the same towards the client",
        "trials": "over how many trials these are means",
    }

    headings = (
        "network", "", "RTT least", "rate down", "throughput down", "RTT mean", "RTT SD", "reordered down", "loss up",
        "loss down", "trials",
    )  # fmt: skip

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per row of the table."""
        return _table.draw(self.headings, data.select(*self.columns).rows(), words=2)
