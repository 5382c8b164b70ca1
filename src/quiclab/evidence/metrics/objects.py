# SPDX-License-Identifier: Apache-2.0
"""Times of a trial's several objects: of each from its request to its last byte."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from itertools import accumulate

import polars as pl

from quiclab.evidence.metrics._api import Metric, Noted
from quiclab.evidence.metrics.evidence import CAPTURES, Evidence, Unknown

Span = tuple[int, int]
"""CLOCK_MONOTONIC ns at which the request left and at which the last byte of the response was there."""

_BY_THE_CLIENT = "by the client's account, from when its program asked: "


def _measured(
    name: str, title: str, unit: str, over: Callable[[list[Span]], float], doc: str, heading: str = ""
) -> Metric:
    def compute(evidence: Evidence) -> float | Noted:
        objects = evidence.trial.expected.objects
        if not objects:
            raise Unknown("the trial fetched one object")
        names = [each.name for each in objects]
        try:
            return over(_on_the_wire(evidence, names))
        except Unknown as why:
            return Noted(over(_spans(evidence)), f"{_BY_THE_CLIENT}{why}")

    return Metric(name, title, unit, "none" if unit == "" else "lower", doc, compute, heading)


def _on_the_wire(evidence: Evidence, names: Sequence[str]) -> list[Span]:
    """Start and end of each object, by its request in the client's decrypted capture. Raises Unknown without one."""
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES), pl.col("vantage") == "client")
    seen = evidence.table("http_requests").filter(pl.col("source").is_in(captures["source"].to_list()))
    whole = seen.drop_nulls(["url", "send_start_ns", "last_byte_ns"])
    spans = {
        url.rpartition("/")[2]: (start_ns, end_ns)
        for url, start_ns, end_ns in whole.select("url", "send_start_ns", "last_byte_ns").iter_rows()
    }
    lacking = [name for name in names if name not in spans]
    if lacking:
        raise Unknown(f"{len(lacking)} of {len(names)} requests are not whole in its decrypted capture")
    return [spans[name] for name in names]


def _spans(evidence: Evidence) -> list[Span]:
    return list(zip(evidence.client_instant("start_ns"), evidence.client_instant("last_byte_ns"), strict=True))


def _durations_ms(spans: list[Span]) -> list[float]:
    return [(end_ns - start_ns) / 1e6 for start_ns, end_ns in spans]


def _most_at_once(spans: list[Span]) -> float:
    """An object that ends in the instant in which another begins makes room for it."""
    changes = [(start_ns, 1) for start_ns, _ in spans] + [(end_ns, -1) for _, end_ns in spans]
    return max(accumulate(change for _, change in sorted(changes)))


_FROM = (
    "First byte of its request sent to the last byte of its response arrived, with all before it, at the client's end"
)

OBJECTS = (
    _measured(
        "slowest_object_ms",
        "time of the slowest object",
        "ms",
        lambda spans: max(_durations_ms(spans)),
        f"{_FROM}; the longest of several objects of a trial (Liu et al. 2024). Requests are those of the decrypted "
        "capture; where that lacks one, of the client's own account, and the note says so.",
        heading="slowest object",
    ),
    _measured(
        "median_object_ms",
        "time of the median object",
        "ms",
        lambda spans: statistics.median(_durations_ms(spans)),
        f"{_FROM}; the median of several objects of a trial.",
        heading="median object",
    ),
    _measured(
        "fastest_object_ms",
        "time of the fastest object",
        "ms",
        lambda spans: min(_durations_ms(spans)),
        f"{_FROM}; the shortest of several objects of a trial.",
        heading="fastest object",
    ),
    _measured(
        "objects_at_once",
        "most objects at once",
        "",
        _most_at_once,
        "Most requests of a trial of several objects that were under way at the same time: fewer than were asked for "
        "where the server lets a client have fewer streams.",
    ),
)
