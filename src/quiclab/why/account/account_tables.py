# SPDX-License-Identifier: Apache-2.0
"""The tables `account` and `account_totals` of one trial."""

from __future__ import annotations

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.model.metric_scope import MetricScope
from quiclab.model.tables import TABLES
from quiclab.why.account.edges import Edge
from quiclab.why.account.playback import accounts_of_video
from quiclab.why.account.transfer import account_of_transfer


def accounts_of(evidence: Evidence) -> dict[str, list[Edge]]:
    """Value of the column `of` → the edges of that account. Raises Unknown where the trial has none."""
    expected = evidence.trial.expected
    if expected.video:
        return accounts_of_video(evidence)
    return {str(MetricScope.PAGE if expected.page else MetricScope.TTLB): account_of_transfer(evidence)}


def account_table(evidence: Evidence) -> pl.DataFrame:
    """One row per edge of the critical path, in the order of time; no row where the trial has no account.

    Its mechanisms are not named: that is for the room behind this one.
    """
    try:
        accounts = accounts_of(evidence)
    except Unknown:
        accounts = {}
    rows = [
        (
            of,
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
            None,
            each.object,
            None if each.origin_why is None else str(each.origin_why),
        )
        for of, edges in accounts.items()
        for each in edges
    ]
    return pl.DataFrame(rows, schema=TABLES["account"].schema(), orient="row")


def account_totals(account: pl.DataFrame) -> pl.DataFrame:
    """The sums of one trial's accounts by both labels, their evidence and the mechanism."""
    length = pl.col("until_ns") - pl.col("from_ns")
    sums = account.group_by("of", "why", "what", "evidence", "mechanism", maintain_order=True).agg(
        length.sum().alias("total_ns"), pl.len().alias("edges"), pl.col("size_bytes").sum()
    )
    schema = TABLES["account_totals"].schema()
    return sums.select(pl.col(name).cast(dtype) for name, dtype in schema.items())
