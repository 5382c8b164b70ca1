# SPDX-License-Identifier: Apache-2.0
"""Requests and chunks of streams of single trials: from their tables to the columns that figures draw."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from quiclab.figures._series import start_ns
from quiclab.opened import OpenedStudy

REQUESTS = {
    **dict.fromkeys(("arm", "url"), pl.String),
    **dict.fromkeys(("sent_ms", "first_byte_ms", "last_byte_ms"), pl.Float64),
}
CHUNKS = {"arm": pl.String, "connection": pl.Int64, "stream_id": pl.Int64, "x_ms": pl.Float64, "length_bytes": pl.Int64}


def requests(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """Every request as the source at the client's end tells it that tells of most last bytes; of a page, as its
    browser's trace does, for the browser asks for things of its own too."""
    parts = [pl.DataFrame(schema=REQUESTS)]
    for arm, trial_id in trials.items():
        rows, zero_ns = study.of_trial("http_requests", trial_id), start_ns(study, trial_id)
        if rows is None or zero_ns is None:
            continue
        rows = rows.filter((pl.col("vantage") == "client") & pl.col("url").is_not_null())
        told = (
            rows.group_by("source")
            .agg(pl.col("last_byte_ns").count().alias("told"), pl.col("resource_type").count().alias("typed"))
            .sort("told", "typed", "source", descending=[True, True, False])
        )
        if told.height:
            sent = pl.coalesce("send_start_ns", "time_ns")
            parts.append(
                rows.filter(source=told["source"][0]).select(
                    pl.lit(arm).alias("arm"),
                    pl.col("url").str.extract(r"^[a-z]+://[^/]*(/.*)$").fill_null(pl.col("url")),
                    *(
                        ((instant - zero_ns) / 1e6).cast(pl.Float64).alias(name)
                        for name, instant in (
                            ("sent_ms", sent),
                            ("first_byte_ms", pl.coalesce("first_byte_ns", "headers_ns")),
                            ("last_byte_ms", pl.col("last_byte_ns")),
                        )
                    ),
                )
            )
    return pl.concat(parts)


def chunks(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """Body bytes as they came to the client: DATA frames of HTTP/2, STREAM frames of QUIC, by capture or log."""
    parts = [pl.DataFrame(schema=CHUNKS)]
    for arm, trial_id in trials.items():
        zero_ns = start_ns(study, trial_id)
        frames, data = study.of_trial("frames", trial_id), study.of_trial("http_frames", trial_id)
        if zero_ns is None:
            continue
        found = None
        if frames is not None:
            found = _at_client(frames.filter((pl.col("frame_type") == "stream") & (pl.col("stream_id") % 4 == 0)))
        if (found is None or not found.height) and data is not None:
            found = _at_client(data.filter((pl.col("frame_type") == "data") & (pl.col("http_version") == "HTTP/2")))
        if found is not None and found.height:
            parts.append(
                found.sort("time_ns").select(
                    pl.lit(arm).alias("arm"),
                    pl.col("time_ns").min().over("connection").rank("dense").cast(pl.Int64).alias("connection"),
                    pl.col("stream_id").cast(pl.Int64),
                    ((pl.col("time_ns") - zero_ns) / 1e6).cast(pl.Float64).alias("x_ms"),
                    pl.col("length_bytes").cast(pl.Int64),
                )
            )
    return pl.concat(parts)


def runs(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """The same bytes as runs of one stream each, placed by the bytes that had come before."""
    stream = pl.struct("connection", "stream_id")
    return (
        chunks(study, trials)
        .with_row_index()
        .with_columns(
            (pl.col("length_bytes").cum_sum() - pl.col("length_bytes")).over("arm").alias("from_bytes"),
            pl.col("index").min().over("arm", "connection", "stream_id").alias("begun"),
            stream.rle_id().over("arm").alias("run"),
        )
        .with_columns(pl.col("begun").rank("dense").over("arm").alias("place"))
        .group_by("arm", "run", maintain_order=True)
        .agg(
            pl.col("connection", "stream_id").first(),
            (pl.col("place").first() - 1).cast(pl.Int64),
            pl.col("from_bytes").first(),
            pl.col("length_bytes").sum(),
            pl.col("x_ms").first(),
        )
        .drop("run")
    )


def _at_client(frames: pl.DataFrame) -> pl.DataFrame:
    """What came down to the client, with bytes in it, by the source that has most of it."""
    came = frames.filter(
        (pl.col("vantage") == "client") & (pl.col("direction") == "down") & (pl.col("length_bytes") > 0)
    )
    counts = came.group_by("source").agg(pl.len().alias("rows")).sort("rows", "source", descending=[True, False])
    return came.filter(source=counts["source"][0]) if counts.height else came
