# SPDX-License-Identifier: Apache-2.0
"""The table `account` of one trial."""

from __future__ import annotations

import polars as pl

from quiclab.accounting.download import account_of_download
from quiclab.metrics import Evidence, Unknown
from quiclab.tables import TABLES


def account_table(evidence: Evidence) -> pl.DataFrame:
    """One row per stretch, in the order of time; no row where the trial has no account."""
    try:
        stretches = account_of_download(evidence)
    except Unknown:
        stretches = []
    rows = [
        (
            str(each.part),
            each.from_ns,
            each.until_ns,
            each.packet_index,
            each.packets,
            each.size_bytes,
            each.prompted_after_ns,
        )
        for each in stretches
    ]
    return pl.DataFrame(rows, schema=TABLES["account"].schema(), orient="row")
