# SPDX-License-Identifier: Apache-2.0
"""Requests, chunks of streams and states of single trials: from their tables to the columns that figures draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import polars as pl

from quiclab.opened import OpenedStudy
from quiclab.report.series import best_source, of_the_transfer, start_ns

REQUESTS = {
    **dict.fromkeys(("arm", "url"), pl.String),
    **dict.fromkeys(("sent_ms", "first_byte_ms", "last_byte_ms"), pl.Float64),
}
CHUNKS = {"arm": pl.String, "connection": pl.Int64, "stream_id": pl.Int64, "x_ms": pl.Float64, "length_bytes": pl.Int64}
STATES = {
    **dict.fromkeys(("arm", "state", "next"), pl.String),
    "share_pct": pl.Float64,
    "visits": pl.Int64,
    "sampled": pl.Boolean,
}


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


def _at_client(frames: pl.DataFrame) -> pl.DataFrame:
    """What came down to the client, with bytes in it, by the source that has most of it."""
    came = frames.filter(
        (pl.col("vantage") == "client") & (pl.col("direction") == "down") & (pl.col("length_bytes") > 0)
    )
    counts = came.group_by("source").agg(pl.len().alias("rows")).sort("rows", "source", descending=[True, False])
    return came.filter(source=counts["source"][0]) if counts.height else came


def states(study: OpenedStudy, trials: Mapping[str, str], times_ms: Mapping[str, float]) -> pl.DataFrame:
    """Time in each state of the sender, from its first to the transfer's end (`times_ms`: trial → its time)."""
    rows: list[dict[str, object]] = []
    for arm, trial_id in trials.items():
        changes, zero_ns = study.of_trial("cc_states", trial_id), start_ns(study, trial_id)
        if changes is None or zero_ns is None or trial_id not in times_ms:
            continue
        known = changes.filter((pl.col("vantage") == "server") & pl.col("time_ns").is_not_null())
        changes = of_the_transfer(known, zero_ns)
        source = best_source(changes)
        if source is not None:
            rows += _shares(arm, changes.filter(source=source[0]).sort("time_ns"), zero_ns, times_ms[trial_id])
    return pl.DataFrame(rows, schema=STATES)


def _shares(arm: str, changes: pl.DataFrame, zero_ns: int, time_ms: float) -> list[dict[str, object]]:
    instants = [(time - zero_ns) / 1e6 for time in changes["time_ns"]]
    names = [str(name) for name in changes["new_state"]]
    ends = [*instants[1:], max(time_ms, instants[-1])]
    spent: Counter[str] = Counter()
    for name, begin, end in zip(names, instants, ends, strict=True):
        spent[name] += max(0.0, min(end, time_ms) - min(begin, time_ms))
    total = sum(spent.values())
    entered = Counter(names)
    follows: dict[str, Counter[str]] = {name: Counter() for name in entered}
    for name, after in pairwise(names):
        follows[name][after] += 1
    return [
        {
            "arm": arm,
            "state": name,
            "share_pct": 100 * spent[name] / total if total else None,
            "visits": visits,
            "next": ", ".join(
                f"{after} {100 * count / follows[name].total():.0f} %" for after, count in follows[name].most_common()
            )
            or "nothing",
            "sampled": changes["source"][0].endswith(".tcpinfo"),
        }
        for name, visits in entered.most_common()
    ]
