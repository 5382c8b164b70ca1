# SPDX-License-Identifier: Apache-2.0
"""Scope of an account: the time of a transfer or of a page, or the times in which a viewer waits for a video."""

from __future__ import annotations

import enum

import polars as pl


class MetricScope(enum.StrEnum):
    """The time that an account shares out: the beginning of the column `of`, behind which a stall has its number."""

    TTLB = "ttlb"
    PAGE = "page"
    START_UP = "start_up"
    STALL = "stall"

    @property
    def metric(self) -> str:
        """Name of the metric to which the account adds up; those of all stalls of a trial do so together."""
        return _METRICS[self]

    @property
    def heading(self) -> str:
        """Name of the time for readers."""
        return _HEADINGS[self]

    @property
    def rows(self) -> pl.Expr:
        """Filter for rows of `account` or `account_totals` of this time."""
        return pl.col("of").str.starts_with(self.value)


_METRICS = {
    MetricScope.TTLB: "ttlb_ms",
    MetricScope.PAGE: "plt_ms",
    MetricScope.START_UP: "startup_ms",
    MetricScope.STALL: "stall_ms",
}
_HEADINGS = {
    MetricScope.TTLB: "time to last byte",
    MetricScope.PAGE: "page load time",
    MetricScope.START_UP: "start-up time",
    MetricScope.STALL: "time of stalls",
}
MAIN = MetricScope.TTLB.rows | MetricScope.PAGE.rows | MetricScope.START_UP.rows
"""Filter for rows of the account that every accounted trial has: of its transfer, page, or video's start-up."""


def with_of(table: pl.DataFrame) -> pl.DataFrame:
    """`account` or `account_totals` with the column `of`, which tables from before there was one lack: they have
    transfers alone."""
    return table if "of" in table.columns else table.with_columns(pl.lit(str(MetricScope.TTLB)).alias("of"))


def rows_for(metric: str) -> pl.Expr:
    """Filter for rows of an account that belong to what a study compares by a metric: stalls, or else the main
    account."""
    return MetricScope.STALL.rows if metric == MetricScope.STALL.metric else MAIN


PLAYING = "playing"
"""Label of the time between two stalls, where stalls are laid out on one axis."""


def laid_out(account: pl.DataFrame, metric: str) -> pl.DataFrame:
    """One trial's account for a metric as rows without a gap: between two stalls the video plays."""
    rows = with_of(account).filter(rows_for(metric))
    if rows["of"].n_unique() < 2:
        return rows
    between = rows.select(
        pl.lit(PLAYING).alias("of"),
        pl.lit(PLAYING).alias("what"),
        pl.lit(PLAYING).alias("why"),
        pl.col("until_ns").alias("from_ns"),
        pl.col("from_ns").shift(-1).alias("until_ns"),
        pl.lit("player_events").alias("evidence"),
    ).filter(pl.col("until_ns") > pl.col("from_ns"))
    return pl.concat([rows, between], how="diagonal").sort("from_ns")
