# SPDX-License-Identifier: Apache-2.0
"""The handshake's messages at the client's end, dated by the wire where that shows them."""

from __future__ import annotations

from functools import lru_cache

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.evidence.metrics.evidence import CAPTURES


@lru_cache(maxsize=1)
def at_client(evidence: Evidence) -> pl.DataFrame:
    """Rows of the table handshake: those of the client's capture if it shows any answer, else those of its log, which
    dates them when its program read them."""
    told = evidence.table("handshake").filter(pl.col("vantage") == "client")
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    captured = told.filter(pl.col("source").is_in(captures))
    return captured if captured.filter(pl.col("direction") == "down").height else told
