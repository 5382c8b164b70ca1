# SPDX-License-Identifier: Apache-2.0
"""Chunks of the bodies' streams as they came to the client in single trials."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.report.figures._series import start_ns

CHUNKS = {"arm": pl.String, "connection": pl.Int64, "stream_id": pl.Int64, "x_ms": pl.Float64, "length_bytes": pl.Int64}


def chunks(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """Return body bytes as they came to the client: DATA frames of HTTP/2, STREAM frames of QUIC, by capture or log."""
    parts = [pl.DataFrame(schema=CHUNKS)]
    for arm, trial_id in trials.items():
        zero_ns = start_ns(study, trial_id)
        frames, data = study.trial_table("frames", trial_id), study.trial_table("http_frames", trial_id)
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


def has_several_streams(chunks: pl.DataFrame) -> bool:
    """Return whether an arm has more than one stream, in the columns `arm`, `connection` and `stream_id`."""
    return chunks.select("arm", "connection", "stream_id").unique()["arm"].is_duplicated().any()


def _at_client(frames: pl.DataFrame) -> pl.DataFrame:
    """Frames with bytes that came down to the client, by the source that has most of them."""
    came = frames.filter(
        (pl.col("vantage") == "client") & (pl.col("direction") == "down") & (pl.col("length_bytes") > 0)
    )
    counts = came.group_by("source").agg(pl.len().alias("rows")).sort("rows", "source", descending=[True, False])
    return came.filter(source=counts["source"][0]) if counts.height else came
