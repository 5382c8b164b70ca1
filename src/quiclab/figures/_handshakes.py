# SPDX-License-Identifier: Apache-2.0
"""The handshake of single trials, cut into round trips at the client's end."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from quiclab.figures._series import of_the_transfer, start_ns
from quiclab.opened import OpenedStudy

ROUNDS = {**dict.fromkeys(("arm", "step", "messages"), pl.String), "begin_ms": pl.Float64, "end_ms": pl.Float64}
_TOLD_BY = {
    "hello_retry_request": "HelloRetryRequest",
    "retry": "Retry",
    "version_negotiation": "Version Negotiation",
    "syn": "TCP",
}
"""The message that tells what a round trip is for, the first that occurs."""


def handshake(study: OpenedStudy, trials: Mapping[str, str]) -> pl.DataFrame:
    """Round trips up to the client's Finished, then the rest up to the first byte of the response."""
    firsts = study.metrics.filter((pl.col("name") == "ttfb_ms") & pl.col("value").is_finite())
    first_byte_ms = dict(firsts.select("trial_id", "value").iter_rows())
    rows: list[dict[str, object]] = []
    for arm, trial_id in trials.items():
        steps, zero_ns = study.of_trial("handshake", trial_id), start_ns(study, trial_id)
        if steps is not None and zero_ns is not None:
            own = of_the_transfer(steps.filter(pl.col("vantage") == "client"), zero_ns)
            rows += _rounds(arm, _first_connection(own), zero_ns, first_byte_ms.get(trial_id))
    return pl.DataFrame(rows, schema=ROUNDS)


def _first_connection(steps: pl.DataFrame) -> pl.DataFrame:
    """Of the earliest connection, by the source that tells most messages of it."""
    if not steps.height:
        return steps
    own = steps.filter(pl.col("connection") == steps.sort("time_ns")["connection"][0])
    told = own.group_by("source").agg(pl.len().alias("told")).sort("told", "source", descending=[True, False])
    return own.filter(pl.col("source") == told["source"][0]).sort("time_ns")


def _rounds(arm: str, steps: pl.DataFrame, zero_ns: int, first_byte_ms: float | None) -> list[dict[str, object]]:
    """The client's Finished ends the handshake: with it, the request leaves."""
    instants = steps.with_columns(x_ms=(pl.col("time_ns") - zero_ns) / 1e6)
    done = instants.filter((pl.col("step") == "finished") & (pl.col("direction") == "up"))["x_ms"].max()
    end_ms = float(done) if isinstance(done, int | float) else instants["x_ms"].max()
    if not isinstance(end_ms, float):
        return []
    before = instants.filter(pl.col("round_trip").is_not_null() & (pl.col("x_ms") <= end_ms))
    last = before["round_trip"].max()
    begins: list[tuple[float, pl.DataFrame]] = []
    for (number,), messages in before.group_by("round_trip", maintain_order=True):
        if number != last or not begins or len(set(messages["step"]) - {"finished", "certificate"}):
            begin = 0.0 if not begins else float(messages["x_ms"].min())  # type: ignore[arg-type]
            begins.append((begin, messages))
    ends = [*(begin for begin, _ in begins[1:]), end_ms]
    rows: list[dict[str, object]] = [
        {"arm": arm, "step": _step(messages), "begin_ms": begin, "end_ms": end, "messages": _told(messages)}
        for (begin, messages), end in zip(begins, ends, strict=True)
        if end > begin
    ]
    if first_byte_ms is not None and first_byte_ms > end_ms:
        later = instants.filter((pl.col("x_ms") >= end_ms) & (pl.col("x_ms") <= first_byte_ms))
        rest = {"arm": arm, "step": "request and response", "messages": _told(later)}
        rows.append(rest | {"begin_ms": end_ms, "end_ms": first_byte_ms})
    return rows


def _step(messages: pl.DataFrame) -> str:
    seen = set(messages["step"])
    accepted = messages.filter((pl.col("step") == "encrypted_extensions") & (pl.col("direction") == "down"))["detail"]
    if any('"early_data":true' in (detail or "") for detail in accepted):
        return "QUIC, 0-RTT" if messages["transport"][0] == "quic" else "TLS"
    told = next((name for step, name in _TOLD_BY.items() if step in seen), None)
    return told or ("TLS" if messages["transport"][0] == "tcp" else "QUIC and TLS")


def _told(messages: pl.DataFrame) -> str:
    rows = messages.select("x_ms", "direction", "step").iter_rows()
    return "\n".join(f"{x_ms:.2f} ms {direction}: {step}" for x_ms, direction, step in rows)
