# SPDX-License-Identifier: Apache-2.0
"""Curves over the time of single trials: from their tables to the columns that figures draw.

Times count from the instant at which the client's first packet reached the link. The sender is the server's end: that
of a download.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from quiclab.compare.study_tables import OpenedStudy

POINTS = {"arm": pl.String, "series": pl.String, "x_ms": pl.Float64, "y": pl.Float64}
FURTHER = r"(^|/)link-(\d+)\.qplog$"
"""Names of the packet logs of links behind the first one."""


def at_client(log: pl.DataFrame) -> pl.DataFrame:
    """Return what the links at the client handled: its first one, and that of a network to which it changes."""
    return log.filter(~pl.col("source").str.contains(FURTHER).fill_null(value=False))


def start_ns(study: OpenedStudy, trial_id: str) -> int | None:
    """Return when the client's first packet reached its link; None where no packet log tells.

    Links behind a proxy have carried the warm-up before.
    """
    log = study.trial_table("link_packets", trial_id)
    if log is None:
        return None
    first = at_client(log).filter(direction="up").filter(pl.col("action") != "outside_model")["arrival_ns"].min()
    return int(first) if isinstance(first, int) else None


def log_curves(
    study: OpenedStudy, trials: Mapping[str, str], of_one: Callable[[pl.DataFrame, int], pl.DataFrame]
) -> pl.DataFrame:
    """Return the curves that `of_one` (of a packet log and the instant 0 in ns) makes of each trial, by arm.

    `of_one` returns `series`, `x_ms` and `y`.
    """
    parts = [pl.DataFrame(schema=POINTS)]
    for arm, trial_id in trials.items():
        log, zero_ns = study.trial_table("link_packets", trial_id), start_ns(study, trial_id)
        if log is not None and zero_ns is not None:
            points = of_one(log, zero_ns).with_columns(pl.lit(arm).alias("arm"))
            parts.append(points.select(pl.col(name).cast(dtype) for name, dtype in POINTS.items()))
    return pl.concat(parts)


def sender_curves(study: OpenedStudy, trials: Mapping[str, str], names: Mapping[str, str]) -> pl.DataFrame:
    """Return columns of `transport_metrics` as curves named as `names` says, each from the sender's best source."""
    parts = [pl.DataFrame(schema=POINTS)]
    for arm, trial_id in trials.items():
        rows, zero_ns = study.trial_table("transport_metrics", trial_id), start_ns(study, trial_id)
        if rows is None or zero_ns is None:
            continue
        rows = transfer_rows(rows.filter(pl.col("vantage") == "server"), zero_ns)
        for column, series in names.items():
            known = rows.filter(pl.col(column).is_not_null() & pl.col("time_ns").is_not_null())
            source = best_source(known)
            if source is None:
                continue
            told = f"{series} (estimate)" if source[1] else series
            points = known.filter(pl.col("source") == source[0]).sort("time_ns")
            for number, (_, own) in enumerate(points.group_by("connection", maintain_order=True)):
                curve = own.select(
                    pl.lit(arm).alias("arm"),
                    pl.lit(told).alias("series"),
                    ((pl.col("time_ns") - zero_ns) / 1e6).cast(pl.Float64).alias("x_ms"),
                    pl.col(column).cast(pl.Float64).alias("y"),
                )
                # A point without a value: no line leads from one connection to the next.
                parts += [curve.head(1).with_columns(y=pl.lit(None, pl.Float64)), curve] if number else [curve]
    return pl.concat(parts)


def transfer_rows(rows: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
    """Return rows of connections that began with the transfer: those of the warm-up before it are none of it."""
    return rows.filter(pl.col("time_ns").min().over("source", "connection") >= zero_ns)


def best_source(rows: pl.DataFrame) -> tuple[str, bool] | None:
    """Return (source, whether it estimates): a program or the kernel before an estimate, then most rows."""
    counts = rows.group_by("source").agg(pl.col("estimate").any().alias("estimate"), pl.len().alias("rows"))
    best: Sequence[tuple[str, bool, int]] = counts.sort("estimate", "rows", descending=[False, True]).rows()
    return (best[0][0], bool(best[0][1])) if best else None
