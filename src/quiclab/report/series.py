# SPDX-License-Identifier: Apache-2.0
"""What happened over the time of single trials: from their tables to the columns that figures draw.

Times count from the instant at which the client's first packet reached the link. The sender is the server's end: that
of a download.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from quiclab.opened import OpenedStudy

POINTS = {"arm": pl.String, "series": pl.String, "x_ms": pl.Float64, "y": pl.Float64}
_SLICES = 50
"""Of a transfer's time, in which throughput is counted."""
_SLICE_MS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)


_FURTHER = r"(^|/)link-(\d+)\.qplog$"
"""Names of the packet logs of links behind the first one."""


def _at_client(log: pl.DataFrame) -> pl.DataFrame:
    """What the links at the client handled: its first one, and that of a network to which it changes."""
    return log.filter(~pl.col("source").str.contains(_FURTHER).fill_null(value=False))


def start_ns(study: OpenedStudy, trial_id: str) -> int | None:
    """When the client's first packet reached its link; None where no packet log tells.

    Links behind a proxy have carried the warm-up before.
    """
    log = study.of_trial("link_packets", trial_id)
    if log is None:
        return None
    first = _at_client(log).filter(direction="up").filter(pl.col("action") != "outside_model")["arrival_ns"].min()
    return int(first) if isinstance(first, int) else None


def window(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """Congestion window and bytes in flight of the sender."""
    return _of_sender(study, trials, {"cwnd_bytes": "window", "bytes_in_flight": "in flight"})


def round_trip_time(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """Round-trip times as the sender keeps them."""
    return _of_sender(
        study, trials, {"smoothed_rtt_ms": "smoothed", "latest_rtt_ms": "latest", "min_rtt_ms": "smallest"}
    )


def pacing(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """The sender's pacing rate and its estimate of bandwidth, in Mbit/s."""
    names = {"pacing_rate_bit_per_s": "pacing", "bandwidth_bit_per_s": "estimated bandwidth"}
    return _of_sender(study, trials, names).with_columns(pl.col("y") / 1e6)


def throughput(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """IP bytes that the links at the client handed to it, in Mbit/s, in equal slices of time."""

    def of_one(log: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
        down = (
            _at_client(log)
            .filter(direction="down", action="delivered")
            .select(((pl.col("due_ns") - zero_ns) / 1e6).alias("x_ms"), "size_bytes")
        )
        if not down.height:
            return down.select(pl.lit("").alias("series"), "x_ms", pl.lit(0.0).alias("y"))
        last_ms = float(down["x_ms"].max())  # type: ignore[arg-type]
        slice_ms = next((size for size in _SLICE_MS if last_ms / size <= _SLICES), _SLICE_MS[-1])
        number = (pl.col("x_ms") / slice_ms).floor().cast(pl.Int64).alias("slice")
        summed = down.group_by(number).agg(pl.col("size_bytes").cast(pl.Int64).sum())
        whole = pl.DataFrame({"slice": range(int(last_ms // slice_ms) + 2)}, schema={"slice": pl.Int64})
        return whole.join(summed, on="slice", how="left", maintain_order="left").select(
            pl.lit(f"per {slice_ms:g} ms").alias("series"),
            (pl.col("slice") * slice_ms).alias("x_ms"),
            (pl.col("size_bytes").fill_null(0) * 8 / (slice_ms * 1e3)).alias("y"),
        )

    return _of_log(study, trials, of_one)


def queue(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """What waits before a link's bottleneck towards the client, since the client began.

    A point at each packet that joins the queue; where it drains to nothing before the next, a point there and one where
    it begins to fill again.
    """
    further = pl.col("source").str.extract(_FURTHER, 2)

    def of_one(log: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
        down = log.filter(direction="down").filter(pl.col("action") != "outside_model").sort("arrival_ns")
        turned_away = (pl.col("action") == "dropped") & ~pl.col("reason").is_in(["loss_exit", "aqm"]).fill_null(False)
        joined = down.filter(pl.col("arrival_ns") >= zero_ns, ~turned_away).with_columns(
            pl.format("link {}", further).fill_null("waiting").alias("series"),
            (pl.col("queue_bytes").cast(pl.Float64) + pl.col("size_bytes")).alias("y"),
        )
        next_ns = pl.col("arrival_ns").shift(-1).over("series")
        limited = joined.filter(pl.col("service_ns") > 0).with_columns(
            pl.col("left_ns").cast(pl.Float64).alias("drained_ns"), next_ns.alias("next_ns")
        )
        idle = limited.filter(pl.col("next_ns").is_null() | (pl.col("drained_ns") < pl.col("next_ns")))
        points = [
            limited.select("series", pl.col("arrival_ns").cast(pl.Float64).alias("at_ns"), "y"),
            idle.select("series", pl.col("drained_ns").alias("at_ns"), pl.lit(0.0).alias("y")),
            idle.drop_nulls("next_ns").select(
                "series", pl.col("next_ns").cast(pl.Float64).alias("at_ns"), pl.lit(0.0).alias("y")
            ),
        ]
        # Of two points at one instant, empty comes before full.
        return (
            pl.concat(points)
            .sort("series", "at_ns", "y")
            .select("series", ((pl.col("at_ns") - zero_ns) / 1e6).alias("x_ms"), "y")
        )

    return _of_log(study, trials, of_one)


def _of_log(
    study: OpenedStudy, trials: Mapping[str, str], of_one: Callable[[pl.DataFrame, int], pl.DataFrame]
) -> pl.DataFrame:
    parts = [pl.DataFrame(schema=POINTS)]
    for arm, trial_id in trials.items():
        log, zero_ns = study.of_trial("link_packets", trial_id), start_ns(study, trial_id)
        if log is not None and zero_ns is not None:
            points = of_one(log, zero_ns).with_columns(pl.lit(arm).alias("arm"))
            parts.append(points.select(pl.col(name).cast(dtype) for name, dtype in POINTS.items()))
    return pl.concat(parts)


def _of_sender(study: OpenedStudy, trials: Mapping[str, str], names: Mapping[str, str]) -> pl.DataFrame:
    """Columns of `transport_metrics` as curves, each from the sender's best source."""
    parts = [pl.DataFrame(schema=POINTS)]
    for arm, trial_id in trials.items():
        rows, zero_ns = study.of_trial("transport_metrics", trial_id), start_ns(study, trial_id)
        if rows is None or zero_ns is None:
            continue
        rows = of_the_transfer(rows.filter(pl.col("vantage") == "server"), zero_ns)
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


def of_the_transfer(rows: pl.DataFrame, zero_ns: int) -> pl.DataFrame:
    """Rows of connections that began with the transfer: those of the warm-up before it are none of it."""
    return rows.filter(pl.col("time_ns").min().over("source", "connection") >= zero_ns)


def best_source(rows: pl.DataFrame) -> tuple[str, bool] | None:
    """(source, whether it estimates): what a program or the kernel says before an estimate, then who says most."""
    counts = rows.group_by("source").agg(pl.col("estimate").any().alias("estimate"), pl.len().alias("rows"))
    best: Sequence[tuple[str, bool, int]] = counts.sort("estimate", "rows", descending=[False, True]).rows()
    return (best[0][0], bool(best[0][1])) if best else None
