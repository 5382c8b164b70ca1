# SPDX-License-Identifier: Apache-2.0
"""The tables `account` and `account_totals` of one trial."""

from __future__ import annotations

import polars as pl

from quiclab.accounting.transfer import account_of_transfer
from quiclab.metrics import Evidence, Unknown
from quiclab.tables import TABLES


def account_table(evidence: Evidence) -> pl.DataFrame:
    """One row per edge of the critical path, in the order of time; no row where the trial has no account."""
    try:
        edges = account_of_transfer(evidence)
    except Unknown:
        edges = []
    rows = [
        (
            str(each.what),
            str(each.reason.why),
            each.from_ns,
            each.until_ns,
            each.direction,
            each.packet_index,
            each.link,
            each.packets,
            each.size_bytes,
            each.prompted_after_ns,
            each.reason.evidence,
            each.reason.event_ns,
            each.reason.event_packet,
            None if each.origin_why is None else str(each.origin_why),
        )
        for each in edges
    ]
    return pl.DataFrame(rows, schema=TABLES["account"].schema(), orient="row")


def account_totals(account: pl.DataFrame) -> pl.DataFrame:
    """The sums of one trial's account by both labels and their evidence."""
    length = pl.col("until_ns") - pl.col("from_ns")
    sums = account.group_by("why", "what", "evidence", maintain_order=True).agg(
        length.sum().alias("total_ns"), pl.len().alias("edges"), pl.col("size_bytes").sum()
    )
    schema = TABLES["account_totals"].schema()
    return sums.select(pl.col(name).cast(dtype) for name, dtype in schema.items())
